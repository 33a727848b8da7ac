/** What an operator does with the jobs of a database, whichever database it is. */
import { Durable, type DurableJob } from "@assembly-effect/workflow"
import { assert } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { keysOf, pathsOf } from "./support.ts"

const keys = (filter: DurableJob.Filter) => Effect.map(keysOf(filter), (all) => all.toSorted())

/** Starts jobs that nobody uploads, lists them by each condition, and cancels and retries some of them. */
export const select = Effect.fnUntraced(function* (files: DurableJob.Job["files"], busy: ReadonlyArray<string> = []) {
  const start = (key: string) => Durable.start({ key, params: {}, files })
  for (const key of ["%", "a%1", "a%2", "ab1", "A%1", "a_", "ä1", "b"]) yield* start(key)
  assert.deepStrictEqual(yield* keys({ prefix: "a%" }), ["a%1", "a%2"])
  assert.deepStrictEqual(yield* keys({ prefix: "a_" }), ["a_"])
  assert.deepStrictEqual(yield* keys({ prefix: "ä" }), ["ä1"])
  assert.deepStrictEqual(yield* keys({ prefix: "%" }), ["%"])
  assert.lengthOf(yield* keys({ prefix: "" }), 8 + busy.length)

  const all = yield* Stream.runCollect(Durable.list({ state: "Queued" }))
  assert.lengthOf(all, 8)
  const [third] = all.slice(2)
  assert.deepStrictEqual(
    yield* Stream.runCollect(Durable.list({ after: third!.key, state: "Queued" })),
    all.slice(3),
    "the key of the last job is the cursor"
  )
  const oldest = Math.min(...all.map(({ queuedAt }) => queuedAt))
  assert.lengthOf(yield* keys({ state: "Queued", queued: { from: oldest } }), 8)
  assert.deepStrictEqual(yield* keys({ state: "Queued", queued: { until: oldest } }), [])
  assert.deepStrictEqual(yield* keys({ ended: {} }), [])

  const canceled = yield* Stream.runCollect(Durable.cancelAll({ prefix: "a" }))
  assert.deepStrictEqual(canceled.map(({ key }) => key).toSorted(), ["a%1", "a%2", "a_", "ab1"])
  assert.isTrue(canceled.every(({ result }) => Result.isSuccess(result)))
  const counts = yield* Durable.counts
  assert.deepStrictEqual(
    counts.filter(({ jobs }) => jobs > 0).map(({ jobs, oldest: at, state }) => [state, jobs, at]),
    [
      ["Queued", 4, Math.min(...all.filter(({ key }) => !key.startsWith("a")).map(({ queuedAt }) => queuedAt))],
      ...busy.map((state) => [state, 1, counts.find((one) => one.state === state)?.oldest]),
      ["Canceled", 4, undefined]
    ]
  )
  assert.lengthOf(yield* keys({ ended: { from: oldest } }), 4)
  assert.deepStrictEqual(yield* Stream.runCollect(Durable.retryAll({ prefix: "a" })), [], "none has failed")
  const retried = yield* Stream.runCollect(Durable.retryAll({ state: "Canceled", prefix: "a%" }))
  assert.lengthOf(retried, 2)
  assert.deepStrictEqual(yield* keys({ state: "Canceled" }), ["a_", "ab1"])
  yield* start("c")
  const [refused] = yield* Stream.runCollect(Durable.retryAll({ state: "Queued", prefix: "c" }))
  assert(Result.isFailure(refused!.result) && refused!.result.failure._tag === "NotRetryable")

  for (const [filter, path] of [
    [{ prefix: "a\0" }, "prefix"],
    [{ state: "failed" }, "state"],
    [{ ended: { from: NaN } }, "ended.from"],
    [{ prefx: "a" }, "prefx"]
  ] as const) {
    const error = yield* Effect.flip(Stream.runDrain(Durable.cancelAll(filter as DurableJob.Filter)))
    assert.deepStrictEqual(pathsOf(error), [path])
  }
})
