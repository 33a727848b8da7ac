import * as Template from "@assembly-effect/schema/Template"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Pages from "../pages.ts"

/**
 * `GET /templates`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make({
  name: "Templates.list",
  method: "GET",
  path: "/templates",
  variables: {},
  auth: "signed",
  scope: "templates:read",
  carrier: "query",
  nonceIn: "params",
  params: Template.Query,
  fields: Input.nothing,
  answers: "result",
  success: Template.Page,
  errors: { TEMPLATE_LIST_ERROR: ApiError.TemplateListFailed },
  retry: "safe"
})

/**
 * Lists one page of the Templates of the Workspace.
 *
 * Beyond the specification.
 *
 * @example
 * Templates.list({ sort: "name", order: "asc", pageSize: 100 })
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (query: Template.Query = {}) =>
  AssemblyClient.use((client) => client.run(List, { path: {}, params: query, fields: {} }))

/**
 * Streams the pages of a list, starting at `query.page`. A page is requested when the previous page is emitted. Nothing
 * is requested before the first page is pulled.
 *
 * **Stability.** A Template that is created or deleted during the walk through the pages may shift other Templates to
 * another page. A Template of the last two pages is dropped if it appears again. If the query sorts by `created` in the
 * order `asc`, new Templates shift no other Template.
 *
 * Beyond the specification.
 *
 * @example
 * Templates.listPages({ pageSize: 500 }).pipe(Stream.runForEach(({ items }) => Console.log(items.length)))
 *
 * @since 0.1.0
 * @category operations
 */
export const listPages = (query: Template.Query = {}) => Pages.walk(query, list)

/**
 * Streams the Templates of all pages. {@link listPages} describes what happens if a Template is created or deleted
 * meanwhile. Holds two pages in memory.
 *
 * Beyond the specification.
 *
 * @example
 * Templates.listAll({ sort: "name", order: "asc" }).pipe(Stream.runForEach(({ name }) => Console.log(name)))
 *
 * @since 0.1.0
 * @category operations
 */
export const listAll = (query: Template.Query = {}) =>
  Stream.flatMap(listPages(query), ({ items }) => Stream.fromIterable(items))
