import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as FlagValue from "./flagValue.ts"

/** A flag for a whole number in decimal digits. By default, the maximum is `Number.MAX_SAFE_INTEGER`. */
export const flag = (
  name: string,
  { maximum = Number.MAX_SAFE_INTEGER, minimum }: { readonly minimum: number; readonly maximum?: number }
): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("number"),
    Flag.mapEffect((value) => {
      const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
      return FlagValue.orInvalid(number >= minimum && number <= maximum ? Option.some(number) : Option.none(), {
        option: name,
        value,
        expected: `a whole number from ${minimum}${maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${maximum}`}`
      })
    })
  )
