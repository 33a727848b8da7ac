import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const invalid = (option: string, value: string, expected: string) =>
  Effect.fail(new CliError.InvalidValue({ option, value, expected, kind: "flag" }))

/**
 * A flag that takes a pair of a key and a value. The flag may be repeated. `Flag.KeyValuePair` is not used: if a key is
 * repeated, it takes the last value and reports no error.
 */
export const flag = (name: string): Flag.Flag<Readonly<Record<string, string>>> =>
  Flag.String(name).pipe(
    Flag.withMetavar("key=value"),
    Flag.atLeast(1),
    Flag.mapEffect(
      Effect.fnUntraced(function* (pairs) {
        const fields = new Map<string, string>()
        for (const pair of pairs) {
          const [, key = "", value = ""] = /^([^=]+)=(.+)$/s.exec(pair) ?? []
          if (key === "") return yield* invalid(name, pair, "key=value, such as name=cat")
          if (fields.has(key)) return yield* invalid(name, pair, `each key once, but ${key} has two values`)
          fields.set(key, value)
        }
        return Object.fromEntries(fields)
      })
    )
  )
