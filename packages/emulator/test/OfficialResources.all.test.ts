/** The unmodified official client `@transloadit/node` with tokens, Templates and Template Credentials. */
import { Emulator } from "@assembly-effect/emulator"
import { Transloadit } from "@transloadit/node"
import { Effect } from "effect"
import { collect, hash, official, officialWith, refusal, toTemplate } from "./official.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

layer(layerEmulator())("@transloadit/node", (it) => {
  it.effect("gets a bearer token of one scope, and none with a wrong secret", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const client = yield* official
    const withToken = (authToken: string) => new Transloadit({ authToken, endpoint: baseUrl, maxRetries: 0 })
    const { access_token, scope } = yield* Effect.promise(() =>
      client.mintBearerToken({ aud: "api2", scope: ["assemblies:read"] })
    )
    assert.strictEqual(scope, "assemblies:read")
    const reader = withToken(access_token)
    const listed = yield* Effect.promise(() => reader.listAssemblies({ fromdate: "2026-01-01 00:00:00" }))
    assert.deepStrictEqual(listed, { items: [], count: 0 })
    assert.strictEqual(yield* refusal(() => reader.listTemplates()), "INSUFFICIENT_AUTH_SCOPE")
    assert.strictEqual(yield* refusal(() => withToken("made-up").listAssemblies()), "BEARER_TOKEN_INVALID")
    const stranger = yield* officialWith({ authSecret: "another" })
    assert.include(yield* refusal(() => stranger.mintBearerToken({ aud: "api2" })), "TOKEN_INVALID_CREDENTIALS")
  })

  it.effect("creates, gets, lists, edits and deletes a Template", function* () {
    const client = yield* official
    const created = yield* Effect.promise(() =>
      client.createTemplate({ name: "hashes", template: toTemplate(hash), require_signature_auth: 1 })
    )
    const expected = { id: created.id, name: "hashes", content: hash, require_signature_auth: 1 }
    assert.deepInclude(created, { ok: "TEMPLATE_CREATED", ...expected })
    assert.deepInclude(yield* Effect.promise(() => client.getTemplate("hashes")), { ok: "TEMPLATE_FOUND", ...expected })
    const taken = { name: "hashes", template: toTemplate({}) }
    assert.strictEqual(yield* refusal(() => client.createTemplate(taken)), "TEMPLATE_VALIDATION_ERROR")
    yield* Effect.promise(() => client.createTemplate({ name: "second", template: toTemplate({}) }))
    const streamed = yield* collect(client.streamTemplates({ sort: "name", order: "asc", pagesize: 1 }))
    const names = streamed.map(({ name }) => name)
    assert.deepStrictEqual(names, ["hashes", "second"])
    const edited = yield* Effect.promise(() => client.editTemplate(created.id, { name: "digests" }))
    assert.deepInclude(edited, { ok: "TEMPLATE_UPDATED", ...expected, name: "digests" })
    assert.strictEqual((yield* Effect.promise(() => client.deleteTemplate(created.id))).ok, "TEMPLATE_DELETED")
    assert.strictEqual(yield* refusal(() => client.getTemplate(created.id)), "TEMPLATE_NOT_FOUND")
  })

  it.effect("creates, gets, lists, edits and deletes Template Credentials", function* () {
    const client = yield* official
    const params = { name: "photos", type: "s3", content: { key: "k", secret: "s", bucket: "b" } }
    const created = yield* Effect.promise(() => client.createTemplateCredential({ ...params }))
    const { id } = created.credential
    const read = Effect.promise(() => client.getTemplateCredential(id))
    assert.strictEqual((yield* read).ok, "TEMPLATE_CREDENTIALS_READ")
    assert.deepInclude((yield* read).credential, { id, ...params })
    assert.strictEqual(
      yield* refusal(() => client.createTemplateCredential({ ...params })),
      "TEMPLATE_CREDENTIALS_NOT_CREATED"
    )
    const streamed = yield* collect(client.streamTemplateCredentials({ sort: "name", order: "asc" }))
    const names = streamed.map(({ name }) => name)
    assert.deepStrictEqual(names, ["photos"])
    const edited = yield* Effect.promise(() => client.editTemplateCredential(id, { ...params, name: "films" }))
    assert.strictEqual(edited.ok, "TEMPLATE_CREDENTIALS_UPDATED")
    assert.deepInclude((yield* read).credential, { id, name: "films" })
    const deleted = yield* Effect.promise(() => client.deleteTemplateCredential(id))
    assert.strictEqual(deleted.ok, "TEMPLATE_CREDENTIALS_DELETED")
    assert.strictEqual(yield* refusal(() => client.getTemplateCredential(id)), "TEMPLATE_CREDENTIALS_NOT_READ")
  })
})
