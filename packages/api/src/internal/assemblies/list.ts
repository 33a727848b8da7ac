import * as Input from "../../unstable/Input.ts"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Pages from "../pages.ts"

/**
 * `GET /assemblies`
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make({
  name: "Assemblies.list",
  method: "GET",
  path: "/assemblies",
  variables: {},
  auth: "signed",
  scope: "assemblies:read",
  carrier: "query",
  nonceIn: "auth",
  params: AssemblyList.Query,
  fields: Input.nothing,
  answers: "result",
  success: AssemblyList.Listing,
  errors: { ASSEMBLY_LIST_ERROR: ApiError.AssemblyListFailed },
  retry: "safe"
})

/**
 * One page of the Assemblies created after a moment, newest first. The service counts in whole seconds: a fraction is
 * rounded down in `fromDate` and up in `toDate`.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.list({ fromDate: DateTime.subtract(now, { hours: 1 }), pageSize: 100 })
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (
  query: AssemblyList.Query
): Effect.Effect<
  AssemblyList.Page,
  | ApiError.AssemblyListFailed
  | ApiError.InvalidRequest
  | ApiError.AuthenticationFailed
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> => AssemblyClient.use((client) => client.run(List, { path: {}, params: query, fields: {} }))

/**
 * The pages of a list, from `query.page` on. A page is requested when the one before is handed out, so one request is
 * under way while a page is worked on, and nothing is requested before the first page is asked for.
 *
 * **Stability.** The service lists newest first, so Assemblies created while paging shift the rest towards later
 * pages. What was on one of the last two pages is left out when it comes again: nothing is missed and nothing comes
 * twice, as long as fewer than `pageSize` Assemblies are created between two requests. The new ones themselves are not
 * listed. With `toDate` in the past the list does not shift at all. Assemblies that leave the list while paging, such
 * as with `type: "executing"`, shift it the other way, and as many others may be missed.
 *
 * @since 0.1.0
 * @category operations
 */
export const listPages = (
  query: AssemblyList.Query
): Stream.Stream<
  AssemblyList.Page,
  | ApiError.AssemblyListFailed
  | ApiError.InvalidRequest
  | ApiError.AuthenticationFailed
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> => Pages.walk(query, list)

/**
 * The entries of all pages, newest first, each once; see {@link listPages}. Holds two pages in memory.
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
export const listAll = (
  query: AssemblyList.Query
): Stream.Stream<
  AssemblyList.Entry,
  | ApiError.AssemblyListFailed
  | ApiError.InvalidRequest
  | ApiError.AuthenticationFailed
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> => Stream.flatMap(listPages(query), ({ items }) => Stream.fromIterable(items))
