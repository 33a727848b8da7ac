import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { createUpload, head, layer, patch, storeAt, uploadOne, temporaryFolder } from "./support.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

const bytes = new Uint8Array(10)

const filesOf = Effect.fnUntraced(function* (data: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readDirectory(`${data}/files`)).toSorted()
})

const idOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1)

/** Creates an upload with 4 of 10 bytes, a finished upload, and a finished partial upload. */
const begin = Effect.gen(function* () {
  const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 2 })
  const create = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>, content: Uint8Array) {
    const created = yield* createUpload(assembly, { "upload-length": "10", ...headers })
    const url = created.url
    yield* patch(url, 0, content)
    return url
  })
  return {
    assembly,
    begun: yield* create({}, bytes.subarray(0, 4)),
    finished: yield* create({}, bytes),
    part: yield* create({ "upload-concat": "partial" }, bytes)
  }
})

const checkGone = Effect.fnUntraced(function* ({ assembly, begun, finished, part }: Effect.Success<typeof begin>) {
  for (const url of [begun, part]) {
    assert.strictEqual((yield* head(url)).status, 410)
    const answer = yield* patch(url, 4, bytes.subarray(4))
    assert.strictEqual(answer.status, 410)
    assert.match(answer.text, /^ERR_UPLOAD_EXPIRED: .+\n$/)
  }
  assert.strictEqual((yield* head(finished)).headers["upload-offset"], "10")
  const status = yield* Assemblies.get(assembly.assembly_id)
  assert.deepInclude(status, { ok: "ASSEMBLY_UPLOADING", bytes_received: 10 })
})

// Client and emulator use the same test clock.
it.effect("what is not finished in time, or a part, is gone with its bytes", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  yield* Effect.gen(function* () {
    const uploads = yield* begin
    yield* TestClock.adjust("24 hours")
    assert.strictEqual((yield* head(uploads.begun)).status, 200)
    assert.lengthOf(yield* filesOf(data), 3)
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* head(uploads.part)).status, 410)
    // The unfinished upload is removed without a request.
    yield* TestClock.adjust("1 hour")
    yield* Effect.repeat(filesOf(data), { until: (names) => names.length === 1 })
    assert.deepStrictEqual(yield* filesOf(data), [idOf(uploads.finished)])
    yield* checkGone(uploads)
  }).pipe(Effect.provide(layer({ data })))
})

it.live("what nobody can use any more is removed when the emulator starts", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const data = yield* fs.makeTempDirectoryScoped()
  const first = yield* Effect.gen(function* () {
    return { uploads: yield* begin, baseUrl: (yield* Emulator.Emulator).baseUrl }
  }).pipe(Effect.provide(layer({ data })))
  const { begun, finished, part } = first.uploads

  // Orphans of a crash: a blob without an upload, an unfinished concatenation, an unverified append.
  for (const name of ["0".repeat(32), `${"1".repeat(32)}.part`, `${idOf(begun)}.part`]) {
    yield* fs.writeFile(`${data}/files/${name}`, bytes)
  }
  const port = Number(new URL(first.baseUrl).port)
  yield* Effect.gen(function* () {
    assert.deepStrictEqual(yield* filesOf(data), [begun, finished, part].map(idOf).toSorted())
    assert.strictEqual((yield* head(begun)).headers["upload-offset"], "4")
    const stored = yield* uploadOne({ steps: storeAt("kept.txt") }, bytes)
    assert.strictEqual(stored.ok, "ASSEMBLY_COMPLETED")
  }).pipe(Effect.provide(layer({ data, port })))

  yield* Effect.gen(function* () {
    const left = yield* filesOf(data)
    assert.lengthOf(left, 2)
    assert.include(left, idOf(finished))
    yield* checkGone(first.uploads)
  }).pipe(Effect.provide(layer({ data, port, uploadLifetime: 0 })))
})
