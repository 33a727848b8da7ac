/**
 * The terminals in the documentation: each command runs, and prints what its page shows. `vitest -u` writes the outputs
 * into the pages.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Console from "./support/console.ts"
import * as Samples from "./support/samples.ts"
import * as Session from "./support/session.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const read = (path: string) => readFileSync(root + path, "utf8")

/** A session in a terminal takes long, so `pnpm test` runs only the short one. */
const sources =
  process.env["TEST_ALL"] === "1" ? ["README.md", "docs/**/*.md", "packages/*/README.md"] : ["packages/cli/README.md"]

const pages = globSync(sources, { cwd: root })
  .filter((path) => Console.commandsOf(read(path)).length > 0)
  .toSorted()

it("finds the commands and the outputs of a page", () => {
  const page =
    "```console\n$ a\nb\n\nc\n– Delete it? (y/N) … y\n$ d <<END\n> e\n> END\n^C\n```\n\n```sh\n$ f\n```\n\n```console\n$ g\n```\n"
  assert.deepStrictEqual(Console.commandsOf(page), [
    { text: "a", isInterrupted: false, isAnswered: true },
    { text: "d <<END\ne\nEND", isInterrupted: true, isAnswered: false },
    { text: "g", isInterrupted: false, isAnswered: false }
  ])
  assert.strictEqual(
    Console.withOutputs(page, ["1\n2\n", "", "3\n"]),
    "```console\n$ a\n1\n2\n$ d <<END\n> e\n> END\n```\n\n```sh\n$ f\n```\n\n```console\n$ g\n3\n```\n"
  )
})

it("shows the same for two runs, and an id as it was shown before", () => {
  const outputOf = (id: string, took: string, speed: string, work: string) =>
    `Assembly ${id}\na.jpg  ████  100%  2 B / 2 B${speed.padStart(13)}  in ${took}\n${work}${id}  ${took.padStart(9)}  3\n`
  const first = Samples.make()
  const shown = first.toShown(outputOf("5a".repeat(16), "0.3 s", "12.3 KiB/s", "\n"), new Set())
  const other = outputOf("6b".repeat(16), "1 min 5 s", "999 B/s", "Processing, 1 min 4 s, 2 results\n\n")
  assert.strictEqual(Samples.make().toShown(other, new Set()), shown)
  const [, sample = ""] = /^Assembly (\w+)/.exec(shown) ?? []
  assert.strictEqual(first.toReal(`assembly get ${sample}`), `assembly get ${"5a".repeat(16)}`)

  const kept = `${"7c".repeat(16)}  2 files, 3.0 MiB, ${"8d".repeat(32)}\n`
  assert.strictEqual(first.toShown(kept, new Set(["7c".repeat(16)])), kept)
})

it.live.each(pages)(
  "%s shows what its commands print",
  (path) =>
    Effect.gen(function* () {
      const page = read(path)
      const outputs = yield* Session.run(Console.commandsOf(page))
      yield* Effect.promise(() => expect(Console.withOutputs(page, outputs)).toMatchFileSnapshot(root + path))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  600_000
)
