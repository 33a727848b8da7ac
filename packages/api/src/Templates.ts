/**
 * Operations of Templates. These operations are beyond the specification, which names them but does not define them.
 *
 * The index does not export this module: `import * as Templates from "@assembly-effect/api/Templates"`.
 */
import * as Template from "@assembly-effect/schema/Template"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"
import * as Pages from "./internal/pages.ts"

/**
 * `POST /templates`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make("Templates.create", "POST /templates", {
  scope: "templates:write",
  params: Template.CreateRequest,
  success: Template.Created,
  errors: { TEMPLATE_VALIDATION_ERROR: ApiError.TemplateInvalid }
})

/**
 * Creates a Template. The Steps of the Template are checked by the rules of `Instructions.make` before anything is
 * sent.
 *
 * Beyond the specification.
 *
 * @example
 * Templates.create({
 *   name: "store",
 *   template: { steps: { stored: { robot: "/transloadit/store", use: ":original" } }, allow_steps_override: false }
 * })
 *
 * @since 0.1.0
 * @category operations
 */
export const create = (request: Template.CreateRequest) => Operation.run(Create, {}, request)

/**
 * `GET /templates/:templateIdOrName`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make("Templates.get", "GET /templates/:templateIdOrName", {
  variables: { templateIdOrName: Template.IdOrName },
  scope: "templates:read",
  success: Template.Found,
  errors: { TEMPLATE_NOT_FOUND: ApiError.TemplateNotFound }
})

/**
 * Gets a Template by its id or its name. The content of the Template is decoded, whether the service sends an object or
 * JSON text.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(Templates.get("thumbnails"), ({ content }) => content.steps)
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (templateIdOrName: string) => Operation.run(Get, { templateIdOrName }, {})

/**
 * `GET /templates`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("Templates.list", "GET /templates", {
  scope: "templates:read",
  params: Template.Query,
  success: Template.Page,
  errors: { TEMPLATE_LIST_ERROR: ApiError.TemplateListFailed }
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
export const list = (query: Template.Query = {}) => Operation.run(List, {}, query)

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

/**
 * `DELETE /templates/:templateIdOrName`. The operation is beyond the specification, which names it but does not define
 * it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make("Templates.delete", "DELETE /templates/:templateIdOrName", {
  variables: { templateIdOrName: Template.IdOrName },
  scope: "templates:write",
  success: Template.Deleted,
  errors: { TEMPLATE_NOT_FOUND: ApiError.TemplateNotFound }
})

/**
 * Deletes a Template.
 *
 * Beyond the specification.
 *
 * @example
 * Templates.delete("thumbnails")
 *
 * @since 0.1.0
 * @category operations
 */
const remove = (templateIdOrName: string) => Operation.run(Delete, { templateIdOrName }, {})

/**
 * `PUT /templates/:templateIdOrName`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Update = Operation.make("Templates.update", "PUT /templates/:templateIdOrName", {
  variables: { templateIdOrName: Template.IdOrName },
  scope: "templates:write",
  params: Template.UpdateRequest,
  success: Template.Updated,
  errors: { TEMPLATE_NOT_FOUND: ApiError.TemplateNotFound, TEMPLATE_VALIDATION_ERROR: ApiError.TemplateInvalid }
})

/**
 * Changes a Template. A field that is absent from the request keeps its value, and `template` replaces the whole
 * content.
 *
 * Beyond the specification.
 *
 * @example
 * Templates.update("thumbnails", { requireSignatureAuth: true })
 *
 * @since 0.1.0
 * @category operations
 */
export const update = (templateIdOrName: string, request: Template.UpdateRequest) =>
  Operation.run(Update, { templateIdOrName }, request)

export { remove as delete }
