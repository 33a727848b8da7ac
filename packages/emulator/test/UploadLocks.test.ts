import { Deferred, Duration, Effect, Fiber, Layer, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import * as AssemblyStore from "../src/internal/assembly/assemblyStore.ts"
import * as FileStore from "../src/internal/files/fileStore.ts"
import * as UploadStore from "../src/internal/files/uploadStore.ts"
import * as Expiry from "../src/internal/tus/expiry.ts"
import * as UploadLocks from "../src/internal/tus/uploadLocks.ts"
import { layerData, newAssembly } from "./stores.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

it.effect("an upload has one holder, wherever the fibers that want it yield", UploadLocks.layer, function* () {
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
})

const stores = Layer.merge(UploadLocks.layer, layerData())

it.effect("an expired upload that a request holds is removed after the request", stores, function* () {
  const removed: Array<string> = []
  const request = yield* Deferred.make<void>()
  const locks = yield* UploadLocks.UploadLocks
  const assembly = yield* newAssembly("main")
  yield* Effect.flatMap(AssemblyStore.make, ({ insert }) => insert(assembly))
  const upload = { id: "one", assembly_id: assembly.id, kind: "ordinary", filename: "one", fieldname: "one" } as const
  yield* Effect.flatMap(UploadStore.make, ({ insert }) => insert(upload))
  const holding = locks.hold("one", () => Deferred.await(request))
  const fiber = yield* Effect.forkChild(holding, { startImmediately: true })
  yield* Layer.build(
    Expiry.layer(Duration.hours(1)).pipe(
      Layer.provide([
        Layer.succeed(UploadLocks.UploadLocks, locks),
        Layer.mock(FileStore.FileStore)({
          names: Effect.succeed([]),
          remove: (id) => Effect.sync(() => void removed.push(id))
        })
      ])
    )
  )
  yield* TestClock.adjust("2 hours")
  assert.deepStrictEqual(removed, [])
  yield* Deferred.succeed(request, undefined)
  yield* Fiber.join(fiber)
  yield* TestClock.adjust("1 minute")
  assert.deepStrictEqual(removed, ["one"])
})
