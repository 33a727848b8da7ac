import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import { parseTusError } from "@assembly-effect/schema/unstable/TusUpload"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { accepted, accepts, onDecode } from "./support.ts"

describe("ErrorObject", () => {
  it("has at least one of error, message and reason (spec E-1)", () => {
    const valid = [{ error: "A" }, { message: "" }, { reason: null }, { reason: { deep: [1] } }, { reason: false }]
    const invalid = [{}, { http_code: 500 }, { assembly_id: "a" }, null, "text", []]
    assert.deepStrictEqual(accepted(ServiceError.ErrorObject, [...valid, ...invalid]), valid)
    assert.deepStrictEqual(onDecode(ServiceError.ErrorObject, {}), [
      "Expected at least one of error, message and reason"
    ])
  })

  it("has an error code of at least 1 character (spec E-2)", () => {
    assert.deepStrictEqual(onDecode(ServiceError.ErrorObject, { error: "" }), ["error: Expected at least 1 character"])
    assert.isFalse(accepts(ServiceError.ErrorObject, { error: 5 }))
  })

  it("has http_code as a number or a numeric string (spec E-3)", () => {
    const of = (http_code: unknown) => ({ error: "A", http_code })
    const valid = [of(400), of("400"), of(0)]
    assert.deepStrictEqual(accepted(ServiceError.ErrorObject, [...valid, of("4xx"), of(""), of(null), of(NaN)]), valid)
  })

  it("keeps unknown fields (spec E-4)", () => {
    const body = { error: "A", info: { retryIn: 5 }, more: [1] }
    assert.deepStrictEqual(Schema.decodeUnknownSync(ServiceError.ErrorObject)(body) as object, body)
  })
})

describe("named errors", () => {
  const table = [
    ["ASSEMBLY_STATS_INVALID_TIME", 400],
    ["ASSEMBLY_STATS_MISSING_REGION", 400],
    ["ASSEMBLY_STATS_ERROR", 500],
    ["ASSEMBLY_LIST_ERROR", 400],
    ["DAM_INVALID_REQUEST", 400],
    ["DAM_RESOURCE_NOT_FOUND", 404],
    ["DAM_MUTATION_CONFLICT", 409],
    ["DAM_MUTATION_FAILED", 500]
  ] as const

  it.each(table)("%s has its code, and http_code absent or exactly %i (spec E-7, E-10, E-15)", (error, status) => {
    const valid = [{ error }, { error, http_code: status }, { error, http_code: `${status}` }]
    const invalid = [{ error, http_code: status + 1 }, { error, http_code: `0${status}` }, { error: `${error}_` }, {}]
    assert.deepStrictEqual(accepted(NamedError.named(error), [...valid, ...invalid]), valid)
  })

  it("are these eight (spec E-5)", () => {
    const named: ReadonlyArray<readonly [string, number]> = table.map(([code, status]) => [code, status])
    assert.deepStrictEqual<unknown>(Object.entries(NamedError.statusOf), named)
  })

  it("keep message, reason, assembly_id and unknown fields", () => {
    const body = { error: "DAM_INVALID_REQUEST", message: "m", reason: ["r"], assembly_id: "a", more: 1 }
    assert.deepStrictEqual(Schema.decodeUnknownSync(NamedError.named("DAM_INVALID_REQUEST"))(body) as object, body)
  })
})

describe("parseTusError", () => {
  it("reads the line form (spec E-16)", () => {
    assert.deepStrictEqual(parseTusError("ERR_UPLOAD_STOPPED: no more: today\n"), {
      _tag: "Line",
      code: "ERR_UPLOAD_STOPPED",
      message: "no more: today"
    })
  })

  it("reads a raw hook error, valid JSON or not (spec E-17)", () => {
    for (const text of [
      '{"error":"a"}',
      '{"error":"a "quoted" text"}',
      "",
      "<html>",
      "ERR_A: no newline",
      "err_a: b\n"
    ]) {
      assert.deepStrictEqual(parseTusError(text), { _tag: "Hook", text })
    }
  })
})
