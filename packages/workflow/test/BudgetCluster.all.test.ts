/**
 * Three runners with Postgres and a service with quotas: with the budget of the account they create nearly as much as they
 * may, and not more. `BUDGET_JOBS=2000 BUDGET_CREATED=250` are the numbers of the service, which then may refuse a few; `BUDGET_OFF=1` shows
 * the same without the budget.
 */
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"

const jobs = Number(process.env["BUDGET_JOBS"] ?? 24)
const created = Number(process.env["BUDGET_CREATED"] ?? 40)
const isOff = process.env["BUDGET_OFF"] !== undefined

const minutes = jobs / created

layer(Layer.empty)("Three runners of an account", (it) => {
  it.effect(
    `${jobs} jobs, ${created} a minute: 95 % to 105 % of this rate, and at most one refused creation a minute`,
    function* () {
      const postgres = yield* Server.make
      const cluster = yield* Cluster.make({
        database: yield* postgres.database("budget"),
        uploads: 8,
        quotas: { created },
        budget: isOff ? {} : { created, running: 250 }
      })
      const all = yield* Effect.forEach(
        Array.from({ length: jobs }, (_, row) => row),
        (row) => Effect.map(cluster.file(`job${row}`, 1000), ({ job }) => job)
      )
      yield* Effect.gen(function* () {
        yield* Effect.forEach(["A", "B", "C"], cluster.runner, { concurrency: "unbounded" })
        yield* Stream.runDrain(Durable.startAll(Stream.fromIterable(all)))
        const counts = yield* Effect.repeat(Durable.counts, {
          until: (now) =>
            now.every(({ jobs: left, state }) => left === 0 || state === "Completed" || state === "Failed"),
          schedule: Schedule.spaced("1 second")
        })
        assert.strictEqual(counts.find(({ state }) => state === "Completed")?.jobs, jobs)
      }).pipe(Effect.provide(cluster.client))
      const { creations } = cluster.front
      const times = creations.filter(({ status }) => status === 200).map(({ at }) => at)
      const refused = creations.length - times.length
      const rate = (times.length - 1) / ((Math.max(...times) - Math.min(...times)) / 60_000)
      yield* Effect.log(`${times.length} created, ${rate.toFixed(1)} a minute, ${refused} refused`)
      if (isOff) return
      assert.isAtLeast(rate, 0.95 * created)
      assert.isAtMost(rate, 1.05 * created)
      assert.isAtMost(refused, Math.ceil(minutes))
    },
    { timeout: 120_000 + minutes * 150_000 }
  )
})
