/**
 * The places of running Assemblies in the budget of an account.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Assemblies from "../Assemblies.ts"
import { isNotFound } from "./ErrorDetails.ts"
import { AssemblyClient } from "./Operation.ts"

/**
 * Reads whether an Assembly whose holder has died still runs. With this `Watcher` of the budget in its context, a
 * program that does not wait for the end of an Assembly holds a place among the running ones, which the host then prolongs
 * and releases. An Assembly that waits for files runs nothing, and may do so for hours, so it loses its place. One whose
 * Status cannot be read keeps its place.
 *
 * @since 0.1.0
 * @category running
 */
export const watcher: Effect.Effect<Budget.Watcher, never, AssemblyClient> = Effect.map(AssemblyClient, (client) => ({
  isRunning: (assemblyId) =>
    Assemblies.get(Assembly.AssemblyId.make(assemblyId)).pipe(
      Effect.map((status) => Assembly.state(status) === "Busy" && status.ok !== "ASSEMBLY_UPLOADING"),
      Effect.catch((error) => Effect.succeed(!isNotFound(error))),
      Effect.provideService(AssemblyClient, client)
    )
}))

/**
 * Holds the place of an Assembly while `effect` creates it and uploads its files. With `toEnd`, `effect` also waits for the
 * end of the Assembly, so the place is free after it. After an interruption the Assembly may still run, so nobody prolongs
 * the place any more, and the next program that waits reads the Status. Without `toEnd`, a host watches, if it has provided
 * a `Watcher`.
 *
 * @since 0.1.0
 * @category running
 */
export const watched = Effect.fnUntraced(function* <A, E, R>(
  assemblyId: Assembly.AssemblyId,
  toEnd: boolean,
  effect: Effect.Effect<A, E, R>
) {
  const budget = yield* Budget.Budget
  const host = yield* Budget.Watcher
  if (budget === undefined || (host === undefined && !toEnd)) return yield* effect
  const { origins } = yield* AssemblyClient
  const [url] = origins.entries
  const kept = Effect.forever(Effect.andThen(Effect.sleep(Budget.renewal), budget.keep(url, assemblyId)))
  return yield* Effect.provideService(effect, Budget.Watcher, host ?? (yield* watcher)).pipe(
    Effect.raceFirst(kept),
    Effect.onExit((exit) =>
      host !== undefined || Exit.hasInterrupts(exit) ? Effect.void : budget.release(url, assemblyId)
    )
  )
})
