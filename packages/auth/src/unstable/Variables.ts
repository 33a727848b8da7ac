/**
 * Reads several configuration variables at once.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

type Values<Variables> = {
  readonly [Name in keyof Variables]: Variables[Name] extends Config.Config<infer Value> ? Value : never
}

/**
 * Reads every variable. The `ConfigError` names every variable that is missing or invalid, unlike the `ConfigError` of
 * `Config.all`, which stops at the first problem.
 *
 * @since 0.1.0
 * @category utilities
 */
export const read = <const Variables extends Readonly<Record<string, Config.Config<unknown>>>>(
  variables: Variables
): Effect.Effect<Values<Variables>, Config.ConfigError> =>
  Effect.gen(function* () {
    const values: Record<string, unknown> = {}
    const issues: Array<SchemaIssue.Issue> = []
    for (const [name, variable] of Object.entries(variables)) {
      const result = yield* Effect.result(variable)
      if (Result.isSuccess(result)) values[name] = result.success
      else if (Schema.isSchemaError(result.failure.cause)) issues.push(result.failure.cause.issue)
      else return yield* Effect.fail(result.failure)
    }
    const [first, ...others] = issues
    if (first === undefined) return values as Values<Variables>
    const all = new SchemaIssue.Composite(Schema.Unknown.ast, [first, ...others], undefined, {})
    return yield* Effect.fail(new Config.ConfigError(new Schema.SchemaError(all)))
  })
