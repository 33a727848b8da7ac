import * as Queue from "@assembly-effect/schema/Queue"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /priority_job_slot_stats`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Statistics = Operation.make({
  name: "Queues.statistics",
  method: "GET",
  path: "/priority_job_slot_stats",
  variables: {},
  auth: "signed",
  scope: "queues:read",
  carrier: "query",
  nonceIn: "params",
  params: Queue.StatisticsQuery,
  fields: Input.nothing,
  answers: "result",
  success: Queue.Statistics,
  errors: {
    PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION: ApiError.JobSlotStatisticsInvalidAggregation,
    PRIORITY_JOB_SLOT_STATS_INVALID_TIME: ApiError.JobSlotStatisticsInvalidTime,
    PRIORITY_JOB_SLOT_STATS_MISSING_REGION: ApiError.JobSlotStatisticsMissingRegion,
    PRIORITY_JOB_SLOT_STATS_ERROR: ApiError.JobSlotStatisticsUnavailable
  },
  retry: "safe"
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
export const statistics = (query: Queue.StatisticsQuery) =>
  AssemblyClient.use((client) => client.run(Statistics, { path: {}, params: query, fields: {} }))
