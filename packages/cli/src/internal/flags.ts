import * as Flag from "effect/cli/Flag"

/** Output for programs. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the answer of the service as JSON"),
  Flag.withDefault(false)
)
