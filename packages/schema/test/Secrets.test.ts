/** The secrets of Auth Keys and Template Credentials. */
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import { onDecode, onEncode } from "./support.ts"

const secret = "very-secret"
const key = { id: "k1", auth_key: "0a" }
const credential = { id: "c1", name: "photos", type: "s3" }

describe("an Auth Key", () => {
  const decode = Schema.decodeUnknownSync(AuthKey.AuthKey)

  it("has scopes as a list, whether they travel as a list or as text", () => {
    const scopes = (scope: unknown) => decode({ ...key, scope }).scope
    assert.deepStrictEqual(scopes(["a:read", "b"]), ["a:read", "b"])
    assert.deepStrictEqual(scopes(" a:read  b "), ["a:read", "b"])
    assert.deepStrictEqual(scopes(""), [])
    assert.isUndefined(scopes([5]))
  })

  it("has booleans, whether they travel as booleans or as 0 and 1", () => {
    const active = (is_active: unknown) => decode({ ...key, is_active }).is_active
    assert.deepStrictEqual([1, 0, true, false, "yes"].map(active), [true, false, true, false, undefined])
  })

  it("keeps no unknown field, which might be a secret", () => {
    assert.deepStrictEqual(Object.keys(decode({ ...key, old_secret: secret })), ["id", "auth_key"])
  })

  it("that is new needs its secret", () => {
    const created = { ok: "AUTH_KEY_CREATED", auth_key: key }
    assert.deepStrictEqual(onDecode(AuthKey.Created, created), ["auth_key.auth_secret: Missing key"])
    const { auth_key } = Schema.decodeUnknownSync(AuthKey.Created)({
      ...created,
      auth_key: { ...key, auth_secret: secret }
    })
    assert.strictEqual(Redacted.value(auth_key.auth_secret), secret)
  })
})

describe("Template Credentials", () => {
  const decode = Schema.decodeUnknownSync(TemplateCredential.Credential)

  it("have redacted content, an object or text, and the same as text", () => {
    const read = decode({ ...credential, content: { key: secret }, stringified: secret })
    assert.deepStrictEqual(Redacted.value(read.content ?? Redacted.make("")), { key: secret })
    assert.strictEqual(Redacted.value(read.stringified ?? Redacted.make("")), secret)
    const text = decode({ ...credential, content: secret })
    assert.strictEqual(Redacted.value(text.content ?? Redacted.make("")), secret)
  })

  it("keep no unknown field, which might be a secret", () => {
    assert.deepStrictEqual(Object.keys(decode({ ...credential, password: secret })), ["id", "name", "type"])
  })

  it("are written with redacted content of any label, and no problem repeats it", () => {
    const request = { name: "photos", type: "s3", content: Redacted.make({ key: secret }, { label: "mine" }) }
    assert.deepStrictEqual(Schema.encodeSync(TemplateCredential.CreateRequest)(request) as object, {
      name: "photos",
      type: "s3",
      content: { key: secret }
    })
    const problems = onEncode(TemplateCredential.CreateRequest, { ...request, name: "", content: { key: secret } })
    assert.lengthOf(problems, 2)
    assert.notInclude(problems.join(), secret)
  })
})
