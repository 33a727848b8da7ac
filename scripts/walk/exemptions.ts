/**
 * Where a test shows a capability or a secret on purpose, and why that is no leak.
 */
import type { Leak } from "./Leak.ts"
import type { Surface } from "./Record.ts"

export interface Exemption {
  /** The end of the path of the test file. */
  readonly file: string
  /** What the names of the tests begin with, group and test joined by ` > `; all tests of the file without it. */
  readonly test?: string
  readonly surface: Surface
  readonly kind: Leak["kind"]
  readonly why: string
}

export const exemptions: ReadonlyArray<Exemption> = [
  {
    file: "cli/test/emulator.test.ts",
    test: "the commands against the emulator > prints a token",
    surface: "console",
    kind: "known secret",
    why: "`assembly token` exists to print a token."
  }
]
