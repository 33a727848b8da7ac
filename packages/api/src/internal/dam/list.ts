import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Pages from "../pages.ts"

/**
 * `GET /dam/assets`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make({
  name: "Dam.list",
  method: "GET",
  path: "/dam/assets",
  variables: {},
  auth: "signed",
  scope: "dam:read",
  carrier: "query",
  nonceIn: "params",
  params: DamEntries.ListQuery,
  fields: Input.nothing,
  answers: "result",
  success: DamEntries.Page,
  errors: { DAM_INVALID_REQUEST: ApiError.DamInvalidRequest, DAM_RESOURCE_NOT_FOUND: ApiError.DamResourceNotFound },
  retry: "safe"
})

/**
 * Lists one page of the assets of the Workspace: at most `limit` assets, 100 by default. Use the `next_cursor` of a
 * page as the `cursor` of the next request. On the last page `next_cursor` is null.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.list({ prefix: "/reports/", limit: 500 })
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (query: DamEntries.ListQuery = {}) =>
  AssemblyClient.use((client) => client.run(List, { path: {}, params: query, fields: {} }))

/**
 * Streams the pages of a list, starting at `query.cursor`. A page is requested when it is pulled, because only the
 * previous page contains the cursor of the next page.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.listPages({ limit: 500 }).pipe(Stream.runForEach(({ assets }) => Console.log(assets.length)))
 *
 * @since 0.1.0
 * @category operations
 */
export const listPages = (query: DamEntries.ListQuery = {}) => Pages.follow("Dam.list", query, list)

/**
 * Streams the assets of all pages; see {@link listPages}. Holds one page in memory.
 *
 * Beyond the specification.
 *
 * @example
 * Dam.listAll({ prefix: "/reports/" }).pipe(Stream.runForEach(({ path }) => Console.log(path)))
 *
 * @since 0.1.0
 * @category operations
 */
export const listAll = (query: DamEntries.ListQuery = {}) =>
  Stream.flatMap(listPages(query), ({ assets }) => Stream.fromIterable(assets))
