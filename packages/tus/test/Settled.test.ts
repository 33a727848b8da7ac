/**
 * What is recorded of a request that must not be repeated, if its caller is interrupted.
 */
import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Settled from "../src/internal/journalStore.ts"

it.effect("an interruption while the request is recorded sends nothing, and records this", () =>
  Effect.gen(function* () {
    const recorded: Array<string> = []
    const writing = yield* Deferred.make<void>()
    const note = (what: string) => Effect.sync(() => void recorded.push(what))
    const fiber = yield* Effect.forkChild(
      Settled.settle({
        sending: Effect.andThen(Deferred.succeed(writing, undefined), Effect.never),
        answered: note("answered"),
        refused: note("refused")
      })
    )
    yield* Deferred.await(writing)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(recorded, ["refused"])
  })
)
