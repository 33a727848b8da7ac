/** The only region of the emulator. */
export const region = "eu-west-1"

/**
 * The problem of a region in a request, which must be "a specific region or `all`" (spec.md, "Errors"). The result is
 * undefined for the region of the emulator and for `all`, which are valid.
 */
export const problemOf = (asked: string): string | undefined =>
  asked === region || asked === "all" ? undefined : `There is no such region: this service has ${region}.`
