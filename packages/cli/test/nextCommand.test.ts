import type { Assembly } from "@assembly-effect/schema"
import { expect, it } from "@effect/vitest"
import { effect } from "@assembly-effect/testkit/flow"
import { TerminalCapabilities } from "effect/cli"
import { Effect } from "effect"
import { TestConsole } from "effect/testing"
import * as Help from "../src/internal/help.ts"
import * as Shown from "../src/internal/assembly.ts"

const id = "a".repeat(32)
const stored = { stored: [{ ssl_url: "https://example.com/a" }] }

it.each<readonly [string, Omit<Assembly.Status, "assembly_id">, string | undefined]>([
  ["runs", { ok: "ASSEMBLY_EXECUTING", results: stored }, `wait ${id}`],
  ["has results", { ok: "ASSEMBLY_COMPLETED", results: stored }, `results download ${id} -o results`],
  ["exports nothing", { ok: "ASSEMBLY_COMPLETED", results: { hashed: [{ name: "a" }] } }, undefined],
  [
    "has only uploads",
    { ok: "ASSEMBLY_COMPLETED", results: { ":original": [{ ssl_url: "https://a.b/c" }] } },
    undefined
  ],
  ["has failed", { error: "X", uploads: [{ name: "a" }] }, `replay ${id}`],
  [
    "has failed with a Template",
    { error: "X", uploads: [{ name: "a" }], template_id: "t" },
    `replay ${id} --reparse-template`
  ],
  ["has failed before its files arrived", { error: "X" }, undefined],
  ["was canceled", { ok: "ASSEMBLY_CANCELED" }, undefined]
])("names the next command for an Assembly that %s", (_, status, next) => {
  expect(Shown.nextOf({ assembly_id: id, ...status } as Assembly.Status)[0]).toBe(next)
})

/** What is written after a command, on a standard error of this width. */
const written = (
  step: Parameters<typeof Shown.suggest>,
  columns: number | undefined,
  canAnimate: boolean,
  program?: string
) =>
  Effect.gen(function* () {
    const { stderr } = process
    const before = stderr.columns
    Object.assign(stderr, { columns })
    const suggested = Shown.suggest(...step).pipe(
      Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
        canAnimate,
        canColor: false,
        canPrompt: false
      }),
      Effect.ensuring(Effect.sync(() => Object.assign(stderr, { columns: before })))
    )
    yield* program === undefined ? suggested : Effect.provideService(suggested, Help.Program, program)
    return yield* TestConsole.errorLines
  })

effect("says what is next at a terminal only, in the words of the user", TestConsole.layer, function* () {
  const first = ["Next: assembly wait 1"]
  // A narrow terminal breaks the line itself, so that a user can paste the command.
  expect(yield* written(["wait 1"], 10, true)).toEqual(first)
  const both = [...first, "Next: correct the cause, then npx --no-install assembly replay 1"]
  expect(yield* written(["replay 1", "correct the cause"], 80, true, "npx --no-install assembly")).toEqual(both)
  // A file or a pipe has no columns, and a person does not read it.
  expect(yield* written(["wait 1"], undefined, true)).toEqual(both)
  expect(yield* written(["wait 1"], 80, false)).toEqual(both)
})
