/** Templates, replays and notifications against the emulator. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Templates from "@assembly-effect/api/Templates"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const client = Client.signed().pipe(Layer.provide(RetryPolicy.layerNone))

const live = client.pipe(Layer.provideMerge(Layer.merge(Emulator.layer(), Undici.layerUndici)))

const steps = { ":original": { robot: "/upload/handle" } }

layer(live, { excludeTestServices: true })("the emulator", (it) => {
  it.effect("a created Template is returned by get and listAll, updated, and not found after delete", () =>
    Effect.gen(function* () {
      const name = "a name/with ä"
      const created = yield* Templates.create({ name, template: { steps }, requireSignatureAuth: true })
      assert.deepInclude(created, { name, require_signature_auth: true })
      assert.deepStrictEqual(created.content.steps as object, steps)

      for (const idOrName of [created.id, name]) {
        const found = yield* Templates.get(idOrName)
        assert.deepInclude(found, { id: created.id, name })
      }

      const items = yield* Stream.runCollect(Templates.listAll({ sort: "name", order: "asc", pageSize: 1 }))
      const listed = items.find(({ id }) => id === created.id)
      assert(listed !== undefined && DateTime.isDateTime(listed.created))
      assert.deepStrictEqual(listed.content?.steps as object, steps)

      const updated = yield* Templates.update(name, { name: "other", assemblyStatusExpiry: "7days" })
      assert.deepInclude(updated, { id: created.id, name: "other", assembly_status_expiry: "7days" })
      assert.strictEqual((yield* Templates.delete("other")).ok, "TEMPLATE_DELETED")
      const missing = yield* Effect.flip(Templates.get(created.id))
      assert.deepInclude(missing, { _tag: "TemplateNotFound", status: 404 })
    })
  )

  it.effect("Templates.create fails with TemplateInvalid for an existing name", () =>
    Effect.gen(function* () {
      yield* Templates.create({ name: "taken", template: {} })
      const error = yield* Effect.flip(Templates.create({ name: "taken", template: {} }))
      assert.deepInclude(error, { _tag: "TemplateInvalid", code: "TEMPLATE_VALIDATION_ERROR" })
    })
  )

  it.effect("replay completes a new Assembly, and the replayed one has no notifications", () =>
    Effect.gen(function* () {
      const assembly = yield* Assemblies.create({ steps })
      const assemblyId = AssemblyId.make(assembly.assembly_id)
      const replayed = yield* Assemblies.replay(assemblyId, { fields: { again: true } })
      assert.notStrictEqual(replayed.assembly_id, assemblyId)
      assert.strictEqual((yield* Assemblies.awaitCompletion(replayed.assembly_id)).ok, "ASSEMBLY_COMPLETED")
      assert.deepStrictEqual((yield* Notifications.list(assemblyId)).notifications, [])
    })
  )
})
