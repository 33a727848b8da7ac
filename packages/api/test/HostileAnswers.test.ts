/**
 * Responses that attack their reader: error codes that are properties of every object, and deeply nested JSON. Each
 * must result in a typed error.
 */
import { Assemblies } from "@assembly-effect/api"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Stream } from "effect"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, examples, status } from "./utils/operations.ts"

const prototypeNames = ["toString", "constructor", "__proto__", "valueOf", "hasOwnProperty"]

const nested = (levels: number) => `${'{"a":['.repeat(levels)}1${"]}".repeat(levels)}`

/** A Status that is valid except for a field with the given nesting depth. */
const deepStatus = (levels: number) => JSON.stringify(status).replace("{", `{"deep":${nested(levels)},`)

describe.each(examples)("$name", ({ name, run }) => {
  it.effect.each(prototypeNames)("the error code %s fails with ServiceFailure and this code", function* (code) {
    const service = Service.make(Service.json(400, { error: code, message: "no" }))
    const error = yield* Effect.flip(Effect.provide(run, Service.client(service)))
    assert.deepInclude(error, { _tag: "ServiceFailure", code, status: 400, description: "no" })
  })

  it.effect.each([200, 400])("JSON of 40,000 levels with status %s fails with UnexpectedResponse", function* (code) {
    const service = Service.make(Service.text(code, deepStatus(20_000)))
    const error = yield* Effect.flip(Effect.provide(run, Service.client(service)))
    assert.deepInclude(error, { _tag: "UnexpectedResponse", status: code })
    assert.include(error.message, `${name}: status ${code}, a body nested deeper than 128 levels`)
  })
})

describe("Assemblies.watch", () => {
  it.live("watch emits two equal Statuses of 120 levels once", function* () {
    const service = Service.make(
      Service.text(200, deepStatus(60)),
      Service.text(200, deepStatus(60)),
      Service.json(200, { ...status, ok: "ASSEMBLY_COMPLETED" })
    )
    const seen = yield* Effect.provide(
      Stream.runCollect(Assemblies.watch(assemblyId, { interval: "1 millis" })),
      Service.client(service)
    )
    const found = seen.map(({ ok }) => ok)
    assert.deepStrictEqual(found, ["ASSEMBLY_EXECUTING", "ASSEMBLY_COMPLETED"])
  })
})
