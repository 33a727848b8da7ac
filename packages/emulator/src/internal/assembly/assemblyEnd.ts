import * as Effect from "effect/Effect"
import * as AssemblyStore from "./assemblyStore.ts"
import * as Notifications from "../notifications/notifications.ts"
import * as Updates from "./updates.ts"

/**
 * Ends Assemblies. The end of an Assembly is stored before a notification and the live updates report the end. An
 * Assembly ends only once.
 */
export const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const notifications = yield* Notifications.Notifications
  const updates = yield* Updates.Updates

  return {
    end: Effect.fnUntraced(function* (id: string, outcome: AssemblyStore.Outcome) {
      if (!(yield* assemblies.end(id, outcome))) return
      yield* notifications.notify(id)
      yield* updates.publish(outcome.failure === undefined ? Updates.finished(id) : Updates.failed(id, outcome.failure))
    }, Effect.uninterruptible),
    stop: Effect.fnUntraced(function* (id: string, state: "canceled" | "request_aborted") {
      if (!(yield* assemblies.stop(id, state))) return
      yield* notifications.notify(id)
      yield* updates.publish(Updates.finished(id))
    }, Effect.uninterruptible)
  }
})
