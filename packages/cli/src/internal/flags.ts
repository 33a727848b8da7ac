import * as Flag from "effect/cli/Flag"

/**
 * A flag that may be given several times, or not at all. The default is needed: with `Flag.atLeast(0)` alone, the help
 * would say that the flag is required.
 */
export const repeated = <A>(flag: Flag.Flag<A>): Flag.Flag<ReadonlyArray<A>> =>
  Flag.withDefault(Flag.atLeast(flag, 0), [])

/**
 * A flag without a value. A value can only be attached, as in `--recursive=false`: in `-r 1 2`, the 1 is the name of a
 * folder and not the value of the flag.
 */
export const switchFlag = (name: string): Flag.Flag<boolean> => Flag.withOptionalValue(Flag.Boolean(name), "true")

/** The flag for machine-readable output. */
export const jsonFlag = switchFlag("json").pipe(
  Flag.withDescription("Print the response of the service as JSON"),
  Flag.withDefault(false)
)

/** The flag of a command that prints several Statuses. */
export const statusesFlag = switchFlag("json").pipe(
  Flag.withDescription("Print each Status of the service as a line of JSON"),
  Flag.withDefault(false)
)

/** A command with this flag prints a secret, as text or in JSON, only if the flag is given. */
export const showSecretFlag = switchFlag("show-secret").pipe(
  Flag.withDescription("Print the secret too: make sure that nobody else sees the output"),
  Flag.withDefault(false)
)
