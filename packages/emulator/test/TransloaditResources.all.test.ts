/**
 * Tests with the unmodified official client `@transloadit/node`: Templates and notifications.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { ApiError } from "@transloadit/node"
import * as Effect from "effect/Effect"
import { listed, receiver } from "./notified.ts"
import { collect, hash, official, refusal, toTemplate } from "./official.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** A time in the format of the service. */
const date = /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2} GMT$/

layer(layerEmulator({ notificationPause: "5 millis" }))("@transloadit/node", (it) => {
  it.effect("creates, gets, edits and deletes a Template", function* () {
    const transloadit = yield* official
    const created = yield* Effect.promise(() =>
      transloadit.createTemplate({ name: "hashes", template: toTemplate(hash), require_signature_auth: 1 })
    )
    assert.deepInclude(created, { ok: "TEMPLATE_CREATED", name: "hashes", content: hash, require_signature_auth: 1 })
    for (const idOrName of [created.id, "hashes"]) {
      const { message, ...found } = yield* Effect.promise(() => transloadit.getTemplate(idOrName))
      assert.isString(message)
      assert.deepInclude(found, { ok: "TEMPLATE_FOUND", id: created.id, content: hash, require_signature_auth: 1 })
    }

    const taken = { name: "hashes", template: toTemplate({}) }
    assert.strictEqual(yield* refusal(() => transloadit.createTemplate(taken)), "TEMPLATE_VALIDATION_ERROR")

    const edited = yield* Effect.promise(() =>
      transloadit.editTemplate(created.id, { name: "digests", require_signature_auth: 0 })
    )
    assert.deepInclude(edited, { ok: "TEMPLATE_UPDATED", id: created.id, name: "digests", content: hash })
    assert.strictEqual(edited.require_signature_auth, 0)
    assert.strictEqual(yield* refusal(() => transloadit.getTemplate("hashes")), "TEMPLATE_NOT_FOUND")

    const deleted = yield* Effect.promise(() => transloadit.deleteTemplate(created.id))
    assert.strictEqual(deleted.ok, "TEMPLATE_DELETED")
    for (const call of [
      () => transloadit.getTemplate(created.id),
      () => transloadit.editTemplate(created.id, { name: "again" }),
      () => transloadit.deleteTemplate(created.id)
    ]) {
      assert.strictEqual(yield* refusal(call), "TEMPLATE_NOT_FOUND")
    }
  })

  it.effect("lists Templates, in a page and as a stream", function* () {
    const transloadit = yield* official
    const names = ["listed-1", "listed-2", "listed-3"]
    for (const name of names) {
      yield* Effect.promise(() => transloadit.createTemplate({ name, template: toTemplate(hash) }))
    }
    const query = { sort: "name" as const, order: "asc" as const, pagesize: 2, keywords: ["listed"] }
    const page = yield* Effect.promise(() => transloadit.listTemplates({ ...query }))
    assert.strictEqual(page.count, 3)
    for (const at of [page.items[0]?.created, page.items[0]?.modified]) assert.match(String(at), date)
    assert.deepStrictEqual(
      page.items.map(({ content, name }) => ({ content, name })),
      [
        { content: hash, name: "listed-1" },
        { content: hash, name: "listed-2" }
      ]
    )
    const streamed = yield* collect(transloadit.streamTemplates({ ...query }))
    assert.deepStrictEqual(
      streamed.map(({ name }) => name),
      names
    )
    const sort = "size" as "name"
    assert.strictEqual(yield* refusal(() => transloadit.listTemplates({ sort })), "TEMPLATE_LIST_ERROR")
  })

  it.effect("replays a notification, to its own URL and to another", function* () {
    const transloadit = yield* official
    const first = yield* receiver([])
    const second = yield* receiver([])
    const { assembly_id: id } = yield* Assemblies.create({ notifyUrl: first.url })
    yield* first.next
    const again = yield* Effect.promise(() => transloadit.replayAssemblyNotification(id))
    assert.strictEqual(again.ok, "ASSEMBLY_NOTIFICATION_REPLAYED")
    assert.strictEqual(JSON.parse((yield* first.next).transloadit).assembly_id, id)
    const other = yield* Effect.promise(() =>
      transloadit.replayAssemblyNotification(id, { notify_url: second.url, wait: false })
    )
    assert.strictEqual(JSON.parse((yield* second.next).transloadit).assembly_id, id)
    const all = yield* Effect.repeat(listed(id), { until: (found) => found.length === 3 })
    const ids = all.map((notification) => notification["id"])
    assert.includeMembers(ids, [again.notification_id, other.notification_id])

    const { assembly_id: silent } = yield* Assemblies.create({})
    const refused = yield* Effect.flip(Effect.tryPromise(() => transloadit.replayAssemblyNotification(silent)))
    assert.instanceOf(refused.cause, ApiError)
  })
})
