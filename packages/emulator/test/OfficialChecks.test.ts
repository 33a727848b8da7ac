/**
 * Tests that the official client accepts the responses of the emulator. The client validates them with its own schemas
 * (`validateResponses`). The tests cover all common operations, and Assemblies in every state.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import { assert, layer } from "@effect/vitest"
import type { CreateAssemblyOptions } from "@transloadit/node"
import * as Effect from "effect/Effect"
import { official } from "./official.ts"
import { signedForm } from "./notified.ts"
import { createUpload, creationHeaders, json, layer as layerEmulator, patch, storeAt } from "./support.ts"

/** Casts params with any robot, because the types of the official client have only the robots of the service. */
const toParams = (params: object) => params as NonNullable<CreateAssemblyOptions["params"]>

const hour = { wait: { robot: "/emulator/wait", seconds: 3600 } }

const fromdate = "2026-01-01 00:00:00"

/** A time in the format of the service. */
const date = /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2} GMT$/

/** Metadata with a key that has no value, which tus allows. */
const withEmptyKey = (status: Assembly.Status) => ({
  "upload-metadata": `${creationHeaders(status, {})["upload-metadata"]},empty`
})

layer(layerEmulator(), { excludeTestServices: true })("@transloadit/node, which checks every answer,", (it) => {
  it.effect("accepts an Assembly in every state, by itself and in the list", () =>
    Effect.gen(function* () {
      const transloadit = yield* official
      const get = (status: Assembly.Status) => Effect.promise(() => transloadit.getAssembly(status.assembly_id))

      const uploading = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const deferred = yield* createUpload(uploading, { "upload-defer-length": "1", ...withEmptyKey(uploading) })
      yield* patch(deferred.headers["location"] ?? "", 0, new Uint8Array(3))
      const waiting = yield* get(uploading)
      assert.strictEqual(waiting.ok, "ASSEMBLY_UPLOADING")
      assert.match(String(waiting.start_date), date)

      const stored = yield* Assemblies.create({ numExpectedUploadFiles: 1, steps: storeAt("checked/${file.name}") })
      const whole = yield* createUpload(stored, { "upload-length": "3", ...withEmptyKey(stored) })
      yield* patch(whole.headers["location"] ?? "", 0, new Uint8Array(3))
      const completed = yield* get(stored)
      assert.strictEqual(completed.ok, "ASSEMBLY_COMPLETED")
      assert.match(String(completed.execution_start), date)
      assert.deepInclude(completed.results?.["stored"]?.[0]?.user_meta, { empty: "" })

      const executing = yield* Assemblies.create({ steps: hour })
      assert.strictEqual((yield* get(executing)).ok, "ASSEMBLY_EXECUTING")
      assert.strictEqual(
        (yield* Effect.promise(() => transloadit.cancelAssembly(executing.assembly_id))).ok,
        "ASSEMBLY_CANCELED"
      )

      const failing = [
        { fail: { robot: "/emulator/fail" } },
        { fail: { robot: "/emulator/fail", error: 1 } },
        { unknown: { robot: "/no/robot" } },
        { hashed: { robot: "/file/hash", algorithm: "none" } },
        { one: { robot: "/upload/handle", use: "two" }, two: { robot: "/upload/handle", use: "one" } }
      ]
      for (const steps of failing) {
        // The request is raw, because the client of `@assembly-effect/api` refuses most of these Steps.
        const { assembly_id: id } = json(yield* signedForm("/assemblies", { steps }))
        const failed = yield* Effect.promise(() => transloadit.getAssembly(String(id)))
        assert.isString(failed.error)
      }
      const misplaced = yield* Assemblies.create({ numExpectedUploadFiles: 1, steps: storeAt("a//b") })
      const lost = yield* createUpload(misplaced, { "upload-length": "1" })
      yield* patch(lost.headers["location"] ?? "", 0, new Uint8Array(1))
      assert.isString((yield* get(misplaced)).error)

      const listed = yield* Effect.promise(() => transloadit.listAssemblies({ fromdate, pagesize: 100 }))
      const entries = new Map(listed.items.map((item) => [item.id, item]))
      assert.notProperty(entries.get(uploading.assembly_id), "upload_duration")
      assert.isNumber(entries.get(stored.assembly_id)?.upload_duration)
      assert.match(String(entries.get(stored.assembly_id)?.created), date)
      const streamed: Array<unknown> = []
      yield* Effect.promise(async () => {
        for await (const item of transloadit.streamAssemblies({ fromdate, pagesize: 2 })) streamed.push(item)
      })
      assert.strictEqual(streamed.length, listed.count)
    })
  )

  it.effect("creates, waits for, replays and notifies", () =>
    Effect.gen(function* () {
      const transloadit = yield* official
      const params = toParams({
        steps: { ":original": { robot: "/upload/handle" } },
        notify_url: "http://127.0.0.1:9/nobody"
      })
      const created = yield* Effect.promise(() =>
        transloadit.createAssembly({ params, uploads: { file: "hello" }, waitForCompletion: true })
      )
      assert.strictEqual(created.ok, "ASSEMBLY_COMPLETED")
      const id = created.assembly_id ?? ""
      const notified = yield* Effect.promise(() => transloadit.replayAssemblyNotification(id))
      assert.strictEqual(notified.ok, "ASSEMBLY_NOTIFICATION_REPLAYED")
      const replayed = yield* Effect.promise(() => transloadit.replayAssembly(id))
      const done = yield* Effect.promise(() => transloadit.awaitAssemblyCompletion(replayed.assembly_id ?? ""))
      assert.strictEqual(done.parent_id, id)
      const { items } = yield* Effect.promise(() => transloadit.listAssemblies({ fromdate, keywords: ["127.0.0.1:9"] }))
      assert.strictEqual(items.length, 2)
    })
  )

  it.effect("makes, lists and removes Templates, and gets a token", () =>
    Effect.gen(function* () {
      const transloadit = yield* official
      const template = { steps: { ":original": { robot: "/upload/handle" } } } as const
      const { id } = yield* Effect.promise(() => transloadit.createTemplate({ name: "checked", template }))
      yield* Effect.promise(() => transloadit.editTemplate(id, { name: "checked-again", template }))
      assert.strictEqual((yield* Effect.promise(() => transloadit.getTemplate(id))).name, "checked-again")
      const { items } = yield* Effect.promise(() => transloadit.listTemplates({}))
      assert.match(String(items[0]?.created), date)
      assert.match(String(items[0]?.modified), date)
      const used = yield* Effect.promise(() =>
        transloadit.createAssembly({ params: toParams({ template_id: id }), waitForCompletion: true })
      )
      assert.strictEqual(used.template_id, id)
      yield* Effect.promise(() => transloadit.deleteTemplate(id))
      const token = yield* Effect.promise(() => transloadit.mintBearerToken({ aud: "api2" }))
      assert.strictEqual(token.token_type, "Bearer")
    })
  )
})
