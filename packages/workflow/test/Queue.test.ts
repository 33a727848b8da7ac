/** Many jobs at once: the queue is in the database, and each runner takes few of them. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { gated } from "./gates.ts"
import { folder, job, live, withRunner } from "./support.ts"

/** With `DURABLE_JOBS`, the test queues and uploads this many jobs. */
const full = process.env["DURABLE_JOBS"]
const count = Number(full ?? 200)

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** The used memory in MiB, after a collection. */
const heap = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

layer(live, { excludeTestServices: true })("A queue of durable jobs", (it) => {
  it.effect(
    `stores ${count} jobs, uploads every one once, and few at the same time`,
    () =>
      Effect.gen(function* () {
        const { database, file } = yield* folder
        const content = yield* file("a.bin", 1000)
        const gate = yield* gated
        yield* Effect.gen(function* () {
          yield* Durable.start(job("first", [], { files: [gate.file("first")] }))
          yield* gate.reached
          const begun = performance.now()
          const before = heap()
          const keys = Stream.range(1, count).pipe(Stream.map((number) => job(`job ${number}`, [content])))
          const queued = yield* Durable.startAll(keys).pipe(
            Stream.filter(({ _tag }) => _tag === "Started"),
            Stream.runCount
          )
          assert.strictEqual(queued, count)
          // The only upload that is allowed does not end, so no other job begins.
          const waiting = yield* Stream.runCount(Durable.list({ state: "Queued" }))
          assert.strictEqual(waiting, count)
          const queuing = heap() - before
          assert.isBelow(queuing, 32)
          if (full !== undefined) {
            const seconds = (performance.now() - begun) / 1000
            yield* Effect.log(`${count} jobs queued in ${seconds.toFixed(1)} s, ${queuing.toFixed(1)} MiB more`)
          }
        }).pipe(withRunner(database, { uploads: 1 }), Effect.provide(gate.layer))

        // The next process continues the queue.
        yield* Effect.gen(function* () {
          const before = heap()
          yield* gate.open
          yield* Durable.await("first")
          const sent = performance.now()
          let most = 0
          yield* Effect.forEach(
            Array.from({ length: count }, (_, index) => index + 1),
            (number) =>
              Effect.tap(Durable.await(`job ${number}`), () =>
                Effect.sync(() => {
                  if (number % 100 === 0) most = Math.max(most, heap())
                })
              ),
            { concurrency: 100, discard: true }
          )
          assert.isBelow(most - before, 64)
          if (full !== undefined) {
            const seconds = (performance.now() - sent) / 1000
            yield* Effect.log(
              `uploaded in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} a second, at most ${(most - before).toFixed(1)} MiB more`
            )
          }
          const completed = yield* Stream.runCount(Durable.list({ state: "Completed" }))
          assert.strictEqual(completed, count + 1)
        }).pipe(withRunner(database), Effect.provide(gate.layer))
      }),
    { timeout: 3_600_000 }
  )
})
