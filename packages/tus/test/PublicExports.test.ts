/**
 * Every public export of `tus` and `node` says since when it exists, and what kind of thing it is.
 */
import { assert, layer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"

const declaration = /^export (?:const|type|interface|class|function) (?:\w+|\{)/

/** The state of an upload is written anew elsewhere (issue 13, number 10), and tagged there. */
const isTagged = (file: string) => file.endsWith(".ts") && file !== "Transfer.ts"

/** The exports of a file whose doc comment lacks one of the tags. */
const untagged = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  return lines.flatMap((line, index) => {
    if (!declaration.test(line) || line.startsWith("export type {")) return []
    const above = lines.slice(0, index)
    const comment = above.slice(above.findLastIndex((one) => one.startsWith("/**"))).join("\n")
    const hasTags = comment.endsWith("*/") && comment.includes("@since ") && comment.includes("@category ")
    return hasTags ? [] : [line]
  })
}

layer(NodeServices.layer)("A public export", (it) => {
  it.effect("has @since and @category", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      for (const name of ["tus", "node"]) {
        const folder = new URL(`../../${name}/src`, import.meta.url).pathname
        for (const file of (yield* fs.readDirectory(folder)).filter(isTagged)) {
          assert.deepStrictEqual(
            { file, untagged: untagged(yield* fs.readFileString(`${folder}/${file}`)) },
            { file, untagged: [] }
          )
        }
      }
    })
  )
})
