import * as Assembly from "@assembly-effect/schema/Assembly"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { accepted, accepts, onDecode, onEncode } from "./support.ts"

const assembly_id = "0123456789abcdef0123456789abcdef"

describe("AssemblyId", () => {
  it("is 32 lowercase hexadecimal digits", () => {
    const id = "0123456789abcdef0123456789abcdef"
    assert.deepStrictEqual(
      accepted(Assembly.AssemblyId, [id, id.toUpperCase(), id.slice(1), `${id}0`, `g${id.slice(1)}`]),
      [id]
    )
  })
})

describe("Status", () => {
  const decode = Schema.decodeUnknownSync(Assembly.Status)

  it("needs the id alone and keeps unknown fields", () => {
    const status = { assembly_id, something: { new: [null] } }
    assert.deepStrictEqual(decode(status) as object, status)
    assert.deepStrictEqual(onDecode(Assembly.Status, {}), ["assembly_id: Missing key"])
  })

  it("tells its state", () => {
    for (const [status, state] of [
      [{ ok: "ASSEMBLY_UPLOADING" }, "Busy"],
      [{ ok: "ASSEMBLY_EXECUTING" }, "Busy"],
      [{ ok: "ASSEMBLY_REPLAYING" }, "Busy"],
      [{ ok: "ASSEMBLY_COMPLETED" }, "Completed"],
      [{ ok: "ASSEMBLY_CANCELED" }, "Canceled"],
      [{ ok: "REQUEST_ABORTED" }, "Aborted"],
      [{ error: "INVALID_FILE_META_DATA" }, "Failed"],
      [{ ok: null, error: "X" }, "Failed"]
    ] as const) {
      assert.strictEqual(Assembly.state(decode({ assembly_id, ...status })), state)
    }
  })

  it("has results that carry workspace, asset_id, version_id and path of stored files", () => {
    const file = { id: "f", workspace: "w", asset_id: "a", version_id: "v", path: "/a", more: 1 }
    const status = decode({ assembly_id, results: { stored: [file] } })
    assert.deepStrictEqual(status.results?.["stored"]?.[0] as object, file)
  })

  it("has receipts of tus uploads", () => {
    const receipt = {
      filename: "a",
      fieldname: "f",
      user_meta: { k: "v" },
      size: 5,
      offset: 5,
      finished: true,
      upload_url: "u"
    }
    assert.deepStrictEqual(decode({ assembly_id, tus_uploads: [receipt] }).tus_uploads as object, [receipt])
  })
})

describe("CreateParams", () => {
  it("has Steps that name their robot and keep their options", () => {
    const params = { steps: { resized: { robot: "/image/resize", use: ":original", width: 5 } }, templateId: "t" }
    assert.deepStrictEqual(Schema.encodeUnknownSync(Assembly.CreateParams)(params), {
      steps: params.steps,
      template_id: "t"
    })
    assert.deepStrictEqual(onEncode(Assembly.CreateParams, { steps: { a: {} } }), ["steps.a.robot: Missing key"])
    assert.deepStrictEqual(onDecode(Assembly.CreateParams, { template_id: "", notify_url: 5 }), [
      "template_id: Expected at least 1 character",
      "notify_url: Expected string"
    ])
  })

  it("counts the final files in num_expected_upload_files", () => {
    const encode = Schema.encodeUnknownSync(Assembly.CreateForm)
    assert.deepStrictEqual(encode({ numExpectedUploadFiles: 2 }), { num_expected_upload_files: 2 })
    assert.isFalse(accepts(Assembly.CreateForm, { num_expected_upload_files: -1 }))
  })
})
