import * as Template from "@assembly-effect/schema/Template"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `PUT /templates/:templateIdOrName`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Update = Operation.make({
  name: "Templates.update",
  method: "PUT",
  path: "/templates/:templateIdOrName",
  variables: { templateIdOrName: Template.IdOrName },
  auth: "signed",
  scope: "templates:write",
  carrier: "form",
  nonceIn: "params",
  params: Template.UpdateRequest,
  fields: Input.nothing,
  answers: "result",
  success: Template.Updated,
  errors: { TEMPLATE_NOT_FOUND: ApiError.TemplateNotFound, TEMPLATE_VALIDATION_ERROR: ApiError.TemplateInvalid },
  retry: []
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
  AssemblyClient.use((client) => client.run(Update, { path: { templateIdOrName }, params: request, fields: {} }))
