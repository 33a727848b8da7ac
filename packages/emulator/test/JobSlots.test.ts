import { Assemblies } from "@assembly-effect/api"
import * as Queues from "@assembly-effect/api/Queues"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as SlotStore from "../src/internal/queues/jobSlots.ts"
import type * as SlotUse from "../src/internal/queues/slotUse.ts"
import { as, refused, south, workspaces } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { layerAssemblies, planOf } from "./stores.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const Time = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 }))
/** The start of an execution, and how long it takes. */
const Run = Schema.Tuple([Time, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))])
const Runs = Schema.Array(Run).check(Schema.isMaxLength(12))

/** Counts the slots millisecond by millisecond. An execution uses its slot in each millisecond that it touches. */
const countSlowly = (
  runs: ReadonlyArray<readonly [start: number, duration: number]>,
  { bucketLength, since, until }: SlotUse.Window
): SlotUse.Summary => {
  const starts = Array.from(
    { length: Math.ceil(until / bucketLength) - Math.floor(since / bucketLength) },
    (_, index) => (Math.floor(since / bucketLength) + index) * bucketLength
  )
  const buckets = starts.map((start) => {
    const [from, to] = [Math.max(start, since), Math.min(start + bucketLength, until)]
    let area = 0
    let most = 0
    for (let time = from; time < to; time++) {
      area += runs.filter(([begin, duration]) => begin <= time && time < begin + duration).length
      most = Math.max(most, runs.filter(([begin, duration]) => begin <= time && time <= begin + duration).length)
    }
    return { start, average: area / (to - from), most, area }
  })
  return {
    average: buckets.reduce((sum, { area }) => sum + area, 0) / (until - since),
    most: Math.max(...buckets.map(({ most }) => most)),
    buckets: buckets.map(({ area: _area, ...bucket }) => bucket)
  }
}

const stores = layerAssemblies

let ids = 0

/** Inserts an Assembly whose execution starts and ends at the given times. */
const insert = Effect.fnUntraced(function* (start: number | null, end: number | null, workspace = "north") {
  const sql = yield* SqlClient.SqlClient
  const state = start === null ? "uploading" : end === null ? "executing" : "completed"
  const row = { id: String(ids++), workspace, region: "eu-west-1", state, steps: "{}", fields: "{}" }
  yield* sql`INSERT INTO assemblies ${sql.insert({ ...row, expected_uploads: 0, created_at: 0, uploaded_at: start, ended_at: end })}`
})

const history = (since: number, bucketLength: number, region = "all") =>
  Effect.flatMap(SlotStore.make, (slots) =>
    slots.history({ workspace: "north", region, since: DateTime.makeUnsafe(since) }, bucketLength)
  )

describe("The history of the job slots", () => {
  it.effect.prop(
    "agrees with a count of each millisecond",
    [Runs, Time, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))],
    ([runs, since, bucketLength]) =>
      Effect.gen(function* () {
        const until = 201
        yield* TestClock.setTime(until)
        for (const [start, duration] of runs) yield* insert(start, start + duration < until ? start + duration : null)
        // These Assemblies have no slot in this Workspace: one waits for uploads, one failed before its execution, and
        // one belongs to another Workspace.
        yield* insert(null, null)
        yield* insert(null, 100)
        yield* insert(50, 150, "south")
        const counted = yield* history(since, bucketLength)
        const expected = countSlowly(runs, { since, until, bucketLength })
        assert.deepStrictEqual(counted, expected)
        assert.deepStrictEqual(yield* history(since, bucketLength, "eu-west-1"), expected)
        assert.deepInclude(yield* history(since, bucketLength, "us-east-1"), { average: 0, most: 0 })
      }).pipe(Effect.provide(Layer.fresh(stores))),
    { arbitrary: { runs: 60 } }
  )

  it.effect("is read in slices, of which none loses an Assembly", stores, function* () {
    const size = 2500
    const sql = yield* SqlClient.SqlClient
    const runs = Effect.forEach(Array(size), (_, index) => insert(index, index + 1000))
    yield* sql.withTransaction(runs)
    yield* TestClock.setTime(size + 1000)
    const { average, buckets, most } = yield* history(0, 100)
    assert.strictEqual(average, (size * 1000) / (size + 1000))
    assert.strictEqual(most, 1001)
    const seen = [buckets.length, buckets[0]?.most, buckets[20]?.average, buckets.at(-1)?.average]
    assert.deepStrictEqual(seen, [35, 100, 1000, 49.5])
  })

  it.effect("is empty where the window is", stores, function* () {
    yield* insert(0, null)
    assert.deepStrictEqual(yield* history(0, 60), { average: 0, most: 0, buckets: [] })
    assert.deepStrictEqual(yield* history(1000, 60), { average: 0, most: 0, buckets: [] })
  })

  it.effect("uses its indexes, so that its cost depends on the window only", stores, function* () {
    const sql = yield* SqlClient.SqlClient
    const { before, current, released, taken } = SlotStore.statements(sql, { workspace: "north", region: "eu-west-1" })
    for (const statement of [before(0), current, taken(0, 1), released(0, 1)]) {
      const [text, values] = statement.compile()
      const details = (yield* planOf(text, values)).filter((one) => /assemblies/.test(one))
      assert.isAbove(details.length, 0)
      for (const detail of details)
        assert.match(detail, /^SEARCH assemblies USING COVERING INDEX assemblies_(?:by_execution|by_end|executing) /)
    }
  })
})

const slow = { wait: { robot: "/emulator/wait", seconds: 3600 } }

describe("Job slots", () => {
  it.effect("are those of the Assemblies that execute", function* () {
    yield* TestClock.setTime(DateTime.makeUnsafe("2026-01-01T10:00:00Z").epochMilliseconds)
    yield* Effect.gen(function* () {
      const since = DateTime.makeUnsafe("2026-01-01T10:00:00Z")
      const current = Effect.map(Queues.jobSlots, ({ priority_job_slots }) => priority_job_slots)
      assert.deepStrictEqual(yield* current, { count: 0, slots: {} })
      const [first] = yield* Effect.replicateEffect(Assemblies.create({ steps: slow }), 3)
      yield* Assemblies.create({ steps: slow, numExpectedUploadFiles: 1 })
      assert.deepStrictEqual(yield* current, { count: 3, slots: { "eu-west-1": 3 } })
      assert.deepStrictEqual(yield* as(south)(current), { count: 0, slots: {} })

      yield* TestClock.adjust("30 seconds")
      yield* Assemblies.cancel(AssemblyId.make(first?.assembly_id ?? ""))
      assert.deepStrictEqual(yield* current, { count: 2, slots: { "eu-west-1": 2 } })

      yield* TestClock.adjust("90 seconds")
      const minutes = yield* Queues.statistics({ region: "eu-west-1", since })
      const start = since.epochMilliseconds / 1000
      const whole = { aggregation: "avg", avgSlotCount: 2.25, maxSlotCount: 3, granularity: 60 } as const
      assert.deepInclude(minutes, { ok: "PRIORITY_JOB_SLOT_STATS_FOUND", ...whole })
      assert.deepStrictEqual<unknown>(minutes.stats, [
        { data_from_ts: start, avg_slot_count: 2.5, max_slot_count: 3, slot_count: 2.5 },
        { data_from_ts: start + 60, avg_slot_count: 2, max_slot_count: 2, slot_count: 2 }
      ])
      const { aggregation, stats } = yield* Queues.statistics({ region: "all", since, aggregation: "max" })
      assert.deepStrictEqual([aggregation, stats[0]?.slot_count, stats[1]?.slot_count], ["max", 3, 2])
      const early = { region: "eu-west-1", since: DateTime.subtract(since, { days: 2 }) }
      const long = yield* Queues.statistics({ ...early, aggregation: null })
      assert.deepInclude(long, { aggregation: "avg", granularity: 3600, maxSlotCount: 3 })
      assert.strictEqual(long.stats.length, 49)
      const elsewhere = yield* Effect.flip(Queues.statistics({ region: "us-east-1", since }))
      assert.strictEqual(elsewhere._tag, "JobSlotStatisticsMissingRegion")
      const theirs = yield* as(south)(Queues.statistics({ region: "all", since }))
      assert.deepInclude(theirs, { avgSlotCount: 0, maxSlotCount: 0 })

      yield* TestClock.adjust("1 hour")
      yield* Effect.repeat(current, { until: ({ count }) => count === 0 })
    }).pipe(Effect.provide(layerEmulator({ workspaces })))
  })

  it.live("have statistics that name the invalid param", layerEmulator(), function* () {
    const since = DateTime.formatIso(yield* DateTime.now)
    const tooEarly = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days: 92 }))
    const region = "eu-west-1"
    const refusals: ReadonlyArray<readonly [params: object, code: string]> = [
      [{ since }, "MISSING_REGION"],
      [{ region: "", since, aggregation: "sum" }, "MISSING_REGION"],
      [{ region: 5, since }, "MISSING_REGION"],
      [{ region: "us-east-1", since: "yesterday" }, "MISSING_REGION"],
      [{ region, since, aggregation: "sum" }, "INVALID_AGGREGATION"],
      [{ region, aggregation: 5 }, "INVALID_AGGREGATION"],
      [{ region }, "INVALID_TIME"],
      [{ region, since: 5 }, "INVALID_TIME"],
      [{ region, since: "yesterday" }, "INVALID_TIME"],
      [{ region, since: tooEarly }, "INVALID_TIME"]
    ]
    for (const [params, code] of refusals) {
      const answer = yield* call("GET", "/priority_job_slot_stats", params)
      refused(answer, 400, `PRIORITY_JOB_SLOT_STATS_${code}`)
    }
    const tooLong = yield* Effect.flip(Queues.statistics({ region, since: tooEarly }))
    assert.deepInclude(tooLong, { _tag: "JobSlotStatisticsInvalidTime", status: 400 })
  })
})
