/** Cancels the Assembly of an attempt. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { InvalidSecret } from "../DurableError.ts"
import type { Derive } from "./derive.ts"
import type { Row } from "./store.ts"

/** The service accepted the cancellation, and the Assembly runs all the same. */
class StillRuns extends Data.TaggedError("StillRuns") {
  override get message() {
    return "the service answers that the Assembly still runs"
  }
}

/** Why it is not known that the Assembly has ended. */
export type CancelError = InvalidSecret | StillRuns | Effect.Error<ReturnType<typeof Assemblies.cancel>>

/** Whether the service knows no such Assembly. */
export const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

/**
 * Cancels an Assembly, and returns whether it has completed before. An Assembly that does not exist needs no
 * cancellation. It is asked for a few times, because its creation may still be on its way.
 */
const cancelAssembly = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.filterOrFail(Assembly.isOver, () => new StillRuns()),
    Effect.map((status) => Assembly.state(status) === "Completed"),
    Effect.retry({ while: isNotFound, schedule: Schedule.exponential("200 millis"), times: 2 }),
    Effect.catchIf(isNotFound, () => Effect.succeed(false))
  )

/** How often {@link cancel} is tried again. */
export const tries = {
  while: ({ _tag }: CancelError) => _tag !== "InvalidSecret",
  schedule: Schedule.exponential("200 millis"),
  times: 4
}

/**
 * Cancels what exists of an attempt, and returns whether its Assembly had completed before. Succeeds only if the Assembly
 * surely does not run.
 */
export const cancel = (
  derive: Derive,
  row: Row,
  execution: string
): Effect.Effect<boolean, CancelError, AssemblyClient> =>
  row.begins === 0 ? Effect.succeed(false) : Effect.flatMap(derive.assemblyId(row, execution), cancelAssembly)
