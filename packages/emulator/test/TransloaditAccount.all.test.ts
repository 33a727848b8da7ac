/**
 * Tests with the unmodified official client `@transloadit/node`: Template Credentials, bills and scopes.
 */
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { Transloadit } from "@transloadit/node"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { collect, hash, official, refusal, toTemplate } from "./official.ts"
import { layer as layerEmulator, uploadOne } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** A type of credentials of the service, with a value for each of its fields. */
const credentialType = Effect.gen(function* () {
  const { types } = yield* TemplateCredentials.types
  const [type, { fields } = { fields: {} }] = Object.entries(types)[0] ?? [""]
  return { type, content: Object.fromEntries(Object.keys(fields).map((name) => [name, `the ${name}`])) }
})

layer(layerEmulator())("@transloadit/node", (it) => {
  it.effect("creates, gets, edits and deletes Template Credentials", function* () {
    const transloadit = yield* official
    const { content, type } = yield* credentialType
    const params = { name: "bucket", type, content }
    const created = yield* Effect.promise(() => transloadit.createTemplateCredential({ ...params }))
    assert.strictEqual(created.ok, "TEMPLATE_CREDENTIALS_CREATED")
    const { id } = created.credential
    const read = Effect.promise(() => transloadit.getTemplateCredential(id))
    const found = yield* read
    assert.strictEqual(found.ok, "TEMPLATE_CREDENTIALS_READ")
    assert.deepInclude(found.credential, { id, ...params })

    const taken = yield* refusal(() => transloadit.createTemplateCredential({ ...params }))
    assert.strictEqual(taken, "TEMPLATE_CREDENTIALS_NOT_CREATED")
    const unknown = { ...params, name: "unknown", type: "no-such-type" }
    assert.strictEqual(
      yield* refusal(() => transloadit.createTemplateCredential(unknown)),
      "TEMPLATE_CREDENTIALS_NOT_CREATED"
    )

    const changed = Object.fromEntries(Object.keys(content).map((name) => [name, `another ${name}`]))
    const edited = yield* Effect.promise(() =>
      transloadit.editTemplateCredential(id, { name: "photos", type, content: changed })
    )
    assert.strictEqual(edited.ok, "TEMPLATE_CREDENTIALS_UPDATED")
    assert.deepInclude((yield* read).credential, { id, name: "photos", type, content: changed })

    const deleted = yield* Effect.promise(() => transloadit.deleteTemplateCredential(id))
    assert.strictEqual(deleted.ok, "TEMPLATE_CREDENTIALS_DELETED")
    const edit = { name: "again", type, content }
    assert.deepStrictEqual(
      [
        yield* refusal(() => transloadit.getTemplateCredential(id)),
        yield* refusal(() => transloadit.editTemplateCredential(id, edit)),
        yield* refusal(() => transloadit.deleteTemplateCredential(id))
      ],
      ["TEMPLATE_CREDENTIALS_NOT_READ", "TEMPLATE_CREDENTIALS_NOT_UPDATED", "TEMPLATE_CREDENTIALS_NOT_DELETED"]
    )
  })

  it.effect("lists Template Credentials, at once and as a stream that ends", function* () {
    const transloadit = yield* official
    const { content, type } = yield* credentialType
    const names = ["listed-1", "listed-2"]
    for (const name of names) {
      yield* Effect.promise(() => transloadit.createTemplateCredential({ name, type, content }))
    }
    const answer = yield* Effect.promise(() => transloadit.listTemplateCredentials())
    assert.strictEqual(answer.ok, "TEMPLATE_CREDENTIALS_FOUND")
    assert.deepStrictEqual(answer.credentials.map(({ name }) => name).toSorted(), names)
    const streamed = yield* collect(transloadit.streamTemplateCredentials({ sort: "name", order: "asc" }))
    assert.deepStrictEqual(streamed.map(({ name }) => name).toSorted(), names)
  })

  it.effect("gets the bill of a month, and hears of a month without one", function* () {
    const transloadit = yield* official
    yield* uploadOne({ steps: hash.steps }, new Uint8Array(5))
    const month = DateTime.formatIso(yield* DateTime.now).slice(0, 7)
    const bill = yield* Effect.promise(() => transloadit.getBill(month))
    assert.deepInclude(bill, { ok: "BILL_FOUND", month })
    // The status is 200, so the official client returns the error object as a value.
    const missing = yield* Effect.promise(() => transloadit.getBill("1999-01"))
    assert.deepInclude(missing, { error: "BILL_NOT_FOUND" })
  })

  it.effect("is refused what the scopes of its token do not allow", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const transloadit = yield* official
    const { access_token: authToken } = yield* Effect.promise(() =>
      transloadit.mintBearerToken({ aud: "api2", scope: ["assemblies:read"] })
    )
    const reader = new Transloadit({ authToken, endpoint: baseUrl, maxRetries: 0 })
    for (const call of [
      () => reader.listTemplates(),
      () => reader.createTemplate({ name: "refused", template: toTemplate({}) }),
      () => reader.listTemplateCredentials(),
      () => reader.createTemplateCredential({ name: "refused", type: "s3", content: {} }),
      () => reader.getBill("2026-01"),
      () => reader.replayAssemblyNotification("a".repeat(32))
    ]) {
      assert.strictEqual(yield* refusal(call), "INSUFFICIENT_AUTH_SCOPE")
    }
  })
})
