import { Assemblies } from "@assembly-effect/api"
import * as Notifications from "@assembly-effect/api/Notifications"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Deferred, Effect, Exit, Fiber, Schedule, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import * as AssemblyStore from "../src/internal/assembly/assemblyStore.ts"
import { as, reader, south, withReader as workspaces } from "./keys.ts"
import { layerAssemblies, newAssembly } from "./stores.ts"
import {
  createUpload,
  encoded as bytes,
  json,
  layer as layerEmulator,
  listed,
  patch,
  inDatabase,
  send,
  storeAt,
  uploadOne,
  temporaryFolder
} from "./support.ts"
import { signedFields } from "./signedCalls.ts"
import { assert, layer, live } from "@assembly-effect/testkit/flow"

let count = 0
const newId = () => AssemblyId.make((count++).toString(16).padStart(32, "0"))

/** Uploads one file to an Assembly, and returns the Status after that. */
const upload = Effect.fnUntraced(function* (assemblyId: AssemblyId, text: string) {
  const created = yield* createUpload(yield* Assemblies.get(assemblyId), { "upload-length": String(text.length) })
  yield* patch(created.url, 0, bytes(text))
  return yield* Assemblies.get(assemblyId)
})

const fields = (mark: string) => ({ mark })

const sizesOf = ({ uploads }: Assembly.Status) => uploads?.map(({ size }) => size)

layer(layerEmulator({ workspaces }))("A new Assembly that replaces one", (it) => {
  it.effect("has the id, and the replaced one has another id", function* () {
    const assemblyId = newId()
    const steps = storeAt("replaced.txt")
    const before = yield* listed
    const notifyUrl = "http://127.0.0.1:9/"
    const old = yield* uploadOne({ assemblyId, steps, fields: fields("old"), notifyUrl }, bytes("old"))
    const replay = yield* Assemblies.replay(assemblyId)

    const replaced = yield* Assemblies.replace(assemblyId, { steps, fields: fields("new"), numExpectedUploadFiles: 1 })
    assert.deepInclude(replaced, { assembly_id: assemblyId, ok: "ASSEMBLY_UPLOADING", started_tus_uploads: 0 })
    assert.deepStrictEqual((yield* Notifications.list(assemblyId)).notifications, [])
    const status = yield* upload(assemblyId, "newer")
    assert.deepInclude(status, { assembly_id: assemblyId, ok: "ASSEMBLY_COMPLETED", fields: fields("new") })
    assert.deepStrictEqual(sizesOf(status), [5])
    // The asset has a new version, as with any other Assembly.
    const [first, second] = [old, status].map(({ results }) => results?.["stored"]?.[0])
    assert.strictEqual(second?.asset_id, first?.asset_id)
    assert.notStrictEqual(second?.version_id, first?.version_id)
    assert.strictEqual(second?.size, 5)

    const others = (yield* listed).filter((id) => ![assemblyId, replay.assembly_id, ...before].includes(id))
    assert.strictEqual(others.length, 1)
    const kept = yield* Assemblies.get(AssemblyId.make(String(others[0])))
    assert.deepInclude(kept, { ok: "ASSEMBLY_COMPLETED", fields: fields("old") })
    assert.deepStrictEqual(sizesOf(kept), [3])

    // A replay works on the uploads of the replaced Assembly, and so does a replay of the replay.
    for (const original of [kept.assembly_id, replay.assembly_id]) {
      const again = yield* Assemblies.get((yield* Assemblies.replay(original)).assembly_id)
      assert.deepStrictEqual(sizesOf(again), [3])
    }
    assert.strictEqual((yield* Assemblies.get(replay.assembly_id))["parent_id"], kept.assembly_id)
  })

  it.effect("may have an id that no Assembly has", function* () {
    const assemblyId = newId()
    const status = yield* Assemblies.replace(assemblyId, {})
    assert.deepInclude(status, { assembly_id: assemblyId, ok: "ASSEMBLY_COMPLETED" })
  })

  it.effect("cancels one that is busy", function* () {
    const uploading = newId()
    const status = yield* Assemblies.create({ assemblyId: uploading, numExpectedUploadFiles: 1 })
    const created = yield* createUpload(status, { "upload-length": "3" })
    const executing = newId()
    yield* Assemblies.create({ assemblyId: executing, steps: { wait: { robot: "/emulator/wait", seconds: 3600 } } })
    for (const assemblyId of [uploading, executing]) {
      const before = yield* listed
      const replaced = yield* Assemblies.replace(assemblyId, { numExpectedUploadFiles: 1 })
      assert.strictEqual(replaced.ok, "ASSEMBLY_UPLOADING")
      const old = (yield* listed).find((id) => !before.includes(id))
      assert.strictEqual((yield* Assemblies.get(AssemblyId.make(String(old)))).ok, "ASSEMBLY_CANCELED")
    }
    // The upload belongs to the replaced Assembly, which has ended.
    assert.strictEqual((yield* patch(created.url, 0, bytes("old"))).status, 403)
    assert.strictEqual((yield* upload(uploading, "newer")).ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual((yield* upload(executing, "newer")).ok, "ASSEMBLY_COMPLETED")
  })

  it.effect("does not replace one that belongs to another Workspace, or if it is refused", function* () {
    for (const numExpectedUploadFiles of [0, 1]) {
      const foreign = newId()
      const create = Assemblies.create({ assemblyId: foreign, fields: fields("foreign"), numExpectedUploadFiles })
      const { ok } = yield* as(south)(create)
      const taken = yield* Effect.flip(Assemblies.replace(foreign, {}))
      assert.deepInclude(taken, { _tag: "ServiceFailure", code: "ASSEMBLY_ID_TAKEN", status: 409 })
      assert.deepInclude(yield* Assemblies.get(foreign), { ok: ok ?? null, fields: fields("foreign") })
    }

    const kept = newId()
    yield* Assemblies.create({ assemblyId: kept, fields: fields("kept"), numExpectedUploadFiles: 1 })
    const unknown = yield* Effect.flip(Assemblies.replace(kept, { templateId: "nowhere" }))
    assert.deepInclude(unknown, { code: "TEMPLATE_NOT_FOUND" })
    const unscoped = yield* Effect.flip(as(reader)(Assemblies.replace(kept, {})))
    assert.deepInclude(unscoped, { _tag: "AuthenticationFailed", code: "INSUFFICIENT_AUTH_SCOPE" })
    assert.deepInclude(yield* Assemblies.get(kept), { ok: "ASSEMBLY_UPLOADING", fields: fields("kept") })
  })
  /** Begins to send a form with one file, and waits until its Assembly exists. `end` sends the end of the form. */
  const beginForm = Effect.fnUntraced(function* (assemblyId: AssemblyId, params: object = {}) {
    const signed = yield* signedFields(params)
    const part = (name: string, value: string) => `--x\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${value}`
    const fieldsOf = Object.entries(signed).map(([name, value]) => part(name, `${value}\r\n`))
    const start = [...fieldsOf, part("file; filename=a.txt", "a file")].join("")
    const rest = yield* Deferred.make<Uint8Array>()
    const body = Stream.concat(Stream.make(bytes(start)), Stream.fromEffect(Deferred.await(rest)))
    const request = HttpClientRequest.post(`/assemblies/${assemblyId}`).pipe(
      HttpClientRequest.bodyStream(body, { contentType: "multipart/form-data; boundary=x" })
    )
    const creation = yield* Effect.forkChild(send(request))
    yield* Effect.repeat(Effect.exit(Assemblies.get(assemblyId)), { until: Exit.isSuccess })
    return { creation, end: Deferred.succeed(rest, bytes("\r\n--x--\r\n")) }
  })

  it.effect.each([
    ["busy", "ASSEMBLY_COMPLETED"],
    ["canceled", "ASSEMBLY_CANCELED"],
    ["failed", undefined]
  ] as const)("does not replace one that is %s and whose form still sends files", function* ([state, ok]) {
    const assemblyId = newId()
    const steps = { a: { robot: "/no/such/robot" } }
    const { creation, end } = yield* beginForm(assemblyId, state === "failed" ? { steps } : {})
    if (state === "canceled") yield* Assemblies.cancel(assemblyId)
    const refused = yield* Effect.flip(Assemblies.replace(assemblyId, {}))
    assert.deepInclude(refused, { code: "ASSEMBLY_ID_TAKEN", status: 409 })
    yield* end
    assert.deepInclude<object>({ ok: undefined, ...json(yield* Fiber.join(creation)) }, { assembly_id: assemblyId, ok })
    assert.deepInclude(yield* Assemblies.replace(assemblyId, {}), { ok: "ASSEMBLY_COMPLETED", uploads: [] })
  })

  it.effect("replaces one that was canceled and whose form was broken off", function* () {
    const assemblyId = newId()
    const { creation } = yield* beginForm(assemblyId)
    yield* Assemblies.cancel(assemblyId)
    yield* Fiber.interrupt(creation)
    // The emulator notices the end of the connection after a moment.
    const replaced = yield* Effect.retry(Assemblies.replace(assemblyId, {}), {
      while: (error) => "status" in error && error.status === 409,
      schedule: Schedule.spaced("5 millis"),
      times: 1000
    })
    assert.deepInclude(replaced, { ok: "ASSEMBLY_COMPLETED", uploads: [] })
  })
})

live("does not replace one that another request has created in the meantime", layerAssemblies, function* () {
  const assemblies = yield* AssemblyStore.make
  const assembly = yield* newAssembly("north", 1)
  assert.isTrue(yield* assemblies.insert(assembly))
  assert.isFalse(yield* assemblies.replace(assembly, newId()))
  yield* assemblies.stop(assembly.id, "canceled")
  assert.isTrue(yield* assemblies.replace(assembly, newId()))
})

live("stops the notification of the replaced one, also while an attempt is under way", function* () {
  const data = yield* temporaryFolder
  const asked = yield* Deferred.make<void>()
  const answered = yield* Deferred.make<void>()
  const notifyUrl = yield* Loopback.serve(async (_, response) => {
    Deferred.doneUnsafe(asked, Effect.void)
    await Effect.runPromise(Deferred.await(answered))
    response.writeHead(500).end()
  })
  const assemblyId = newId()
  yield* Effect.gen(function* () {
    yield* Assemblies.create({ assemblyId, notifyUrl })
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
  const scheduled = () =>
    inDatabase(data, "SELECT assembly_id FROM notifications WHERE due_at IS NOT NULL").map(Object.values)
  assert.deepStrictEqual(scheduled(), [])
  const due = `INSERT INTO notifications (id, assembly_id, url, started_at, due_at, attempt)
      VALUES ('due', '${assemblyId}', 'http://127.0.0.1:9/', 9e14, 9e14, 2)`
  inDatabase(data, due)
  assert.deepStrictEqual(scheduled(), [[assemblyId]])
  yield* Effect.provide(Assemblies.replace(assemblyId, {}), layerEmulator({ data }))
  assert.deepStrictEqual(scheduled(), [])
  // A new start does not send the notification.
  const again = yield* Effect.provide(Notifications.list(assemblyId), layerEmulator({ data }))
  assert.deepStrictEqual(again.notifications, [])
})
