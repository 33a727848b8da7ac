import * as Flag from "effect/cli/Flag"

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
