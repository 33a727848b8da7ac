import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const words = (text: string) => text.replaceAll(/\s+/g, " ").trim()

/** Returns the TypeScript examples of a page. */
const examplesIn = (page: string) => [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => words(code))

it("docs/testing.md shows code that runs", () => {
  const page = textOf("../../../docs/testing.md")
  const run = words(textOf("./examples/Testing.test.ts"))
  const examples = examplesIn(page)
  assert.isAbove(examples.length, 4)
  for (const example of examples) assert.include(run, example)
})
