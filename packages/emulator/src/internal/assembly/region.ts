/** The only region of the emulator. */
export const region = "eu-west-1"

/**
 * Why statistics of the region `asked` do not exist: "a specific region or `all` must be given" (spec.md, "Errors").
 * Undefined for the region of the emulator and for `all`.
 */
export const problemOf = (asked: string): string | undefined =>
  asked === region || asked === "all" ? undefined : `There is no such region: this service has ${region}.`
