import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { listed, receiver, signedForm } from "./notified.ts"
import { hmac, json, layer as layerEmulator, send, uploadOne } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const statusesOf = (assemblyId: string) =>
  Effect.map(listed(assemblyId), (all) => all.map(({ response_code, status }) => [status, response_code]))

layer(layerEmulator({ notificationPause: "5 millis" }))("A notification", (it) => {
  it.effect("is the Status with a signature of exactly that text", function* () {
    const { credentials } = yield* Emulator.Emulator
    const { next, url } = yield* receiver([])
    const status = yield* uploadOne({ notifyUrl: url }, new Uint8Array(5))
    const { signature, transloadit } = yield* next
    assert.strictEqual(signature, hmac(transloadit, credentials.secret))
    assert.deepStrictEqual(JSON.parse(transloadit), JSON.parse(JSON.stringify(status)))
  })

  it.effect("leaves out what its Assembly asks it to leave out", function* () {
    const { next, url } = yield* receiver([])
    const steps = { hash: { robot: "/file/hash", use: ":original" } }
    const notified = Effect.fnUntraced(function* (...notification_payload: ReadonlyArray<string>) {
      const created = yield* signedForm("/assemblies", { notify_url: url, steps, notification_payload }, [
        new File([new Uint8Array(3)], "a.txt")
      ])
      assert.strictEqual(json(created)["ok"], "ASSEMBLY_COMPLETED")
      const { transloadit } = yield* next
      const { results, uploads } = Schema.decodeUnknownSync(Schema.fromJsonString(Assembly.Status))(transloadit)
      return { uploads: uploads?.[0], results: results?.["hash"]?.[0] }
    })
    const whole = yield* notified()
    assert.hasAllKeys(whole.results?.["meta"], ["hash"])
    const { meta: _, ...uploadWithout } = whole.uploads ?? {}
    assert.deepStrictEqual(
      Object.keys((yield* notified("without_upload_meta_data")).uploads ?? {}),
      Object.keys(uploadWithout)
    )
    const resultOnly = yield* notified("without_uploads", "without_result_meta_data", "without_params")
    assert.isUndefined(resultOnly.uploads)
    assert.deepInclude(resultOnly.results, { size: 3 })
    assert.notProperty(resultOnly.results, "meta")
    assert.deepStrictEqual(yield* notified("without_uploads", "without_results"), {
      uploads: undefined,
      results: undefined
    })
    const refused = yield* signedForm("/assemblies", { notification_payload: ["without_sense"] })
    assert.deepInclude(json(refused), { error: "INVALID_FORM_DATA", http_code: 400 })
  })

  it.effect("is repeated until it is answered with 200", function* () {
    const { next, url } = yield* receiver([500, 204, 302])
    const { assembly_id } = yield* Assemblies.create({ notifyUrl: url })
    for (let attempt = 0; attempt < 4; attempt++) yield* next
    const statuses = yield* Effect.repeat(statusesOf(assembly_id), { until: (all) => all.at(-1)?.[0] === "successful" })
    assert.deepStrictEqual(statuses, [
      ["error", 500],
      ["error", 204],
      ["error", 302],
      ["successful", 200]
    ])
    const [first] = yield* listed(assembly_id)
    assert.deepInclude(first, { assembly_id, url, response_data: null, error: null })
  })

  it.effect("tells of failed and of canceled Assemblies as well", function* () {
    const { next, url } = yield* receiver([])
    yield* Assemblies.create({ notifyUrl: url, steps: { fail: { robot: "/emulator/fail", error: "MINE" } } })
    assert.strictEqual(JSON.parse((yield* next).transloadit).error, "MINE")
    const { assembly_id } = yield* Assemblies.create({ notifyUrl: url, numExpectedUploadFiles: 1 })
    yield* send(HttpClientRequest.delete(`/assemblies/${assembly_id}`))
    assert.strictEqual(JSON.parse((yield* next).transloadit).ok, "ASSEMBLY_CANCELED")
  })

  it.effect("is not lost when nobody is there at first", function* () {
    const gone = yield* Effect.scoped(receiver([]))
    const { assembly_id } = yield* Assemblies.create({ notifyUrl: gone.url })
    const [first] = yield* Effect.repeat(listed(assembly_id), { until: (all) => all[0]?.["status"] === "error" })
    assert.deepInclude(first, { response_code: null, error: "The connection failed." })
  })

  it.effect("can be asked for again, at another place", function* () {
    const { next, url } = yield* receiver([])
    const { assembly_id } = yield* Assemblies.create({})
    const path = `/assembly_notifications/${assembly_id}/replay`
    assert.strictEqual((yield* signedForm(path, {})).status, 400)
    const replayed = yield* signedForm(path, { notify_url: url })
    assert.strictEqual(json(replayed)["ok"], "ASSEMBLY_NOTIFICATION_REPLAYED")
    assert.strictEqual(JSON.parse((yield* next).transloadit).assembly_id, assembly_id)
    const all = yield* Effect.repeat(listed(assembly_id), { until: ([one]) => one?.["status"] === "successful" })
    assert.strictEqual(all[0]?.["id"], json(replayed)["notification_id"])
  })

  it.effect("that was asked for again is sent once, although it is answered with 500", function* () {
    const { heard, next, url } = yield* receiver([500])
    const { assembly_id } = yield* Assemblies.create({})
    yield* signedForm(`/assembly_notifications/${assembly_id}/replay`, { notify_url: url })
    yield* next
    yield* Effect.repeat(statusesOf(assembly_id), { until: ([one]) => one?.[0] === "error" })
    // Longer than the pause before a second attempt.
    yield* Effect.sleep("100 millis")
    assert.strictEqual(yield* heard, 0)
    assert.deepStrictEqual(yield* statusesOf(assembly_id), [["error", 500]])
  })
})
