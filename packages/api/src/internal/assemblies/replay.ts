import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `POST /assemblies/:assemblyId/replay`. The operation is beyond the specification, which names it but does not define
 * it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replay = Operation.make({
  name: "Assemblies.replay",
  method: "POST",
  path: "/assemblies/:assemblyId/replay",
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assemblies:write",
  params: AssemblyReplay.ReplayRequest,
  success: AssemblyReplay.Replayed,
  creates: true
})

/**
 * Runs the files of an Assembly again, as a new Assembly. Without `request`, the new Assembly has the same Steps. The
 * id of the new Assembly is the `assembly_id` of the result.
 *
 * Beyond the specification.
 *
 * @example
 * Assemblies.replay(assemblyId, { reparseTemplate: true })
 *
 * @since 0.1.0
 * @category operations
 */
export const replay = (assemblyId: Assembly.AssemblyId, request: AssemblyReplay.ReplayRequest = {}) =>
  AssemblyClient.use((client) => client.run(Replay, { path: { assemblyId }, params: request, fields: {} }))
