import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Notifications from "@assembly-effect/api/Notifications"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer, live } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { as, given as authKey } from "./keys.ts"
import { createUpload, layer as layerEmulator, patch, storeAt, uploadOne } from "./support.ts"

const north = authKey("north")
const reader = authKey("reader", ["assemblies:read"])
const south = authKey("south")

const workspaces = [
  { slug: "north", keys: [north, reader] },
  { slug: "south", keys: [south] }
]

let count = 0
const newId = () => AssemblyId.make((count++).toString(16).padStart(32, "0"))

const bytes = (text: string) => new TextEncoder().encode(text)

/** Uploads one file to an Assembly, and returns the Status after that. */
const upload = Effect.fnUntraced(function* (assemblyId: AssemblyId, text: string) {
  const created = yield* createUpload(yield* Assemblies.get(assemblyId), { "upload-length": String(text.length) })
  yield* patch(created.headers["location"] ?? "", 0, bytes(text))
  return yield* Assemblies.get(assemblyId)
})

const listed = Effect.gen(function* () {
  const fromDate = DateTime.subtract(DateTime.startOf(yield* DateTime.now, "second"), { hours: 1 })
  return (yield* Assemblies.list({ fromDate })).items.map(({ id }) => String(id))
})

const fields = (mark: string) => ({ mark })

layer(layerEmulator({ workspaces }), { excludeTestServices: true })("A new Assembly that replaces one", (it) => {
  it.effect("has the id, and the replaced one has another id", () =>
    Effect.gen(function* () {
      const assemblyId = newId()
      const steps = storeAt("replaced.txt")
      const before = yield* listed
      const old = yield* uploadOne(
        { assemblyId, steps, fields: fields("old"), notifyUrl: "http://127.0.0.1:9/" },
        bytes("old")
      )
      const replay = yield* Assemblies.replay(assemblyId)

      const replaced = yield* Assemblies.replace(assemblyId, {
        steps,
        fields: fields("new"),
        numExpectedUploadFiles: 1
      })
      assert.deepInclude(replaced, { assembly_id: assemblyId, ok: "ASSEMBLY_UPLOADING", started_tus_uploads: 0 })
      assert.deepStrictEqual((yield* Notifications.list(assemblyId)).notifications, [])
      const status = yield* upload(assemblyId, "newer")
      assert.deepInclude(status, { assembly_id: assemblyId, ok: "ASSEMBLY_COMPLETED", fields: fields("new") })
      assert.deepStrictEqual(
        status.uploads?.map(({ size }) => size),
        [5]
      )
      // The asset has a new version, as with any other Assembly.
      const [first, second] = [old, status].map(({ results }) => results?.["stored"]?.[0])
      assert.strictEqual(second?.asset_id, first?.asset_id)
      assert.notStrictEqual(second?.version_id, first?.version_id)
      assert.strictEqual(second?.size, 5)

      const others = (yield* listed).filter((id) => ![assemblyId, replay.assembly_id, ...before].includes(id))
      assert.strictEqual(others.length, 1)
      const kept = yield* Assemblies.get(AssemblyId.make(String(others[0])))
      assert.deepInclude(kept, { ok: "ASSEMBLY_COMPLETED", fields: fields("old") })
      assert.deepStrictEqual(
        kept.uploads?.map(({ size }) => size),
        [3]
      )

      // A replay works on the uploads of the replaced Assembly, and so does a replay of the replay.
      for (const original of [AssemblyId.make(kept.assembly_id), replay.assembly_id]) {
        const again = yield* Assemblies.get((yield* Assemblies.replay(original)).assembly_id)
        assert.deepStrictEqual(
          again.uploads?.map(({ size }) => size),
          [3]
        )
      }
      assert.strictEqual((yield* Assemblies.get(replay.assembly_id))["parent_id"], kept.assembly_id)
    })
  )

  it.effect("may have an id that no Assembly has", () =>
    Effect.gen(function* () {
      const assemblyId = newId()
      const status = yield* Assemblies.replace(assemblyId, {})
      assert.deepInclude(status, { assembly_id: assemblyId, ok: "ASSEMBLY_COMPLETED" })
    })
  )

  it.effect("does not replace one that is busy, that belongs to another Workspace, or if it is refused", () =>
    Effect.gen(function* () {
      const busy = newId()
      yield* Assemblies.create({ assemblyId: busy, fields: fields("busy"), numExpectedUploadFiles: 1 })
      const slow = newId()
      yield* Assemblies.create({ assemblyId: slow, steps: { wait: { robot: "/emulator/wait", seconds: 3600 } } })
      const foreign = newId()
      yield* as(south)(Assemblies.create({ assemblyId: foreign, fields: fields("foreign") }))
      for (const assemblyId of [busy, slow, foreign]) {
        const refused = yield* Effect.flip(Assemblies.replace(assemblyId, {}))
        assert.deepInclude(refused, { _tag: "ServiceFailure", code: "ASSEMBLY_ID_TAKEN", status: 409 })
      }
      assert.deepInclude(yield* Assemblies.get(busy), { ok: "ASSEMBLY_UPLOADING", fields: fields("busy") })
      assert.deepInclude(yield* Assemblies.get(foreign), { fields: fields("foreign") })
      assert.strictEqual((yield* Assemblies.cancel(slow)).ok, "ASSEMBLY_CANCELED")
      assert.strictEqual((yield* Assemblies.replace(slow, {})).ok, "ASSEMBLY_COMPLETED")

      const kept = newId()
      yield* Assemblies.create({ assemblyId: kept, fields: fields("kept") })
      const unknown = yield* Effect.flip(Assemblies.replace(kept, { templateId: "nowhere" }))
      assert.deepInclude(unknown, { code: "TEMPLATE_NOT_FOUND" })
      const unscoped = yield* Effect.flip(as(reader)(Assemblies.replace(kept, {})))
      assert.deepInclude(unscoped, { _tag: "AuthenticationFailed", code: "INSUFFICIENT_AUTH_SCOPE" })
      assert.deepInclude(yield* Assemblies.get(kept), { fields: fields("kept") })
    })
  )

  it.effect("is one of several at the same time", () =>
    Effect.gen(function* () {
      const assemblyId = newId()
      yield* Assemblies.create({ assemblyId })
      const replace = Effect.result(Assemblies.replace(assemblyId, { numExpectedUploadFiles: 1 }))
      const all = yield* Effect.all(
        Array.from({ length: 6 }, () => replace),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(all.filter(Result.isSuccess).length, 1)
    })
  )
})

live("stops the notification of the replaced one, also while an attempt is under way", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const data = yield* fs.makeTempDirectoryScoped()
    const asked = yield* Deferred.make<void>()
    const answered = yield* Deferred.make<void>()
    const server = yield* NodeHttpServer.make(() => createServer(), { host: "127.0.0.1", port: 0 })
    yield* server.serve(
      Effect.gen(function* () {
        yield* Deferred.succeed(asked, undefined)
        yield* Deferred.await(answered)
        return HttpServerResponse.empty({ status: 500 })
      })
    )
    const assemblyId = newId()
    yield* Effect.gen(function* () {
      yield* Assemblies.create({ assemblyId, notifyUrl: HttpServer.formatAddress(server.address) })
      yield* Deferred.await(asked)
      yield* Assemblies.replace(assemblyId, {})
      const old = (yield* listed).find((id) => id !== assemblyId)
      yield* Deferred.succeed(answered, undefined)
      const statuses = Effect.map(Notifications.list(AssemblyId.make(String(old))), ({ notifications }) =>
        notifications.map(({ status }) => status)
      )
      const ended = yield* Effect.repeat(statuses, { until: ([status]) => status !== "processing" })
      assert.deepStrictEqual(ended, ["error"])
    }).pipe(Effect.provide(layerEmulator({ data, notificationPause: "1 hour" })))
    const scheduled = (statement = "") => {
      const database = new DatabaseSync(`${data}/emulator.sqlite`)
      database.exec(statement)
      const rows = database.prepare("SELECT assembly_id FROM notifications WHERE due_at IS NOT NULL").all()
      database.close()
      return rows.map(Object.values)
    }
    assert.deepStrictEqual(scheduled(), [])
    const due = `INSERT INTO notifications (id, assembly_id, url, started_at, due_at, attempt)
      VALUES ('due', '${assemblyId}', 'http://127.0.0.1:9/', 9e14, 9e14, 2)`
    assert.deepStrictEqual(scheduled(due), [[assemblyId]])
    yield* Effect.provide(Assemblies.replace(assemblyId, {}), layerEmulator({ data }))
    assert.deepStrictEqual(scheduled(), [])
    // A new start does not send it again either.
    const again = yield* Effect.provide(Notifications.list(assemblyId), layerEmulator({ data }))
    assert.deepStrictEqual(again.notifications, [])
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)

live("is stored with the replaced one", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const data = yield* fs.makeTempDirectoryScoped()
    const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layerEmulator>>>) =>
      Effect.provide(effect, layerEmulator({ data }))
    const assemblyId = newId()
    yield* run(uploadOne({ assemblyId, fields: fields("old") }, bytes("old")))
    yield* run(Assemblies.replace(assemblyId, { fields: fields("new") }))
    const after = Effect.all([Assemblies.get(assemblyId), listed])
    const [status, ids] = yield* run(after)
    assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", fields: fields("new"), uploads: [] })
    assert.strictEqual(ids.length, 2)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)
