import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/** The parsed value of a flag, or the error that says what the flag expects. */
export const orInvalid = <A>(
  parsed: Option.Option<A>,
  flag: { readonly option: string; readonly value: string; readonly expected: string }
): Effect.Effect<A, CliError.InvalidValue> =>
  Effect.mapError(Effect.fromOption(parsed), () => new CliError.InvalidValue({ ...flag, kind: "flag" }))
