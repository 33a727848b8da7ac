import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Lookback from "../lookback.ts"

/**
 * `GET /assembly_stats`
 *
 * @since 0.1.0
 * @category operations
 */
export const Statistics = Operation.make({
  name: "Assemblies.statistics",
  method: "GET",
  path: "/assembly_stats",
  scope: "assemblies:read",
  params: AssemblyStatistics.Query,
  success: AssemblyStatistics.Statistics,
  errors: {
    ASSEMBLY_STATS_INVALID_TIME: ApiError.StatisticsInvalidTime,
    ASSEMBLY_STATS_MISSING_REGION: ApiError.StatisticsMissingRegion,
    ASSEMBLY_STATS_ERROR: ApiError.StatisticsUnavailable
  },
  check: Lookback.check
})

/**
 * Gets the statistics of the Assemblies in a region, from `since` until now.
 *
 * If `since` is more than 91 days ago, and is a `DateTime` or an ISO 8601 text with `Z` or an offset, the operation
 * fails with `InvalidRequest` and sends nothing. Any other text is validated by the service, whose error is
 * `StatisticsInvalidTime`.
 *
 * Without `templateId`, only the Assemblies without a Template are counted. `Assemblies.list` lists the Assemblies with
 * a Template too. With `templateId: "all"`, all Assemblies are counted.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.statistics({ region: "all", since: DateTime.subtract(now, { days: 7 }), templateId: "all" })
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const statistics = (query: AssemblyStatistics.Query) =>
  AssemblyClient.use((client) => client.run(Statistics, { path: {}, params: query, fields: {} }))
