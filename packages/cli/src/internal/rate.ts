import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as FlagValue from "./flagValue.ts"

const units = ["", "k", "m", "g"]

/**
 * Parses a number of bytes per second. `k`, `M` and `G` mean KiB, MiB and GiB, which are also the units of the
 * progress. `kB`, `MB` and `GB` are powers of 1000.
 */
const parse = (text: string): Option.Option<number> => {
  const [, amount, unit = "", suffix = ""] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]?)(i?b)?(?:\/s)?$/i.exec(text) ?? []
  const base = suffix.toLowerCase() === "b" ? 1000 : 1024
  const bytes = Math.floor(Number(amount ?? Number.NaN) * base ** units.indexOf(unit.toLowerCase()))
  return bytes >= 1 ? Option.some(bytes) : Option.none()
}

/** A flag for a number of bytes per second. */
export const flag = (name: string): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("bytes"),
    Flag.mapEffect((value) =>
      FlagValue.orInvalid(parse(value), {
        option: name,
        value,
        expected: "bytes per second, such as 500k or 2.5M"
      })
    )
  )
