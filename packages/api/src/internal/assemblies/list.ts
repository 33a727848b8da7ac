import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
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
export const list = (query: AssemblyList.Query) =>
  AssemblyClient.use((client) => client.run(List, { path: {}, params: query, fields: {} }))

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
