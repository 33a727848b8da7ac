import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Auth from "@assembly-effect/schema/Auth"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Testing from "@assembly-effect/schema/testing"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { decodedIssues, roundTrips, sample, wireIssues } from "./support.ts"

type Codec = Schema.ConstraintCodec<unknown, unknown>

const requests: ReadonlyArray<readonly [name: string, schema: Codec, invalid: Testing.Invalids]> = [
  ["statistics", AssemblyStatistics.Query, Testing.statistics],
  ["list", AssemblyList.Query, Testing.list],
  ["move", DamAsset.MoveRequest, Testing.move],
  ["creation", TusUpload.Creation, Testing.creation],
  ["metadata", TusUpload.Metadata, Testing.metadata],
  ["concat", TusUpload.Concat, Testing.concat],
  ["signedAuthParams", Auth.SignedAuthParams, Testing.signedAuthParams],
  ["tokenRequest", Auth.TokenRequest, Testing.tokenRequest],
  ["createAssembly", Assembly.CreateParams, Testing.createAssembly]
]

const responses: ReadonlyArray<readonly [name: string, schema: Codec]> = [
  ["Statistics", AssemblyStatistics.Statistics],
  ["StatisticsStrict", AssemblyStatistics.StatisticsStrict],
  ["Listing", AssemblyList.Listing],
  ["Moved", DamAsset.Moved],
  ["MovedStrict", DamAsset.MovedStrict],
  ["Status", Assembly.Status],
  ["Created", TusUpload.Created],
  ["OffsetHeaders", TusUpload.OffsetHeaders],
  ["TokenResponse", Auth.TokenResponse],
  ["ErrorObject", ServiceError.ErrorObject],
  ["StatisticsError", ServiceError.StatisticsError],
  ["ListError", ServiceError.ListError],
  ["MoveError", ServiceError.MoveError],
  ["TusErrorBody", ServiceError.TusErrorBody]
]

const more: ReadonlyArray<readonly [name: string, schema: Codec]> = [
  ["CreateForm", Assembly.CreateForm],
  ["AppendHeaders", TusUpload.AppendHeaders],
  ["CreationHeaders", TusUpload.CreationHeaders],
  ["signed statistics", Auth.withSignedAuth(AssemblyStatistics.Query)],
  ["move with a bearer token", Auth.withBearerAuth(DamAsset.MoveRequest)],
  ["Filename", DamAsset.Filename],
  ["DestinationPath", DamAsset.DestinationPath],
  ["Scope", Auth.Scope]
]

const schemas = [...requests.map(([name, schema]) => [name, schema] as const), ...more, ...responses]

describe("valid values", () => {
  it.each(schemas)("of %s round-trip", (_, schema) => {
    const holds = roundTrips(schema)
    for (const value of sample(Arbitrary.schema(schema), 200)) assert.isTrue(holds(value))
  })

  it.each([...requests.map(([name, schema]) => [name, schema] as const), ...more])(
    "of %s are generated without exhausted filters",
    (_, schema) => {
      // One discard in a hundred is chance, as for two equal keys; more is a rule that the generator does not know.
      assert.strictEqual(sample(Arbitrary.schema(schema), 1000, 10).length, 1000)
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
