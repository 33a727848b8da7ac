import { Assembly } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { onDecode, onEncode } from "./support.ts"

const assembly_id = "0123456789abcdef0123456789abcdef"

describe("Status", () => {
  const decode = Schema.decodeUnknownSync(Assembly.Status)

  it("needs only the id and keeps unknown fields", () => {
    const status = { assembly_id, something: { new: [null] } }
    assert.deepStrictEqual(decode(status) as object, status)
    assert.deepStrictEqual(onDecode(Assembly.Status, {}), ["assembly_id: Missing key"])
  })

  it("has a state (spec T-2)", () => {
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

  it("has ended only in a final state", () => {
    const nothing = [{}, { ok: null }, { ok: "" }, { ok: "ASSEMBLY_NEW_STATE" }, { ok: "toString" }]
    for (const standing of nothing) {
      for (const error of [{}, { error: null }, { error: "" }]) {
        const status = decode({ assembly_id, ...standing, ...error })
        assert.deepStrictEqual([Assembly.state(status), Assembly.isOver(status)], ["Unknown", false])
      }
    }
    assert.isFalse(Assembly.isOver({ ok: "ASSEMBLY_REPLAYING" }))
    for (const ok of ["ASSEMBLY_COMPLETED", "ASSEMBLY_CANCELED", "REQUEST_ABORTED"]) {
      for (const error of [null, ""]) assert.isTrue(Assembly.isOver({ ok, error }))
    }
    assert.isTrue(Assembly.isOver({ error: "X" }))
  })

  it("is readable with a malformed optional field, which is left out", () => {
    const file = { id: "f", name: 5, size: "12", original_id: [1], meta: { width: 5 } }
    const status = decode({
      assembly_id,
      ok: "ASSEMBLY_COMPLETED",
      region: 5,
      bytes_expected: "12",
      start_date: { year: 2026 },
      template_id: "t",
      uploads: {},
      tus_uploads: [{ filename: "a", finished: "true", size: null, offset: 12 }, null],
      results: { thumbs: [file, "x"], other: null },
      more: [1]
    })
    assert.deepStrictEqual(status as object, {
      assembly_id,
      ok: "ASSEMBLY_COMPLETED",
      template_id: "t",
      tus_uploads: [{ filename: "a", size: null, offset: 12 }],
      results: { thumbs: [{ id: "f", meta: { width: 5 } }] },
      more: [1]
    })
  })

  it("is unreadable if a deciding field is malformed", () => {
    assert.deepStrictEqual(onDecode(Assembly.Status, { assembly_id, ok: 5 }), ["ok: Expected string | null"])
    const error = { code: "X" }
    assert.deepStrictEqual(onDecode(Assembly.Status, { assembly_id, ok: "ASSEMBLY_COMPLETED", error }), [
      "error: Expected string | null"
    ])
    assert.deepStrictEqual(onDecode(Assembly.Status, { assembly_id: null }), ["assembly_id: Expected string"])
  })

  it("has files that were made of one file or of several", () => {
    for (const original_id of ["a", ["a", "b"], ["a", null], [], null]) {
      assert.deepStrictEqual(decode({ assembly_id, uploads: [{ original_id }] }).uploads as object, [{ original_id }])
    }
  })

  it("has results that carry workspace, asset_id, version_id and path of stored files (spec R-12)", () => {
    const ids = { asset_id: `${"a".repeat(21)}A`, version_id: `${"v".repeat(21)}A` }
    const file = { id: "f", workspace: "w", path: "/a", more: 1 }
    const whole = { ...file, ...ids }
    const status = { assembly_id, results: { stored: [whole, { ...file, asset_id: "no id", version_id: 5 }] } }
    assert.deepStrictEqual<object | undefined>(decode(status).results?.["stored"], [whole, file])
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
  })
})
