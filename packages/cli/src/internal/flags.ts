import * as Flag from "effect/cli/Flag"

/**
 * A flag that may be given several times, or not at all. The default is needed: with `Flag.atLeast(0)` alone, the help
 * would say that the flag is required.
 */
export const repeated = <A>(flag: Flag.Flag<A>): Flag.Flag<ReadonlyArray<A>> =>
  Flag.withDefault(Flag.atLeast(flag, 0), [])

/** The flag for machine-readable output. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the response of the service as JSON"),
  Flag.withDefault(false)
)

/** Without this flag no secret is printed, not even as JSON. */
export const showSecretFlag = Flag.Boolean("show-secret").pipe(
  Flag.withDescription("Print the secret too: make sure that nobody else sees the output"),
  Flag.withDefault(false)
)
