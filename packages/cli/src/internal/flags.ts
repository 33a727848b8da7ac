import * as Flag from "effect/cli/Flag"

/** The flag for machine-readable output. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the response of the service as JSON"),
  Flag.withDefault(false)
)
