import { Effect } from "effect"
import * as Turns from "../src/internal/http/turns.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

/** Counts the rounds of the event loop. Other clients can get their responses in each round. */
const rounds = Effect.acquireRelease(
  Effect.sync(() => {
    const counter = { count: 0, pending: setImmediate(() => undefined) }
    const next = () => {
      counter.count++
      counter.pending = setImmediate(next)
    }
    counter.pending = setImmediate(next)
    return counter
  }),
  (counter) => Effect.sync(() => clearImmediate(counter.pending))
)

it.live("work that arrives together runs in one round of the event loop each", function* () {
  const counter = yield* rounds
  const seen = yield* Effect.forEach(Array.from({ length: 10 }), () => Turns.take(Effect.sync(() => counter.count)), {
    concurrency: "unbounded"
  })
  assert.strictEqual(new Set(seen).size, 10)
})

it.live("work that fails gives its turn back", function* () {
  assert.strictEqual(yield* Effect.flip(Turns.take(Effect.fail("a reason"))), "a reason")
  assert.strictEqual(yield* Turns.take(Effect.succeed("next")), "next")
})

it.live("short work shares a round until it has had enough", function* () {
  const counter = yield* rounds
  const busy = (millis: number) =>
    Effect.sync(() => {
      const end = process.hrtime.bigint() + BigInt(millis) * 1_000_000n
      while (process.hrtime.bigint() < end);
      return counter.count
    })
  const share = (millis: number, count: number) =>
    Effect.forEach(
      Array.from({ length: count }, () => millis),
      (one) => Turns.share(busy(one)),
      { concurrency: "unbounded" }
    )
  yield* Effect.yieldNow
  assert.strictEqual(new Set(yield* share(0, 10)).size, 1)
  yield* Effect.yieldNow
  assert.isAtLeast(new Set(yield* share(11, 4)).size, 4)
})
