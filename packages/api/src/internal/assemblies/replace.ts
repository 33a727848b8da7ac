import * as Assembly from "@assembly-effect/schema/Assembly"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"
import * as Steps from "../steps.ts"

/**
 * The params and form fields of an Assembly that replaces another Assembly.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReplaceOptions extends Assembly.CreateParams, Assembly.CreateForm {}

/**
 * `PUT /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replace = Operation.make({
  name: "Assemblies.replace",
  method: "PUT",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assemblies:write",
  carrier: "multipart",
  params: Assembly.CreateParams,
  fields: Assembly.CreateForm,
  answers: "assemblyStatus",
  success: Assembly.Status,
  creates: true,
  check: Steps.check
})

/**
 * Creates an Assembly under an id that may already be in use: the new Assembly then replaces the old one.
 * `Assemblies.create` never replaces an Assembly.
 *
 * The request is not repeated if the service may have carried it out. If the response is lost, the operation fails and
 * reads no Status, because a Status would not show to which of the two Assemblies it belongs.
 *
 * Beyond the specification.
 *
 * @example
 * Assemblies.replace(assemblyId, { steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 *
 * @since 0.1.0
 * @category operations
 */
export const replace = (assemblyId: Assembly.AssemblyId, options: ReplaceOptions) =>
  AssemblyClient.use((client) => client.run(Replace, { path: { assemblyId }, ...Steps.partsOf(options) }))
