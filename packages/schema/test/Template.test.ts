import * as Template from "@assembly-effect/schema/Template"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { onDecode, onEncode } from "./support.ts"

const content = { steps: { stored: { robot: "/transloadit/store", use: ":original" } }, allow_steps_override: false }
const found = { ok: "TEMPLATE_FOUND", message: "words", id: "t1", name: "thumbnails", content }

describe("Found", () => {
  const decode = Schema.decodeUnknownSync(Template.Found)

  it("has its content as a value, whether it travels as an object or as JSON text", () => {
    assert.deepStrictEqual(decode(found).content as object, content)
    assert.deepStrictEqual(decode({ ...found, content: JSON.stringify(content) }).content as object, content)
  })

  it("refuses content that is neither", () => {
    for (const bad of ["{", "5", "[]", 5, null, `${"[".repeat(200)}${"]".repeat(200)}`]) {
      assert.isNotEmpty(onDecode(Template.Found, { ...found, content: bad }))
    }
  })

  it("reads an old Template whose Steps break a rule", () => {
    for (const steps of [{ a: {} }, { a: { robot: 5, use: "gone" } }]) {
      assert.deepStrictEqual(decode({ ...found, content: { steps } }).content.steps as object, steps)
    }
    assert.isUndefined(decode({ ...found, content: { steps: 5 } }).content.steps)
  })

  it("has flags of 0 and 1 as booleans, leaves out what is none, and keeps unknown fields", () => {
    const flag = (wire: unknown) => decode({ ...found, require_signature_auth: wire }).require_signature_auth
    assert.deepStrictEqual([0, 1, true, false, "1", null].map(flag), [false, true, true, false, undefined, undefined])
    const more = decode({ ...found, require_signature_auth: 1, added: { deep: [1] } })
    assert.deepStrictEqual(more["added"], { deep: [1] })
    assert.deepStrictEqual(Schema.encodeSync(Template.Found)(more) as object, {
      ...found,
      require_signature_auth: 1,
      added: { deep: [1] }
    })
  })

  it("needs its id, its name and its content", () => {
    assert.deepStrictEqual(onDecode(Template.Found, { ok: "TEMPLATE_FOUND" }), [
      "id: Missing key",
      "name: Missing key",
      "content: Missing key"
    ])
  })
})

describe("Page", () => {
  const decode = Schema.decodeUnknownSync(Template.Page)
  const item = { id: "t1", name: "a" }

  it("has dates as DateTime, in each form that the service writes", () => {
    const created = (text: unknown) => decode({ items: [{ ...item, created: text }] }).items[0]?.created
    for (const text of [
      "2025/09/24 14:30:24 GMT",
      "2025-09-24 14:30:24",
      "2025-09-24T14:30:24Z",
      "2025-09-24T14:30:24.000Z"
    ]) {
      const date = created(text)
      assert.isTrue(DateTime.isDateTime(date) && DateTime.formatIso(date) === "2025-09-24T14:30:24.000Z", text)
    }
    assert.deepStrictEqual(created("2025/09/24 14:30:24.567891 GMT"), DateTime.makeUnsafe("2025-09-24T14:30:24.567Z"))
    assert.isNull(created(null))
    for (const text of ["2025/02/30 10:00:00 GMT", "2025/09/24", "soon", 5]) assert.isUndefined(created(text))
  })

  it("writes dates as the service does", () => {
    const page = decode({ items: [{ ...item, created: "2025-09-24T14:30:24.999Z" }] })
    assert.deepStrictEqual(Schema.encodeSync(Template.Page)(page).items[0]?.created, "2025/09/24 14:30:24 GMT")
  })

  it("lists a Template whose content is not readable, without it, and a list without a total", () => {
    assert.deepStrictEqual(decode({ items: [{ ...item, content: "{" }], count: "many" }) as object, { items: [item] })
  })
})

describe("CreateRequest", () => {
  const request = { name: "a", template: {} }

  it("has Steps by the rules of Instructions.make, all problems at once with their paths", () => {
    const steps = { a: { robot: "/x", use: ["b", "a"] }, ":original": { robot: "/x" } }
    assert.deepStrictEqual(onEncode(Template.CreateRequest, { ...request, template: { steps } }), [
      "template.steps.a.use.0: Expected the name of a Step",
      "template.steps.:original.robot: Expected /upload/handle, because the name :original is reserved for the uploads",
      "template.steps.a.use: Expected Steps that do not use this Step, directly or through others"
    ])
  })

  it("is written with the names of the service, and flags as 0 and 1", () => {
    const own = { name: "a", template: content }
    const expiries = { assemblyStatusExpiry: "7days", transcodingResultExpiry: "NoSave" } as const
    const wire = { assembly_status_expiry: "7days", transcoding_result_expiry: "NoSave" }
    assert.deepStrictEqual<object>(
      Schema.encodeSync(Template.CreateRequest)({ ...own, requireSignatureAuth: true, ...expiries }),
      { ...own, require_signature_auth: 1, ...wire }
    )
  })
})
