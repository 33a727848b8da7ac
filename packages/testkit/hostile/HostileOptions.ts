/** Walks over the options of Layers and Effects with values that a configuration file may contain. */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { Cause, Effect, Equal, Exit, type Scope } from "effect"
import * as assert from "node:assert/strict"

const hostile = [NaN, Infinity, -Infinity, "Infinity", 0, -1, 0.5, 1e300, "nonsense", "", null, {}, [], { hour: 1 }]

/**
 * The options of a Layer or an Effect: the names, the function that builds the Layer with some of them, and the hostile
 * values that have a meaning. Every other value must be refused.
 */
export interface Entry<R> {
  readonly name: string
  readonly options: ReadonlyArray<string>
  readonly build: (options: {}) => Effect.Effect<unknown, unknown, R | Scope.Scope>
  readonly meaning?: Readonly<Record<string, ReadonlyArray<unknown>>>
}

/** The names of the options of a type. The compiler refuses a list without one of them. */
export const names = <Options>(all: Readonly<Record<keyof Options, 0>>): ReadonlyArray<string> => Object.keys(all)

/** One case for each option of each entry. */
export const cases = <R>(entries: ReadonlyArray<Entry<R>>) =>
  entries.flatMap((entry) => entry.options.map((option) => ({ ...entry, name: `${entry.name}.${option}`, option })))

/** The title of the test of a case. */
export const title = "$name has a meaning or fails with InvalidRequest, which names the option"

/** Builds the Layer of a case with each hostile value of its option. */
export const walk = Effect.fnUntraced(function* <R>({
  build,
  meaning = {},
  option
}: Entry<R> & { readonly option: string }) {
  for (const value of hostile) {
    const exit = yield* Effect.exit(Effect.scoped(build({ [option]: value })))
    const shown = `${JSON.stringify(value)} (${String(value)})`
    if (meaning[option]?.some(Equal.equals(value)) === true) {
      assert.ok(Exit.isSuccess(exit), `${shown} ${String(exit)}`)
      continue
    }
    assert.ok(Exit.isFailure(exit), shown)
    const error = Cause.squash(exit.cause)
    assert.ok(error instanceof InvalidRequest, `${shown}: ${String(error)}`)
    assert.ok(error.issues.length > 0, shown)
    for (const { message, path } of error.issues) {
      assert.ok(path.includes(option), `${shown}: ${path.join(".")}`)
      assert.match(message, /^(Expected |Missing key|Unknown key)/, shown)
    }
  }
})
