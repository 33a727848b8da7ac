import * as Template from "@assembly-effect/schema/Template"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `DELETE /templates/:templateIdOrName`. The operation is beyond the specification, which names it but does not define
 * it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Delete = Operation.make({
  name: "Templates.delete",
  method: "DELETE",
  path: "/templates/:templateIdOrName",
  variables: { templateIdOrName: Template.IdOrName },
  auth: "signed",
  scope: "templates:write",
  carrier: "form",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: Template.Deleted,
  errors: { TEMPLATE_NOT_FOUND: ApiError.TemplateNotFound },
  retry: []
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
export const remove = (templateIdOrName: string) =>
  AssemblyClient.use((client) => client.run(Delete, { path: { templateIdOrName }, params: {}, fields: {} }))
