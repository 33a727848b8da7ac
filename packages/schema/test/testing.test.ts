import * as DamAsset from "@assembly-effect/schema/DamAsset"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { decodedIssues, roundTrips, sample, wireIssues } from "./support.ts"
import { more, requests, schemas } from "./table.ts"

describe("valid values", () => {
  it.each(schemas)("of %s round-trip", (_, schema) => {
    const holds = roundTrips(schema)
    for (const value of sample(Arbitrary.schema(schema), 200)) assert.isTrue(holds(value))
  })

  it.each([...requests.map(([name, schema]) => [name, schema] as const), ...more])(
    "of %s are generated without exhausted filters",
    (_, schema) => {
      // One discarded value in a hundred is chance, for example two equal keys. More would mean that the generator
      // misses a rule.
      assert.strictEqual(sample(Arbitrary.schema(schema), 1000, { maxDiscards: 10 }).length, 1000)
    }
  )

  it.effect("shrink to a small counterexample", () =>
    Effect.gen(function* () {
      const short = yield* Arbitrary.checkEffect(
        Arbitrary.schema(DamAsset.MoveRequest),
        (request) => !("filename" in request) || request.filename === undefined || request.filename.length < 5,
        { seed: "assembly" }
      )
      assert.strictEqual(short._tag, "Falsified")
      if (short._tag === "Falsified") {
        assert.deepStrictEqual(Object.keys(short.shrunkInput), ["filename"])
        assert.strictEqual(short.shrunkInput.filename?.length, 5)
      }
    })
  )
})

describe("invalid values", () => {
  it.each(requests)("of %s are refused for the stated field, before encoding", (_, schema, { decoded }) => {
    for (const { input, path, rule } of sample(decoded, 300)) {
      const issues = decodedIssues(schema, input)
      assert.notStrictEqual(issues.length, 0, rule)
      for (const issue of issues) assert.deepStrictEqual(issue.path, path, rule)
    }
  })

  it.each(requests)("of %s are refused for the stated field, on the wire", (_, schema, { wire }) => {
    for (const { input, path, rule } of sample(wire, 300)) {
      const issues = wireIssues(schema, input)
      assert.notStrictEqual(issues.length, 0, rule)
      for (const issue of issues) assert.deepStrictEqual(issue.path, path, rule)
    }
  })
})
