/**
 * The examples of docs/testing.md. `Documentation.test.ts` checks that this file contains every example word for word.
 */
import { Assemblies } from "@assembly-effect/api"
import { Credentials, Signer, Webhook } from "@assembly-effect/auth"
import { Emulator, Faults } from "@assembly-effect/emulator"
import { AssemblyNode } from "@assembly-effect/node"
import { Assembly } from "@assembly-effect/schema"
import { assert, layer } from "@effect/vitest"
import { Mac, SecureRandom } from "effect/crypto"
import { DateTime, Effect, Layer, Redacted } from "effect"

// A client of the emulator: operations, uploads and results.
const client = Layer.unwrap(
  Emulator.Emulator.useSync(({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials }))
)

// The client, and the emulator with its faults.
const TestLive = Layer.provideMerge(client, Emulator.layer())

// The application under test: lists the Assemblies that failed since `fromDate`.
const failures = (fromDate: DateTime.Utc) => Assemblies.list({ fromDate, type: "failed" })

layer(TestLive, { excludeTestServices: true })("an application", (it) => {
  it.effect("finds what failed", () =>
    Effect.gen(function* () {
      const steps = { broken: { robot: "/emulator/fail", error: "MY_ERROR" } }
      const { assembly_id } = yield* Assemblies.create({ steps })
      const { items } = yield* failures(DateTime.makeUnsafe("2026-01-01T00:00:00Z"))
      assert.deepStrictEqual(
        items.map(({ error, id }) => ({ error, id })),
        [{ error: "MY_ERROR", id: assembly_id }]
      )
    })
  )

  it.effect("gives up on an Assembly that takes too long", () =>
    Effect.gen(function* () {
      const steps = { slow: { robot: "/emulator/wait", seconds: 3600 } }
      const id = Assembly.AssemblyId.make((yield* Assemblies.create({ steps })).assembly_id)
      const waited = yield* Effect.flip(Assemblies.awaitCompletion(id, { interval: "10 millis", timeout: "50 millis" }))
      assert.strictEqual(waited._tag, "TimedOut")
      assert.strictEqual((yield* Assemblies.cancel(id)).ok, "ASSEMBLY_CANCELED")
    })
  )

  it.effect("is told what happened when a creation's answer was lost", () =>
    Effect.gen(function* () {
      const faults = yield* Faults.Faults
      yield* faults.inject(Faults.Fault.LoseAnswer({ method: "POST", path: "/assemblies/:assemblyId" }))
      const status = yield* Assemblies.create({})
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    })
  )
})

const templates = [
  {
    id: "archive",
    content: { steps: { stored: { robot: "/transloadit/store", path: "${fields.year}/${file.name}" } } }
  },
  { id: "fixed", content: { steps: {}, allow_steps_override: false } }
]
const WithTemplates = Layer.provideMerge(client, Emulator.layer({ templates }))

layer(WithTemplates, { excludeTestServices: true })("an application with Templates", (it) => {
  it.effect("may not change the Steps of one", () =>
    Effect.gen(function* () {
      const steps = { hash: { robot: "/file/hash" } }
      const refused = yield* Effect.flip(Assemblies.create({ templateId: "fixed", steps }))
      assert.deepInclude(refused, { code: "TEMPLATE_DENIES_STEPS_OVERRIDE" })
      assert.strictEqual((yield* Assemblies.create({ templateId: "archive" })).template_id, "archive")
    })
  )
})

const credentials = Credentials.layer({ key: "my-key", secret: Redacted.make("my-secret") })

// Makes a notification with a valid signature, like the service.
const notificationOf = Effect.fnUntraced(
  function* (status: object) {
    const { secret } = yield* Credentials.Credentials
    const transloadit = JSON.stringify(status)
    const signer = yield* Signer.make({ secret })
    return { transloadit, signature: Redacted.value(yield* signer.sign(transloadit)) }
  },
  Effect.provide(Layer.provide(Mac.layerWebCrypto, SecureRandom.layerWebCrypto))
)

layer(Webhook.layer().pipe(Layer.provideMerge(credentials)))("an application that is notified", (it) => {
  it.effect("reads a notification of the service", () =>
    Effect.gen(function* () {
      const notification = yield* notificationOf({ ok: "ASSEMBLY_COMPLETED", assembly_id: "a".repeat(32) })
      const status = yield* Webhook.verify(notification)
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    })
  )
})
