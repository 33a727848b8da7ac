/**
 * The terminals in the documentation: each command runs, and prints what its page shows. `vitest -u` writes the outputs
 * into the pages.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Console from "./support/console.ts"
import * as Session from "./support/session.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const read = (path: string) => readFileSync(root + path, "utf8")

const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root })
  .filter((path) => Console.commandsOf(read(path)).length > 0)
  .toSorted()

it("finds the commands and the outputs of a page", () => {
  const page = "```console\n$ a\nb\n\nc\n$ d <<END\n> e\n> END\n^C\n```\n\n```sh\n$ f\n```\n\n```console\n$ g\n```\n"
  assert.deepStrictEqual(Console.commandsOf(page), [
    { text: "a", isInterrupted: false },
    { text: "d <<END\ne\nEND", isInterrupted: true },
    { text: "g", isInterrupted: false }
  ])
  assert.strictEqual(
    Console.withOutputs(page, ["1\n2\n", "", "3\n"]),
    "```console\n$ a\n1\n2\n$ d <<END\n> e\n> END\n```\n\n```sh\n$ f\n```\n\n```console\n$ g\n3\n```\n"
  )
})

it.live.each(pages)(
  "%s shows what its commands print",
  (path) =>
    Effect.gen(function* () {
      const page = read(path)
      const outputs = yield* Session.run(Console.commandsOf(page))
      yield* Effect.promise(() => expect(Console.withOutputs(page, outputs)).toMatchFileSnapshot(root + path))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  180_000
)
