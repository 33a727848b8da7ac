/** Tests that a file name of a client never becomes a path on this machine. */
import { Assemblies } from "@assembly-effect/api"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem } from "effect"
import * as Support from "./support.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

const names = "../../../outside /etc/outside ..\\..\\outside .. %2e%2e%2foutside emulator.sqlite a\u0000b con".split(
  " "
)

it.live("a name that is a path is stored below the folder, under an id", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* Effect.gen(function* () {
    for (const filename of names) {
      const created = yield* Assemblies.create({ steps: Support.storeAt("stored"), numExpectedUploadFiles: 1 })
      const assembly_url = created.assembly_ssl_url ?? ""
      const answer = yield* Support.createUpload(created, {
        "upload-length": "4",
        "upload-metadata": Support.metadata({ assembly_url, filename, fieldname: filename })
      })
      assert.include([201, 400], answer.status, filename)
      if (answer.status === 201) {
        yield* Support.patch(answer.url, 0, new Uint8Array(4))
        const { uploads } = yield* Assemblies.awaitCompletion(created.assembly_id, { interval: "10 millis" })
        assert.strictEqual(uploads?.[0]?.size, 4)
      } else yield* Assemblies.cancel(created.assembly_id)
    }
    for (const path of ["../emulator.sqlite", "..%2femulator.sqlite", "%2e%2e%2f%2e%2e", "files"]) {
      const answer = yield* Support.head(`/resumable/files/${path}`)
      assert.include([400, 403, 404, 405], answer.status, path)
    }
  }).pipe(Effect.provide(Support.layer({ data: `${folder}/data` })))
  assert.deepStrictEqual(yield* fs.readDirectory(folder), ["data"])
  for (const name of yield* fs.readDirectory(`${folder}/data`)) assert.match(name, /^(?:emulator\.sqlite.*|files)$/)
  for (const name of yield* fs.readDirectory(`${folder}/data/files`)) assert.match(name, /^[0-9a-f]{32}$/)
})
