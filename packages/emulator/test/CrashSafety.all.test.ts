/** An emulator that is killed: what it has acknowledged is there after the next start. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import type { Assembly } from "@assembly-effect/schema"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Fiber, FileSystem, Layer } from "effect"
import { createHash } from "node:crypto"
import { start } from "./emulatorProcess.ts"
import { assert, it } from "@assembly-effect/testkit/flow"
import { begin, head, patch, inDatabase, temporaryFolder } from "./support.ts"

const size = 4 * 1024 * 1024
const bytes = Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

const send = (url: string, from: number, until?: number) =>
  Effect.map(patch(url, from, bytes.slice(from, until)), ({ headers }) => Number(headers["upload-offset"]))

it.live("the last bytes count, also those that a killed process had only written", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const data = yield* fs.makeTempDirectoryScoped()
  const first = yield* start({ data })
  const { id, url } = yield* first.within(
    Effect.tap(begin({ "upload-length": "10" }), (upload) => send(upload.url, 0, 4))
  )
  yield* first.kill
  yield* fs.writeFile(`${data}/files/${url.slice(url.lastIndexOf("/") + 1)}`, bytes.slice(4, 10), { flag: "a" })

  const second = yield* start({ data, port: first.port })
  // The second emulator has received no request for the upload.
  const status = yield* second.within(Assemblies.get(id))
  assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", finished_tus_uploads: 1 })
  assert.strictEqual(status.uploads?.[0]?.size, 10)
})

it.live("a SIGKILL loses no acknowledged byte and no acknowledged Assembly", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  const first = yield* start({ data })
  const { id, url } = yield* first.within(begin({ "upload-length": String(size) }))
  let acknowledged = 0
  let running = first
  for (let life = 0; life < 3; life++) {
    yield* Effect.gen(function* () {
      const offset = Number((yield* head(url)).headers["upload-offset"])
      assert.isAtLeast(offset, acknowledged)
      acknowledged = offset
      // Small pieces are acknowledged, and the process is killed during the rest.
      for (let piece = 0; piece < 2 + life; piece++)
        acknowledged = yield* send(url, acknowledged, acknowledged + 200_000)
      const onItsWay = yield* Effect.forkChild(Effect.exit(send(url, acknowledged)), { startImmediately: true })
      yield* running.kill
      yield* Fiber.join(onItsWay)
    }).pipe(running.within)
    running = yield* start({ data, port: first.port })
  }
  const status = yield* Effect.gen(function* () {
    const offset = Number((yield* head(url)).headers["upload-offset"])
    assert.isAtLeast(offset, acknowledged)
    if (offset < size) yield* send(url, offset)
    return yield* Assemblies.get(id)
  }).pipe(running.within)
  assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
  assert.deepInclude(status.uploads?.[0], { size, sha256 })
})

it.live("what was stored before a crash is not stored again by the next execution", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  const steps = {
    ":original": { robot: "/upload/handle" },
    hashed: { use: ":original", robot: "/file/hash" },
    stored: { use: "hashed", robot: "/transloadit/store", path: "folder/stored.txt" },
    waiting: { use: "stored", robot: "/emulator/wait", seconds: 600 }
  }
  /** Waits for the asset that the Step makes. */
  const storedBy = (id: Assembly.AssemblyId) =>
    Effect.repeat(Assemblies.get(id), { until: ({ results }) => results?.["stored"] !== undefined }).pipe(
      Effect.map(({ ok, results }) => {
        const { asset_id, path, version_id } = results?.["stored"]?.[0] ?? {}
        return { ok, asset_id, version_id, path }
      })
    )
  const first = yield* start({ data })
  const { id, url } = yield* first.within(begin({ "upload-length": "1000" }, { steps }))
  const before = yield* first.within(Effect.andThen(send(url, 0, 1000), storedBy(id)))
  assert.strictEqual(before.ok, "ASSEMBLY_EXECUTING")
  assert.isString(before.version_id)
  yield* first.kill

  const again = yield* start({ data })
  assert.deepStrictEqual(yield* again.within(storedBy(id)), before)
  yield* again.kill
  const versions = inDatabase(data, "SELECT id FROM versions").map(({ id: version }) => version)
  assert.deepStrictEqual(versions, [before.version_id])
})

it.live("a data folder belongs to one emulator at a time", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  const other = yield* start({ data })
  const refused = yield* Effect.flip(Layer.build(Emulator.layer({ data })))
  assert.strictEqual(refused._tag, "DataInUse")
  // The end of a process releases the folder, even after SIGKILL.
  yield* other.kill
  yield* Layer.build(Emulator.layer({ data }))
  assert.strictEqual((yield* Effect.flip(Layer.build(Emulator.layer({ data }))))._tag, "DataInUse")
})
