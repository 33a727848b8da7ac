import * as Operations from "@assembly-effect/api/Queues"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import type * as Queue from "@assembly-effect/schema/Queue"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Asked from "../statistics/asked.ts"
import * as SlotStore from "./slotStore.ts"
import type * as SlotUse from "./slotUse.ts"

const invalidRegion = (message: string) => Refusal.refuse("PRIORITY_JOB_SLOT_STATS_MISSING_REGION", 400, message)
const invalidTime = (message: string) => Refusal.refuse("PRIORITY_JOB_SLOT_STATS_INVALID_TIME", 400, message)

/**
 * Reports a missing or invalid region first, then an invalid aggregation. A form or `params` that cannot be read has
 * the error code of a missing region. All other issues have the error code of an invalid time.
 */
const invalid = (issues: ReadonlyArray<Issue>): Refusal.Refusal => {
  const message = Refusal.explain(issues)
  const has = (...keys: ReadonlyArray<PropertyKey | undefined>) => issues.some(({ path: [key] }) => keys.includes(key))
  if (has("region", "params", undefined)) return invalidRegion(message)
  return has("aggregation")
    ? Refusal.refuse("PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION", 400, message)
    : invalidTime(message)
}

const unavailable = Refusal.refuse("PRIORITY_JOB_SLOT_STATS_ERROR", 500, "The statistics cannot be read from the disk.")

/** The longest time window with a bucket for each minute. A longer time window has a bucket for each hour. */
const longestInMinutes = Duration.days(1)

/** The length of a bucket in seconds. */
const granularityOf = (since: DateTime.Utc, now: DateTime.Utc): number =>
  DateTime.isLessThan(since, DateTime.subtractDuration(now, longestInMinutes)) ? 3600 : 60

const toBucket =
  (aggregation: "avg" | "max") =>
  ({ average, most, start }: SlotUse.BucketUse): Queue.Bucket => ({
    data_from_ts: start / 1000,
    avg_slot_count: average,
    max_slot_count: most,
    slot_count: aggregation === "avg" ? average : most
  })

const routes = Effect.gen(function* () {
  const slots = yield* SlotStore.make

  return yield* Effect.all([
    Route.signed(Operations.JobSlots, {
      handle: ({ authKey }) =>
        Effect.map(slots.current(authKey.workspace), (current) =>
          Route.success("PRIORITY_JOB_SLOTS_FOUND", "The priority job slots were found.", {
            priority_job_slots: current
          })
        )
    }),
    Route.signed(Operations.Statistics, {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const { now, since } = yield* Asked.read(params, { invalidRegion, invalidTime })
        const granularity = granularityOf(since, now)
        const aggregation = params.aggregation ?? "avg"
        const { average, buckets, most } = yield* slots
          .history({ workspace: authKey.workspace, region: params.region, since }, granularity * 1000)
          .pipe(
            Effect.catchTag("StorageFailed", ({ message }) =>
              Effect.andThen(Effect.logError(`Queues.statistics: ${message}`), Effect.fail(unavailable))
            )
          )
        return Route.success("PRIORITY_JOB_SLOT_STATS_FOUND", "The statistics of the priority job slots were found.", {
          aggregation,
          avgSlotCount: average,
          maxSlotCount: most,
          granularity,
          stats: buckets.map(toBucket(aggregation))
        })
      })
    })
  ])
})

/**
 * The routes `/queues/job_slots` and `/priority_job_slot_stats`. The details of these routes are beyond the
 * specification, which names the operations but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
