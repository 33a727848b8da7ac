import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Turns from "../src/internal/Turns.ts"

/** Counts the rounds of the event loop: in each of them the other clients are answered. */
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

it.live("work that arrives together runs in one round of the event loop each", () =>
  Effect.gen(function* () {
    const turns = yield* Turns.Turns
    const counter = yield* rounds
    const seen = yield* Effect.forEach(Array.from({ length: 10 }), () => turns.take(Effect.sync(() => counter.count)), {
      concurrency: "unbounded"
    })
    assert.strictEqual(new Set(seen).size, 10)
  }).pipe(Effect.scoped, Effect.provide(Turns.layer))
)

it.live("work that fails gives its turn back", () =>
  Effect.gen(function* () {
    const turns = yield* Turns.Turns
    assert.strictEqual(yield* Effect.flip(turns.take(Effect.fail("a reason"))), "a reason")
    assert.strictEqual(yield* turns.take(Effect.succeed("next")), "next")
  }).pipe(Effect.provide(Turns.layer))
)
