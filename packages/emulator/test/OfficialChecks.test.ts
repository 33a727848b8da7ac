/**
 * Tests that the official client accepts the responses of the emulator. The client validates them with its own schemas
 * (`validateResponses`), for Assemblies in every state.
 */
import { Assemblies } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import { Effect } from "effect"
import { official } from "./official.ts"
import { signedForm } from "./notified.ts"
import { createUpload, creationHeaders, json, layer as layerEmulator, patch, storeAt } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const hour = { wait: { robot: "/emulator/wait", seconds: 3600 } }

const fromdate = "2026-01-01 00:00:00"

/** A time in the format of the service. */
const date = /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2} GMT$/

/** Metadata with a key that has no value, which tus allows. */
const withEmptyKey = (status: Assembly.Status) => ({
  "upload-metadata": `${creationHeaders(status, {})["upload-metadata"]},empty`
})

layer(layerEmulator())("@transloadit/node, which checks every answer,", (it) => {
  it.effect("accepts an Assembly in every state, by itself and in the list", function* () {
    const transloadit = yield* official
    const get = (status: Assembly.Status) => Effect.promise(() => transloadit.getAssembly(status.assembly_id))

    const uploading = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const deferred = yield* createUpload(uploading, { "upload-defer-length": "1", ...withEmptyKey(uploading) })
    yield* patch(deferred.url, 0, new Uint8Array(3))
    const waiting = yield* get(uploading)
    assert.strictEqual(waiting.ok, "ASSEMBLY_UPLOADING")
    assert.match(String(waiting.start_date), date)

    const stored = yield* Assemblies.create({ numExpectedUploadFiles: 1, steps: storeAt("checked/${file.name}") })
    const whole = yield* createUpload(stored, { "upload-length": "3", ...withEmptyKey(stored) })
    yield* patch(whole.url, 0, new Uint8Array(3))
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
    yield* patch(lost.url, 0, new Uint8Array(1))
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
})
