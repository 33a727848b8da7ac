import { ApiError } from "@assembly-effect/api"
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import * as TemplateId from "../src/internal/templateId.ts"
import { templates } from "./support/resources.ts"
import * as Service from "./support/service.ts"

const { id } = templates["Templates.get"]

const refusal = (code: string) =>
  new ApiError.AuthenticationFailed({ operation: "Templates.get", code, status: 400, description: "no" })

describe("TemplateId.inParams", () => {
  it.effect("replaces a name by the id, and sends no request for an id", function* () {
    const service = Service.makeOf(templates)
    const inParams = (templateId?: string) =>
      Effect.provide(TemplateId.inParams(templateId === undefined ? {} : { templateId }), service.layer)
    expect(yield* inParams("thumbnails")).toEqual({ templateId: id })
    expect(service.asked).toEqual([{ name: "Templates.get", path: { templateIdOrName: "thumbnails" }, params: {} }])
    expect(yield* inParams("c".repeat(32))).toEqual({ templateId: "c".repeat(32) })
    expect(yield* inParams()).toEqual({})
    expect(service.asked).toHaveLength(1)
  })

  it.effect("uses the text as the id if the Auth Key may not read Templates", function* () {
    const given = TemplateId.inParams({ templateId: "thumbnails" })
    const forbidden = Service.makeOf({}, { "Templates.get": refusal("INSUFFICIENT_AUTH_SCOPE") })
    expect(yield* Effect.provide(given, forbidden.layer)).toEqual({ templateId: "thumbnails" })
    const unknown = Service.makeOf({}, { "Templates.get": refusal("GET_ACCOUNT_UNKNOWN_AUTH_KEY") })
    expect(yield* Effect.flip(Effect.provide(given, unknown.layer))).toMatchObject({ _tag: "AuthenticationFailed" })
  })
})
