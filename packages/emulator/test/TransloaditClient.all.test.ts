/** Tests with the unmodified official client `@transloadit/node`. */
import type { CreateAssemblyOptions } from "@transloadit/node"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Layer } from "effect"
import { official } from "./official.ts"
import { bytes, layer as layerEmulator, sha256, storeAt } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** Makes params with any robot. The cast is needed, because the types of the client have only the service's robots. */
const toSteps = (steps: object) => ({ steps }) as NonNullable<CreateAssemblyOptions["params"]>

const fileWith = Effect.fnUntraced(function* (content: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/a file.bin`
  yield* fs.writeFile(path, content)
  return path
})

layer(Layer.merge(layerEmulator(), NodeFileSystem.layer))("@transloadit/node", (it) => {
  it.effect("creates an Assembly with files and waits for its completion", function* () {
    const transloadit = yield* official
    const path = yield* fileWith(bytes)
    const progress: Array<{ readonly uploadedBytes?: number | undefined; readonly totalBytes?: number | undefined }> =
      []
    const status = yield* Effect.promise(() =>
      transloadit.createAssembly({
        files: { one: path, two: path },
        params: toSteps(storeAt("node/${file.id}")),
        chunkSize: 100_000,
        waitForCompletion: true,
        onUploadProgress: (event) => void progress.push(event)
      })
    )
    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    assert.deepStrictEqual(status.uploads?.map(({ field, name, sha256: hash }) => [field, name, hash]).toSorted(), [
      ["one", "a file.bin", sha256],
      ["two", "a file.bin", sha256]
    ])
    assert.strictEqual(status.results?.["stored"]?.length, 2)
    assert.deepStrictEqual(progress.at(-1), { uploadedBytes: 600_000, totalBytes: 600_000 })
  })
  it.effect("resumes the uploads of an Assembly after an interruption", function* () {
    const transloadit = yield* official
    const path = yield* fileWith(bytes)
    const interruption = new AbortController()
    const creation = transloadit.createAssembly({
      files: { file: path },
      params: toSteps(storeAt("resumed.bin")),
      chunkSize: 100_000,
      signal: interruption.signal,
      onUploadProgress: ({ uploadedBytes = 0 }) => {
        if (uploadedBytes > 100_000) interruption.abort()
      }
    })
    const broken = yield* Effect.exit(Effect.tryPromise(() => creation))
    assert.strictEqual(broken._tag, "Failure")

    const assemblyUrl = transloadit.getLastUsedAssemblyUrl()
    const before = yield* Effect.promise(() => transloadit.getAssembly(creation.assemblyId))
    assert.strictEqual(before.ok, "ASSEMBLY_UPLOADING")
    const arrived = before.tus_uploads?.[0]?.offset ?? 0
    assert.isAtLeast(arrived, 100_000)

    const resumed: Array<number> = []
    const status = yield* Effect.promise(() =>
      transloadit.resumeAssemblyUploads({
        assemblyUrl,
        files: { file: path },
        waitForCompletion: true,
        onUploadProgress: ({ uploadedBytes }) => void resumed.push(uploadedBytes ?? 0)
      })
    )
    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual(status.tus_uploads?.length, 1)
    assert.strictEqual(status.uploads?.[0]?.sha256, sha256)
    assert.isAtLeast(Math.min(...resumed), arrived)
  })
})
