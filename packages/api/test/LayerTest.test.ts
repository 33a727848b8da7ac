import { ApiError, Assemblies, AssemblyClient, Dam } from "@assembly-effect/api"
import * as Testing from "@assembly-effect/api/testing"
import { AssemblyList, AssemblyStatistics, Identifier } from "@assembly-effect/schema"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Cause, DateTime, Effect, Exit, Schema, Stream } from "effect"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import { assemblyId } from "./utils/operations.ts"

const assetId = Identifier.AssetId.make("abcdefghijklmnopqrstuA")
const conflict = new ApiError.DamMutationConflict({
  operation: "Dam.move",
  code: "DAM_MUTATION_CONFLICT",
  status: 409,
  description: "taken"
})

const client = AssemblyClient.layerTest([
  AssemblyClient.handler(Assemblies.Get, ({ path }) =>
    Effect.succeed({ ok: "ASSEMBLY_COMPLETED", assembly_id: path.assemblyId })
  ),
  AssemblyClient.handler(Dam.Move, () => Effect.fail(conflict))
])

describe("AssemblyClient.layerTest", () => {
  it.effect("returns the success or the error of the handler of an operation", client, function* () {
    assert.deepStrictEqual(yield* Assemblies.get(assemblyId), { ok: "ASSEMBLY_COMPLETED", assembly_id: assemblyId })
    assert.strictEqual(yield* Effect.flip(Dam.move(assetId, { filename: "a" })), conflict)
  })

  it.effect(
    "fails with InvalidRequest for input that breaks a rule, without frames of the packages",
    client,
    function* () {
      const { _tag, message, stack } = yield* Effect.flip(Dam.move(assetId, { filename: "a/b" }))
      assert.strictEqual(_tag, "InvalidRequest")
      assert.strictEqual(message, "Dam.move: filename: Expected a name without slash or backslash")
      assert.notInclude(stack, "\n    at ")
      assert.include(new Error("another").stack, "\n    at ")
    }
  )

  it.effect("dies with the name of an operation without a handler", client, function* () {
    const exit = yield* Effect.exit(Assemblies.create({}))
    assert(Exit.isFailure(exit))
    assert.include(Cause.pretty(exit.cause), "AssemblyClient.layerTest has no handler for Assemblies.create")
  })

  it.effect("watch polls, because layerTest has no update stream", function* () {
    let readings = 0
    const busy = AssemblyClient.layerTest([
      AssemblyClient.handler(Assemblies.Get, ({ path }) =>
        Effect.sync(() => ({
          ok: ++readings < 3 ? "ASSEMBLY_EXECUTING" : "ASSEMBLY_COMPLETED",
          assembly_id: path.assemblyId,
          update_stream_url: "https://api2.example.com/updates"
        }))
      )
    ])
    const watching = Effect.provide(Stream.runCollect(Assemblies.watch(assemblyId)), busy)
    const { value: statuses } = yield* Idle.passTime(watching)
    const seen = statuses.map(({ ok }) => ok)
    assert.deepStrictEqual(seen, ["ASSEMBLY_EXECUTING", "ASSEMBLY_COMPLETED"])
  })

  it.effect("takes a part of an answer: Testing.sample generates the other required keys", function* () {
    const partial = AssemblyClient.layerTest([
      AssemblyClient.handler(Assemblies.Statistics, () => Testing.sample(Assemblies.Statistics, { totalUsage: 3 })),
      AssemblyClient.handler(Assemblies.Get, ({ path }) =>
        Testing.sample(Assemblies.Get, { assembly_id: path.assemblyId })
      ),
      AssemblyClient.handler(Assemblies.List, () =>
        Effect.map(Testing.sample(AssemblyList.Entry, { ok: "ASSEMBLY_COMPLETED" }), (entry) => ({
          items: [entry],
          count: 1
        }))
      )
    ])
    yield* Effect.gen(function* () {
      const statistics = yield* Assemblies.statistics({ since: "1 day ago", region: "eu-west-1" })
      assert.isTrue(Schema.is(AssemblyStatistics.StatisticsStrict)(statistics))
      assert.strictEqual(statistics.totalUsage, 3)
      assert.deepStrictEqual(yield* Assemblies.statistics({ since: "1 day ago", region: "eu-west-1" }), statistics)
      assert.deepStrictEqual(yield* Assemblies.get(assemblyId), { assembly_id: assemblyId })
      const { items } = yield* Assemblies.list({ fromDate: DateTime.makeUnsafe(0) })
      const seen = items.map((entry) => [Schema.is(AssemblyList.Entry)(entry), entry.ok])
      assert.deepStrictEqual(seen, [[true, "ASSEMBLY_COMPLETED"]])
    }).pipe(Effect.provide(partial))
  })

  test("the type of handler refuses the response and the error of another operation", () => {
    // @ts-expect-error a list is no Status
    AssemblyClient.handler(Assemblies.Get, () => Effect.succeed({ items: [] }))
    // @ts-expect-error a Status cannot be missing like an asset
    // @effect-diagnostics-next-line missingEffectError:off
    AssemblyClient.handler(Assemblies.Get, () => Effect.fail(conflict))
    // @ts-expect-error a part of an answer has the types of its fields
    AssemblyClient.handler(Assemblies.Statistics, () => Testing.sample(Assemblies.Statistics, { totalUsage: "3" }))
  })
})
