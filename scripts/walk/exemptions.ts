/**
 * Tests that show a capability or a secret on purpose, with the reason why this is not a leak.
 */
import type { Leak } from "./Leak.ts"
import type { Surface } from "./Record.ts"

export interface Exemption {
  /** A part of the path of the test file. */
  readonly file: string
  /**
   * The beginning of the test's name, with the groups joined by ` > `. Without it, all tests of the file are exempt.
   */
  readonly test?: string
  readonly surface: Surface
  /** Matches the text. The text of a span starts with its kind and name. */
  readonly text?: RegExp
  readonly kinds: ReadonlyArray<Leak["kind"]>
  readonly why: string
}

const wholeAnswers = {
  file: "/emulator/test/Leaks.test.ts",
  test: "No secret, token or signature is seen > of an operation",
  kinds: ["Status URL", "Assembly id"],
  why: "The test logs whole responses to look for secrets in them. The caller may see the Status of its own Assembly."
} as const

const wholeStatus = {
  surface: "console",
  why: "`--json` prints the whole Status, which anyone can read who knows the id that was given."
} as const

const secrets = {
  surface: "console",
  kinds: ["known secret"],
  why: "`assembly token` and `--show-secret` exist to print a token and a secret."
} as const

const exemptions: ReadonlyArray<Exemption> = [
  {
    file: "/emulator/test/",
    surface: "span",
    text: /^client (?:DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT) /,
    kinds: ["upload URL", "Status URL", "signature", "known secret", "Assembly id"],
    why: "These tests use Effect's own HttpClient, whose span contains the URL. The spans of our client do not."
  },
  { ...wholeAnswers, surface: "log" },
  { ...wholeAnswers, surface: "console" },
  { ...wholeAnswers, surface: "span", text: /^internal look / },
  { ...wholeStatus, file: "cli/test/HostileService.all.test.ts", text: /^\{\s*"ok":/, kinds: ["Status URL"] },
  { ...secrets, file: "cli/test/emulator.test.ts", test: "the commands against the emulator > prints a token" },
  { ...secrets, file: "cli/test/resources.test.ts", test: "secrets > are shown by" },
  { ...secrets, file: "cli/test/transcripts.test.ts", test: "commands that have secrets" }
]

/** A shown text, with its test and test file. */
export interface Shown {
  readonly file: string
  readonly test: string
  readonly surface: Surface
  readonly text: string
  readonly kind: Leak["kind"]
}

/** Whether an exemption covers a shown text. */
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
