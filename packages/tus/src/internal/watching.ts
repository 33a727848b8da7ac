/** A job that watches its Assembly holds a place among the running Assemblies of the account. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"

/**
 * Reads the Status of an Assembly whose holder has died. An Assembly that waits for files runs nothing, and may do so for
 * hours, so it loses its place. One whose Status cannot be read keeps its place.
 */
export const watcher: Effect.Effect<Budget.Watcher, never, AssemblyClient> = Effect.map(AssemblyClient, (client) => ({
  isRunning: (assemblyId) =>
    Assemblies.get(Assembly.AssemblyId.make(assemblyId)).pipe(
      Effect.map((status) => Assembly.state(status) === "Busy" && status.ok !== "ASSEMBLY_UPLOADING"),
      Effect.catch((error) => Effect.succeed(!(error._tag === "ServiceFailure" && error.status === 404))),
      Effect.provideService(AssemblyClient, client)
    )
}))

/**
 * Holds the place of an Assembly while `effect` creates it and uploads its files. With `toEnd`, `effect` also waits for the
 * end of the Assembly, so the place is free after it. After an interruption the Assembly may still run, so nobody prolongs
 * the place any more, and the next program that waits reads the Status. Without `toEnd`, a host watches, if it has provided
 * a `Watcher`.
 */
export const watched = <A, E, R>(
  assemblyId: Assembly.AssemblyId,
  toEnd: boolean,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | AssemblyClient> =>
  Effect.gen(function* () {
    const budget = yield* Budget.Budget
    const host = yield* Budget.Watcher
    if (budget === undefined || (host === undefined && !toEnd)) return yield* effect
    const { origins } = yield* AssemblyClient
    const [url] = origins.entries
    const kept = Effect.repeat(budget.keep(url, assemblyId), Schedule.spaced(Budget.renewal))
    return yield* Effect.provideService(effect, Budget.Watcher, host ?? (yield* watcher)).pipe(
      Effect.raceFirst(Effect.andThen(Effect.sleep(Budget.renewal), Effect.andThen(kept, Effect.never))),
      Effect.onExit((exit) =>
        host !== undefined || Exit.hasInterrupts(exit) ? Effect.void : budget.release(url, assemblyId)
      )
    )
  })
