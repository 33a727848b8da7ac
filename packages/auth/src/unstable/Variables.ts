/**
 * The configuration variables of a client.
 */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

type Values<Variables> = {
  readonly [Name in keyof Variables]: Variables[Name] extends Config.Config<infer Value> ? Value : never
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * Whether an issue means that a variable is unset or empty. A provider of environment variables returns no text in both
 * cases.
 */
const isUnset = (issue: SchemaIssue.Issue): boolean =>
  issue._tag === "Pointer" ? isUnset(issue.issue) : issue._tag === "InvalidType"

const segmentOf = (segment: unknown): string => String(Predicate.hasProperty(segment, "key") ? segment.key : segment)

const problemsOf = (issue: SchemaIssue.Issue): ReadonlyArray<string> =>
  format(issue).issues.map(({ message, path = [] }) => {
    const name = path.map(segmentOf).join("_")
    return isUnset(issue) ? `${name} is not set` : `${name}: ${message}`
  })

/** A `ConfigError` whose message names each variable with its problem. */
class InvalidVariables extends Config.ConfigError {
  readonly issues: ReadonlyArray<SchemaIssue.Issue>
  constructor(issues: readonly [SchemaIssue.Issue, ...Array<SchemaIssue.Issue>]) {
    super(new Schema.SchemaError(new SchemaIssue.Composite(Schema.Unknown.ast, issues, undefined, {})))
    this.issues = issues
  }
  override get message() {
    return this.issues.flatMap(problemsOf).join("; ")
  }
}

/**
 * Reads every variable. The `ConfigError` names every variable that is missing or invalid, unlike the `ConfigError` of
 * `Config.all`, which stops at the first problem.
 */
const read = <const Variables extends Readonly<Record<string, Config.Config<unknown>>>>(
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
    return yield* Effect.fail(new InvalidVariables([first, ...others]))
  })

const keyAndSecret = {
  key: Config.schema(Rules.notBlank, "ASSEMBLY_AUTH_KEY"),
  secret: Config.schema(Rules.notBlank, "ASSEMBLY_AUTH_SECRET").pipe(Config.map((secret) => Redacted.make(secret)))
}

/**
 * `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`. The `ConfigError` names each variable that is missing, empty or blank.
 *
 * @since 0.1.0
 * @category utilities
 */
export const credentials = read(keyAndSecret)

/**
 * {@link credentials}, and `ASSEMBLY_BASE_URL`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const service = read({ baseUrl: Config.NonEmptyString("ASSEMBLY_BASE_URL"), ...keyAndSecret })
