import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const units: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9 }

/** Parses a number of bytes per second, such as `500k` or `2.5M`. Returns undefined if the text is something else. */
const parse = (text: string): number | undefined => {
  const [, amount, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]?)(?:b?(?:\/s)?)$/i.exec(text) ?? []
  const bytes = Math.floor(Number(amount ?? Number.NaN) * (units[unit.toLowerCase()] ?? Number.NaN))
  return bytes >= 1 ? bytes : undefined
}

/** A flag for a number of bytes per second. */
export const flag = (name: string): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("bytes"),
    Flag.mapEffect((value) => {
      const bytes = parse(value)
      return bytes === undefined
        ? Effect.fail(
            new CliError.InvalidValue({
              option: name,
              value,
              expected: "bytes per second, such as 500k or 2.5M",
              kind: "flag"
            })
          )
        : Effect.succeed(bytes)
    })
  )
