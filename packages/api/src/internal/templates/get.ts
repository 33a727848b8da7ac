import * as Template from "@assembly-effect/schema/Template"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /templates/:templateIdOrName`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make({
  name: "Templates.get",
  method: "GET",
  path: "/templates/:templateIdOrName",
  variables: { templateIdOrName: Template.IdOrName },
  auth: "signed",
  scope: "templates:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: Template.Found,
  errors: { TEMPLATE_NOT_FOUND: ApiError.TemplateNotFound },
  retry: "safe"
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
export const get = (templateIdOrName: string) =>
  AssemblyClient.use((client) => client.run(Get, { path: { templateIdOrName }, params: {}, fields: {} }))
