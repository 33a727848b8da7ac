import * as Template from "@assembly-effect/schema/Template"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `POST /templates`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Create = Operation.make({
  name: "Templates.create",
  method: "POST",
  path: "/templates",
  variables: {},
  auth: "signed",
  scope: "templates:write",
  carrier: "form",
  nonceIn: "params",
  params: Template.CreateRequest,
  fields: Input.nothing,
  answers: "result",
  success: Template.Created,
  errors: { TEMPLATE_VALIDATION_ERROR: ApiError.TemplateInvalid },
  retry: []
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
export const create = (request: Template.CreateRequest) =>
  AssemblyClient.use((client) => client.run(Create, { path: {}, params: request, fields: {} }))
