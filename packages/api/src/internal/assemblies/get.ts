import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make({
  name: "Assemblies.get",
  method: "GET",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  answers: "assemblyStatus",
  success: Assembly.Status
})

/**
 * Gets the Status of an Assembly. The Status of a failed Assembly is a success of this operation.
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (assemblyId: Assembly.AssemblyId) =>
  AssemblyClient.use((client) => client.run(Get, { path: { assemblyId }, params: {}, fields: {} }))

/** {@link get} as a part of another operation, which an `InvalidRequest` names. */
export const getFor = (operation: string, assemblyId: Assembly.AssemblyId): ReturnType<typeof get> =>
  Effect.mapError(get(assemblyId), (error) =>
    error._tag === "InvalidRequest" ? new InvalidRequest({ ...error, operation }) : error
  )
