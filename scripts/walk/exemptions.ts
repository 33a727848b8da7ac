/**
 * Where a test shows a capability or a secret on purpose, and why that is no leak.
 */
import type { Leak } from "./Leak.ts"
import type { Surface } from "./Record.ts"

export interface Exemption {
  /** A part of the path of the test file. */
  readonly file: string
  /** What the names of the tests begin with, group and test joined by ` > `; all tests of the file without it. */
  readonly test?: string
  readonly surface: Surface
  /** What the text begins with: of a span its kind and its name. */
  readonly text?: RegExp
  readonly kinds: ReadonlyArray<Leak["kind"]>
  readonly why: string
}

const wholeAnswers = {
  file: "/emulator/test/Leaks.test.ts",
  test: "No secret, token or signature is seen > of an operation",
  kinds: ["Status URL", "Assembly id"],
  why: "It logs whole answers to look for secrets in them; the Status of the caller's own Assembly is data."
} as const

const exemptions: ReadonlyArray<Exemption> = [
  {
    file: "/emulator/test/",
    surface: "span",
    text: /^client (?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT) /,
    kinds: ["upload URL", "Status URL", "signature", "known secret", "Assembly id"],
    why: "The tests of the service send requests with Effect's own HttpClient, whose span tells the URL; ours has none."
  },
  {
    ...wholeAnswers,
    surface: "log"
  },
  {
    ...wholeAnswers,
    surface: "console"
  },
  {
    ...wholeAnswers,
    surface: "span",
    text: /^internal look /
  },
  {
    file: "cli/test/emulator.test.ts",
    test: "the commands against the emulator > prints a token",
    surface: "console",
    kinds: ["known secret"],
    why: "`assembly token` exists to print a token."
  }
]

/** What was shown, and by which test of which file. */
export interface Shown {
  readonly file: string
  readonly test: string
  readonly surface: Surface
  readonly text: string
  readonly kind: Leak["kind"]
}

/** Whether one of the exemptions is about this. */
export const isExempt = (
  { file, kind, surface, test, text }: Shown,
  all: ReadonlyArray<Exemption> = exemptions
): boolean =>
  all.some(
    (exemption) =>
      file.includes(exemption.file) &&
      test.startsWith(exemption.test ?? "") &&
      surface === exemption.surface &&
      (exemption.text?.test(text) ?? true) &&
      exemption.kinds.includes(kind)
  )
