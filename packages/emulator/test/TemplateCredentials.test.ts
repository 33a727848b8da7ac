import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import { CredentialId } from "@assembly-effect/schema/TemplateCredential"
import { DateTime, Effect, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as CredentialStore from "../src/internal/templateCredentials/credentials.ts"
import { as, north, south, workspaces } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { layerData } from "./stores.ts"
import { layer as layerEmulator, inDatabase, temporaryFolder } from "./support.ts"
import { assert, effect, layer, live } from "@assembly-effect/testkit/flow"

const secret = "Zq7-very-secret-Kx2"
const s3 = { key: "an id", secret, bucket: "photos", bucket_region: "eu-west-1" }
const content = Redacted.make(s3)

const path = "/template_credentials"

/** Creates Template Credentials, and returns their id. */
const made = Effect.fnUntraced(function* (name: string, fields: object = s3) {
  const { said } = yield* call("POST", path, { name, type: "s3", content: fields })
  return CredentialId.make(String(Object(said["credential"]).id))
})

/** Returns the content without its redaction. */
const shown = ({ content: hidden }: { readonly content?: Redacted.Redacted<unknown> | null }) =>
  Redacted.isRedacted(hidden) ? Redacted.value(hidden) : hidden

layer(layerEmulator({ workspaces }))("Template Credentials", (it) => {
  it.effect("are created, read, listed, changed and deleted", function* () {
    const { credential: created } = yield* TemplateCredentials.create({ name: "photos", type: "s3", content })
    assert.deepInclude(created, { name: "photos", type: "s3", account_id: "north", deleted: null })
    assert(created !== undefined && DateTime.isDateTime(created.created) && DateTime.isDateTime(created.modified))
    assert.deepStrictEqual(shown(created), s3)

    const { credential: found } = yield* TemplateCredentials.get(created.id)
    assert.deepStrictEqual(shown(found), s3)
    assert(Redacted.isRedacted(found.stringified))
    assert.deepStrictEqual(JSON.parse(Redacted.value(found.stringified)), s3)
    const [listed, ...others] = (yield* TemplateCredentials.list).credentials
    assert.deepStrictEqual([listed && shown(listed), others], [s3, []])

    const renamed = yield* TemplateCredentials.update(created.id, { name: "pictures", type: "s3" })
    assert.deepInclude(renamed.credential, { id: created.id, name: "pictures" })
    assert.deepStrictEqual(shown((yield* TemplateCredentials.get(created.id)).credential), s3)

    assert.strictEqual((yield* TemplateCredentials.delete(created.id)).ok, "TEMPLATE_CREDENTIALS_DELETED")
    const gone = yield* Effect.flip(TemplateCredentials.get(created.id))
    assert.deepInclude(gone, { _tag: "TemplateCredentialsNotRead", status: 404 })
    assert.deepStrictEqual((yield* TemplateCredentials.list).credentials, [])
  })

  it.effect("of a change keep the secret that the change omits, and nothing else", function* () {
    const id = yield* made("changed")
    const { secret: _, bucket_region: __, ...rest } = s3
    const update = (type: string, fields: object) =>
      call("PUT", `${path}/${id}`, { name: "changed", type, content: fields })
    assert.strictEqual((yield* update("s3", { ...rest, bucket: "other" })).status, 200)
    const changed = shown((yield* TemplateCredentials.get(id)).credential)
    assert.deepStrictEqual(changed, { key: "an id", secret, bucket: "other" })

    // A content of another type keeps no stored value, so it needs a secret.
    const other = yield* update("minio", { ...rest, host: "example.com" })
    assert.deepInclude(other.said, { message: "content.secret: Missing key" })
    assert.deepStrictEqual(shown((yield* TemplateCredentials.get(id)).credential), changed)
    assert.strictEqual((yield* update("minio", { ...rest, host: "example.com", secret: "new" })).status, 200)
    yield* TemplateCredentials.delete(id)
  })

  it.effect("have types, whose names and fields are those of the official client", function* () {
    const { types } = yield* TemplateCredentials.types
    assert.includeMembers(Object.keys(types), ["azure", "backblaze", "ftp", "google", "s3", "sftp", "wasabi"])
    assert.deepStrictEqual(types["s3"]?.fields["secret"], { requiredOnCreate: true, requiredOnUpdate: false })
    // Each type accepts a content with exactly its required fields, and refuses a content that lacks one of them.
    for (const [type, { fields }] of Object.entries(types)) {
      const required = Object.entries(fields).flatMap(([name, one]) => (one.requiredOnCreate === true ? [name] : []))
      const whole = Object.fromEntries(required.map((name) => [name, "value"]))
      const { said, status } = yield* call("POST", path, { name: type, type, content: whole })
      assert.strictEqual(status, 200, JSON.stringify(said))
      yield* call("DELETE", `${path}/${Object(said["credential"]).id}`)
      for (const name of required) {
        const lacking = Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name))
        const refused = yield* call("POST", path, { name: type, type, content: lacking })
        assert.deepInclude(refused.said, { message: `content.${name}: Missing key` })
      }
    }
  })

  const tooLong = "name: Expected at most 255 characters of valid Unicode"
  it.effect.each<readonly [string, object, string]>([
    ["no name", { name: undefined }, "name: Missing key"],
    ["an empty name", { name: "" }, "name: Expected at least 1 character"],
    ["a long name", { name: "n".repeat(256) }, tooLong],
    ["half a character", { name: "a\uD800" }, tooLong],
    ["the name of others", { name: "taken" }, "name: Other Template Credentials of the Workspace have this name."],
    ["no content", { content: undefined }, "content: Missing key"],
    ["a broken text", { content: `{"secret":"${secret}` }, "content: Expected an object or JSON text"],
    ["a text of a text", { content: `"${secret}"` }, "content: Expected an object, or the JSON text of an object"],
    ["a deep text", { content: `{"a":${"[".repeat(100)}${"]".repeat(100)}}` }, "content: Expected at most 100 levels"],
    [
      "much content",
      { content: { ...s3, x: "x".repeat(16_384) } },
      "content: Expected at most 16384 characters of JSON"
    ],
    ["a number", { content: { ...s3, secret: 5 } }, "content.secret: Expected a text"],
    ["null", { content: { ...s3, secret: null } }, "content.secret: Expected a text"],
    ["an empty secret", { content: { ...s3, secret: "" } }, "content.secret: Expected at least 1 character"]
  ])("with %s are refused, naming the field and the rule but no secret", function* ([, change, message]) {
    const params = { name: "new", type: "s3", content: s3, ...change }
    const id = yield* made("taken")
    const other = yield* made("other")
    const created = yield* call("POST", path, params)
    assert.deepInclude(created.said, { error: "TEMPLATE_CREDENTIALS_NOT_CREATED", http_code: 400, message })
    assert.notInclude(created.text, secret)
    if (params.content !== undefined) {
      const updated = yield* call("PUT", `${path}/${other}`, params)
      assert.deepInclude(updated.said, { error: "TEMPLATE_CREDENTIALS_NOT_UPDATED", http_code: 400, message })
      assert.notInclude(updated.text, secret)
    }
    const kept = (yield* TemplateCredentials.get(other)).credential
    assert.deepStrictEqual([kept.name, shown(kept)], ["other", s3])
    for (const one of [id, other]) yield* TemplateCredentials.delete(one)
  })

  it.effect.each(["none", "__proto__", "constructor", "S3"])("of the type %s do not exist", function* (type) {
    const refused = yield* Effect.flip(TemplateCredentials.create({ name: "typed", type, content }))
    assert.deepInclude(refused, { _tag: "TemplateCredentialsNotCreated", status: 400 })
    assert.match(refused.message, /type: Expected one of ai, azure, backblaze/)
  })

  it.effect("may have further fields, also with names that every object has, and may come as a text", function* () {
    const text = `{"key":"k","secret":"s","bucket":"b","__proto__":{"a":1},"constructor":null}`
    for (const sent of [text, JSON.stringify(text)]) {
      const { said } = yield* call("POST", path, `{"name":"__proto__","type":"s3","content":${sent}}`)
      const { content: stored, id } = Object(said["credential"])
      assert.strictEqual(JSON.stringify(stored), text)
      const [listed, ...others] = (yield* TemplateCredentials.list).credentials
      assert.deepStrictEqual([listed?.name, others], ["__proto__", []])
      yield* TemplateCredentials.delete(CredentialId.make(id))
    }
  })

  it.effect("are listed in an order, on one page, and not by invalid params", function* () {
    const ids = [yield* made("b"), yield* made("a")]
    const names = (params: object) =>
      Effect.map(call("GET", path, params), ({ said }) =>
        Array.from(Object(said["credentials"]), (one) => Object(one).name).join("")
      )
    assert.strictEqual(yield* names({}), "ab")
    assert.strictEqual(yield* names({ sort: "created", order: "asc" }), "ba")
    assert.strictEqual(yield* names({ sort: "name", order: "desc", page: 1 }), "ba")
    assert.strictEqual(yield* names({ page: 2 }), "")
    const { said } = yield* call("GET", path, { sort: "content", page: 0 })
    assert.deepInclude(said, { error: "TEMPLATE_CREDENTIALS_NOT_FOUND", http_code: 400 })
    assert.match(String(said["message"]), /page: .*sort: /)
    for (const id of ids) yield* TemplateCredentials.delete(id)
  })

  it.effect("belong to their Workspace", function* () {
    const id = yield* made("own")
    const foreign = as(south)
    assert.deepStrictEqual((yield* foreign(TemplateCredentials.list)).credentials, [])
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      const stolen = { name: "stolen", type: "s3" }
      assert.strictEqual((yield* call(method, `${path}/${id}`, method === "PUT" ? stolen : {}, south)).status, 404)
    }
    // A name is unique in its Workspace only.
    const { credential } = yield* foreign(TemplateCredentials.create({ name: "own", type: "s3", content }))
    assert.strictEqual(credential?.account_id, "south")
    assert.strictEqual((yield* TemplateCredentials.get(id)).credential.name, "own")
    yield* TemplateCredentials.delete(id)
  })
})

effect("show when they were created and changed", layerEmulator({ credentials: north }), function* () {
  const start = yield* DateTime.now
  const id = yield* made("timed")
  yield* TestClock.adjust("2 seconds")
  yield* TemplateCredentials.update(id, { name: "renamed", type: "s3" })
  const { credential } = yield* TemplateCredentials.get(id)
  assert.deepInclude(credential, { created: start, modified: DateTime.add(start, { seconds: 2 }) })
})

live("outlive the process, and their content is in no log", function* () {
  const data = yield* temporaryFolder
  const heard: Array<string> = []
  const logger = Logger.make((entry) => {
    heard.push(Logger.formatLogFmt.log(entry), Logger.formatJson.log(entry), inspect(entry, { depth: 10 }))
  })
  const run = <A, E>(program: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layerEmulator>>>) =>
    Effect.provide(program, layerEmulator({ data }).pipe(Layer.provide(Logger.layer([logger]))))

  const id = yield* run(made("kept"))
  const { credential } = yield* run(TemplateCredentials.get(id))
  assert.deepStrictEqual([credential.name, shown(credential)], ["kept", s3])

  // A row with an invalid content is a defect, which is logged.
  for (const broken of [`{"secret":"${secret}`, `"${secret}"`]) {
    inDatabase(data, "UPDATE template_credentials SET content = ?", broken)
    const before = heard.length
    const { status, text } = yield* run(call("GET", `${path}/${id}`))
    assert.strictEqual(status, 500)
    assert.isAbove(heard.length, before)
    assert.notInclude(text, secret)
  }
  assert.notInclude(heard.join("\n"), secret)
})

live("have a maximum number in a Workspace", layerData(), function* () {
  const store = yield* CredentialStore.make
  const create = (workspace: string, index: number) =>
    store.create({
      id: CredentialId.make(`${workspace} ${index}`),
      workspace,
      name: `name ${index}`,
      type: "s3",
      content: Redacted.make({}, { label: CredentialStore.label }),
      created_at: 0,
      modified_at: 0
    })
  for (let index = 0; index < CredentialStore.max; index++) yield* create("full", index)
  const refused = yield* Effect.flip(create("full", CredentialStore.max))
  assert.deepInclude(refused, { status: 400, message: "A Workspace has at most 500 Template Credentials." })
  assert.strictEqual((yield* create("other", 0)).name, "name 0")
  yield* store.remove("full", "full 0")
  assert.strictEqual((yield* create("full", CredentialStore.max)).name, `name ${CredentialStore.max}`)
})
