import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import * as UploadLocks from "../src/internal/tus/uploadLocks.ts"

it.effect("an upload has one holder, wherever the fibers that want it yield", () =>
  Effect.gen(function* () {
    const locks = yield* UploadLocks.UploadLocks
    let holders = 0
    let most = 0
    const work = Effect.gen(function* () {
      holders += 1
      most = Math.max(most, holders)
      yield* Effect.yieldNow
      holders -= 1
    })
    /** Takes the lock again and again, with pauses, so that a request sometimes enters while the last one leaves. */
    const visitor = (pause: number) =>
      Effect.repeat(
        Effect.andThen(
          locks.hold("one", () => work),
          Effect.replicateEffect(Effect.yieldNow, pause, { discard: true })
        ),
        { times: 30 }
      )
    for (let operations = 5; operations <= 40; operations++) {
      yield* Effect.all([0, 1, 3].map(visitor), { concurrency: "unbounded" }).pipe(
        Effect.provideService(Scheduler.MaxOpsBeforeYield, operations)
      )
    }
    assert.strictEqual(most, 1)
  }).pipe(Effect.provide(UploadLocks.layer))
)
