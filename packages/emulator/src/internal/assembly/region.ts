/** The only region of the emulator. */
export const region = "eu-west-1"
