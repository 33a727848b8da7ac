/**
 * Operations of Assemblies: statistics and list (spec.md, "Endpoints" 1 and 2), and create, replace, get, watch, cancel
 * and replay. The last six are beyond the specification, which names them but does not define them.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as DateTime from "effect/DateTime"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"
import * as Pages from "./internal/pages.ts"

export {
  Cancel,
  cancel,
  Create,
  create,
  type CreateOptions,
  Get,
  get,
  newId,
  Replace,
  replace
} from "./internal/assemblies.ts"
export { type AssemblyError, awaitCompletion, type AwaitOptions, outcome, watch } from "./internal/follow.ts"

/** spec.md, "Limits": the `since` of statistics is at most 91 days ago. The value is in milliseconds. */
const limit = 91 * 24 * 60 * 60 * 1000

/**
 * Matches an ISO 8601 instant. Only a text with `Z` or an offset is unambiguous; the service interprets other texts.
 */
const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/

/** The time in milliseconds; `NaN` if the text is not an instant. */
const instantOf = (since: AssemblyStatistics.Query["since"]): number =>
  DateTime.isDateTime(since) ? DateTime.toEpochMillis(since) : instantText.test(since) ? Date.parse(since) : NaN

/**
 * A `since` of exactly 91 days ago is permitted. A text that is not an instant passes, because only the service can
 * interpret such a text.
 */
const checkSince = ({ since }: AssemblyStatistics.Query, now: DateTime.Utc): ReadonlyArray<Issue> =>
  instantOf(since) < DateTime.toEpochMillis(now) - limit
    ? [{ path: ["since"], message: "Expected a time at most 91 days ago" }]
    : []

/**
 * `GET /assembly_stats`
 *
 * @since 0.1.0
 * @category operations
 */
export const Statistics = Operation.make("Assemblies.statistics", "GET /assembly_stats", {
  scope: "assemblies:read",
  params: AssemblyStatistics.Query,
  success: AssemblyStatistics.Statistics,
  errors: {
    ASSEMBLY_STATS_INVALID_TIME: ApiError.StatisticsInvalidTime,
    ASSEMBLY_STATS_MISSING_REGION: ApiError.StatisticsMissingRegion,
    ASSEMBLY_STATS_ERROR: ApiError.StatisticsUnavailable
  },
  check: checkSince
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
export const statistics = (query: AssemblyStatistics.Query) => Operation.run(Statistics, {}, query)

/**
 * `GET /assemblies`
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("Assemblies.list", "GET /assemblies", {
  scope: "assemblies:read",
  nonceIn: "auth",
  params: AssemblyList.Query,
  success: AssemblyList.Listing,
  errors: { ASSEMBLY_LIST_ERROR: ApiError.AssemblyListFailed }
})

/**
 * Lists one page of the Assemblies that were created between `fromDate` and `toDate`, newest first. `toDate` is
 * optional. The service counts in whole seconds: `fromDate` is rounded down and `toDate` up.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.list({ fromDate: DateTime.subtract(now, { hours: 1 }), pageSize: 100 })
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (query: AssemblyList.Query) => Operation.run(List, {}, query)

/**
 * Streams the pages of a list, starting at `query.page`. A page is requested when the previous page is emitted, so the
 * request runs while the previous page is processed. Nothing is requested before the first page is pulled.
 *
 * **Stability.** The service lists newest first, so Assemblies that are created during the walk through the pages shift
 * the other Assemblies to later pages. An entry of the last two pages is dropped if it appears again, so no entry is
 * missed or repeated as long as fewer than `pageSize` Assemblies are created between two requests. Under the same
 * condition, Assemblies that are created during the walk are not listed. With a `toDate` in the past, new Assemblies
 * shift no entry. Assemblies that leave the list during the walk, for example with the `type` `executing`, shift the
 * other Assemblies to earlier pages. For each Assembly that left the list, the stream may miss one entry.
 *
 * @since 0.1.0
 * @category operations
 */
export const listPages = (query: AssemblyList.Query) => Pages.walk(query, list)

/**
 * Streams the entries of all pages, newest first. {@link listPages} describes when an entry may be missed or repeated.
 * Holds two pages in memory.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.listAll({ fromDate: DateTime.subtract(now, { days: 7 }), type: "failed", pageSize: 500 }).pipe(
 *     Stream.runForEach((entry) => Console.log(entry.id))
 *   )
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const listAll = (query: AssemblyList.Query) =>
  Stream.flatMap(listPages(query), ({ items }) => Stream.fromIterable(items))

/**
 * `POST /assemblies/:assemblyId/replay`. The operation is beyond the specification, which names it but does not define
 * it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replay = Operation.make("Assemblies.replay", "POST /assemblies/:assemblyId/replay", {
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assemblies:write",
  params: AssemblyReplay.ReplayRequest,
  success: AssemblyReplay.Replayed,
  creates: true
})

/**
 * Runs the files of an Assembly again, as a new Assembly. Without `request`, the new Assembly has the same Steps. The
 * id of the new Assembly is the `assembly_id` of the result.
 *
 * Beyond the specification.
 *
 * @example
 * Assemblies.replay(assemblyId, { reparseTemplate: true })
 *
 * @since 0.1.0
 * @category operations
 */
export const replay = (assemblyId: Assembly.AssemblyId, request: AssemblyReplay.ReplayRequest = {}) =>
  Operation.run(Replay, { assemblyId }, request)
