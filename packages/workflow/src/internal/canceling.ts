/** Cancels the Assembly of an attempt. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { InvalidSecret } from "../DurableError.ts"
import type { Derive } from "./derive.ts"
import type { Row } from "./store.ts"

/** The errors of a cancellation. After such an error, the Assembly may still run. */
export type CancelError = InvalidSecret | Effect.Error<ReturnType<typeof Assemblies.cancel>>

/** Whether an error says that the service has no Assembly with this id. */
export const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

/**
 * Cancels an Assembly, and returns whether the Assembly had completed before. If the service has no such Assembly, the
 * request is repeated twice, because the request that creates the Assembly may still arrive. If the Assembly is then
 * still missing, nothing has to be canceled.
 */
const cancelAssembly = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.map((status) => Assembly.state(status) === "Completed"),
    Effect.retry({ while: isNotFound, schedule: Schedule.exponential("200 millis"), times: 2 }),
    Effect.catchIf(isNotFound, () => Effect.succeed(false))
  )

/** How callers repeat {@link cancel} after a failure. */
export const tries = {
  while: ({ _tag }: CancelError) => _tag !== "InvalidSecret",
  schedule: Schedule.exponential("200 millis"),
  times: 4
}

/**
 * Cancels the Assembly of an attempt, and returns whether the Assembly had completed before. Succeeds only if no runner
 * has begun the attempt, or if the service has confirmed that the Assembly does not run.
 */
export const cancel = (
  derive: Derive,
  row: Row,
  execution: string
): Effect.Effect<boolean, CancelError, AssemblyClient> =>
  row.begins === 0 ? Effect.succeed(false) : Effect.flatMap(derive.assemblyId(row, execution), cancelAssembly)
