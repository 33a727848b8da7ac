/** The one process of an embedded runner is killed at random moments, and the next one continues its jobs. */
import { Durable } from "@assembly-effect/workflow"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Queue, Random } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import type { Orders, Report } from "./fixtures/runner.ts"
import { assemblies, folder, job, proxied, sentOnce, withRunner } from "./support.ts"

const MiB = 1024 * 1024
/** With `RELIABILITY_KILLS`, the test kills this many processes, and each of them uploads 200 MiB. */
const many = process.env["RELIABILITY_KILLS"]
const kills = Number(many ?? 1)
const size = many === undefined ? 24 * MiB : 200 * MiB

/** Starts a runner in a separate process, which is killed when the scope closes. `next` waits for its next report. */
const runner = Effect.fnUntraced(function* (orders: Orders) {
  const reports = yield* Queue.unbounded<Report>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(new URL("fixtures/runner.ts", import.meta.url), [JSON.stringify(orders)], { execArgv: [] })),
    (one) => Effect.promise(async () => one.kill("SIGKILL") && once(one, "exit"))
  )
  child.on("message", (report: Report) => Queue.offerUnsafe(reports, report))
  child.once("exit", () => Queue.offerUnsafe(reports, { _tag: "Gone" }))
  return { child, next: Queue.take(reports) }
})

/** Where each kill comes, as a part of the file: evenly spread, with chance within each part. */
const draw = Effect.forEach(
  Array.from({ length: kills }, (_, index) => index),
  (index) => Effect.map(Random.next, (chance) => (index + chance) / kills)
)

layer(NodeFileSystem.layer)("An embedded runner", (it) => {
  it.effect(
    `that is killed is continued by the next process: ${kills} times`,
    Effect.fnUntraced(function* () {
      const moments = yield* draw
      const { clients, orders, proxy } = yield* proxied()
      const { database, file } = yield* folder
      const content = yield* file("a.bin", size)
      let worst = 0

      for (const [index, moment] of moments.entries()) {
        const key = `job ${index} at ${moment}`
        const jobs = [job(key, [content])]
        const before = proxy.sent()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const first = yield* runner({ ...orders, database, jobs })
            assert.strictEqual((yield* first.next)._tag, "Started")
            yield* proxy.reached(before + moment * size)
            first.child.kill("SIGKILL")
            assert.strictEqual((yield* first.next)._tag, "Gone")
            const second = yield* runner({ ...orders, database, jobs })
            assert.strictEqual((yield* second.next)._tag, "Started")
            assert.deepStrictEqual(yield* second.next, { _tag: "Ended", key, outcome: "ASSEMBLY_COMPLETED" })
          })
        )
        worst = Math.max(worst, proxy.sent() - before - size)
      }
      // The requests themselves take some kilobytes.
      assert.isAtMost(worst, MiB)

      yield* Effect.gen(function* () {
        assert.lengthOf(yield* assemblies(), kills)
        for (const [index, moment] of moments.entries()) {
          sentOnce(yield* Durable.await(`job ${index} at ${moment}`), content)
        }
      }).pipe(withRunner(database), Effect.provide(clients))
      if (many !== undefined) yield* Effect.log(`${kills} kills; sent again at most ${worst} bytes`)
    }, Random.withSeed("kills")),
    { timeout: 60_000 + kills * 60_000 }
  )
})
