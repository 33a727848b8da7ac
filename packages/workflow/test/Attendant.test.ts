/** The attendant carries out the cancellations of the table. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import { assert, it } from "@effect/vitest"
import { Sharding } from "effect/cluster/Sharding"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import * as Attendant from "../src/internal/attendant.ts"
import type * as Store from "../src/internal/store.ts"

it.effect("a cancellation of 3 seconds begins once and ends, although the table is read every 0.5 seconds", () =>
  Effect.gen(function* () {
    const done = yield* Deferred.make<string>()
    const attempts = [{ key: "late", attempt: 1 }]
    let begun = 0
    const { loop } = yield* Attendant.makeRunning({
      store: {
        inShards: ({ state }) => Effect.succeed({ attempts: state === "Canceling" ? attempts : [], next: undefined })
      } as Partial<Store.Store> as Store.Store,
      window: 2,
      refresh: Effect.void,
      stage: () => undefined,
      cancel: () =>
        Effect.suspend(() =>
          ++begun > 1
            ? Deferred.succeed(done, "begun again")
            : Effect.delay(Deferred.succeed(done, "ended"), "3 seconds")
        )
    })
    const { value } = yield* Idle.passTime(Effect.raceFirst(loop, Deferred.await(done)), "250 millis")
    assert.strictEqual(value, "ended")
  }).pipe(
    Effect.provideService(Sharding, { hasShardId: () => true } as Partial<Sharding["Service"]> as Sharding["Service"]),
    Effect.provide([WorkflowEngine.layerMemory, AssemblyClient.layerTest([])])
  )
)
