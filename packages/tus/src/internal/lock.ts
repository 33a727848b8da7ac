/**
 * Leases that use the locks of a platform. These leases need no renewal, because the platform releases a lock when its
 * holder ends.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type JournalFailed, LeaseLost, UploadLeased } from "./journalError.ts"
import type { Key, Lease, Locks } from "../UploadJournal.ts"

/**
 * Takes the lock of a key. If another holder has the lock, fails with `UploadLeased`, whose `until` is `millis`
 * milliseconds from now.
 */
export const make =
  (
    locks: Locks,
    { millis }: { readonly millis: number }
  ): ((key: Key) => Effect.Effect<Lease, JournalFailed | UploadLeased, Scope.Scope>) =>
  (key) =>
    Effect.gen(function* () {
      const held = yield* locks.lock(key)
      if (held === undefined) {
        return yield* new UploadLeased({ key, until: (yield* Clock.currentTimeMillis) + millis })
      }
      const loss = yield* Deferred.make<never, LeaseLost>()
      yield* Effect.forkScoped(
        Effect.flatMap(held.lost, (description) =>
          Deferred.fail(loss, new LeaseLost({ key, description: description }))
        )
      )
      const lost = Deferred.await(loss)
      return { lost, check: Effect.suspend(() => (Deferred.isDoneUnsafe(loss) ? lost : Effect.void)) }
    })
