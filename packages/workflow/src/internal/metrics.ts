/** The metrics of durable jobs. They contain no key and no id. */
import { Clock, Effect, Metric } from "effect"
import type { Count, State } from "../DurableJob.ts"

const jobs = Metric.gauge("durable_jobs", { description: "Jobs in the database, by state" })

const age = Metric.gauge("durable_job_age", { description: "Seconds since the oldest open job was queued, by state" })

const ends = Metric.counter("durable_jobs_ended", { description: "Ended attempts", incremental: true })

const takeovers = Metric.counter("durable_takeovers", { description: "Jobs whose runner was lost", incremental: true })

/** Sets the gauges. A state without an open job has the age 0. */
export const counted = Effect.fnUntraced(function* (counts: ReadonlyArray<Count>) {
  const now = yield* Clock.currentTimeMillis
  for (const { jobs: total, oldest = now, state } of counts) {
    yield* Metric.update(Metric.withAttributes(jobs, { state }), total)
    yield* Metric.update(Metric.withAttributes(age, { state }), Math.max(0, now - oldest) / 1000)
  }
})

export const ended = (state: State): Effect.Effect<void> => Metric.update(Metric.withAttributes(ends, { state }), 1)

export const takenOver = (total: number): Effect.Effect<void> => Metric.update(takeovers, total)
