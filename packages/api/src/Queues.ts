/**
 * Operations of priority job slots. These operations are beyond the specification, which names them but does not define
 * them.
 *
 * The index does not export this module: `import * as Queues from "@assembly-effect/api/Queues"`.
 */
import * as Queue from "@assembly-effect/schema/Queue"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"

/**
 * `GET /queues/job_slots`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const JobSlots = Operation.make("Queues.jobSlots", "GET /queues/job_slots", {
  scope: "queues:read",
  success: Queue.JobSlots
})

/**
 * Gets the priority job slots that are in use now.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(Queues.jobSlots, ({ priority_job_slots }) => priority_job_slots.count)
 *
 * @since 0.1.0
 * @category operations
 */
export const jobSlots = Operation.run(JobSlots, {}, {})

/**
 * `GET /priority_job_slot_stats`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Statistics = Operation.make("Queues.statistics", "GET /priority_job_slot_stats", {
  scope: "queues:read",
  params: Queue.StatisticsQuery,
  success: Queue.Statistics,
  errors: {
    PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION: ApiError.JobSlotStatisticsInvalidAggregation,
    PRIORITY_JOB_SLOT_STATS_INVALID_TIME: ApiError.JobSlotStatisticsInvalidTime,
    PRIORITY_JOB_SLOT_STATS_MISSING_REGION: ApiError.JobSlotStatisticsMissingRegion,
    PRIORITY_JOB_SLOT_STATS_ERROR: ApiError.JobSlotStatisticsUnavailable
  }
})

/**
 * Gets the statistics of the priority job slots in a region, from `since` until now.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Queues.statistics({ region: "eu-west-1", since: DateTime.subtract(now, { days: 7 }), aggregation: "max" })
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const statistics = (query: Queue.StatisticsQuery) => Operation.run(Statistics, {}, query)
