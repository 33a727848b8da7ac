import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  /** The request that holds the lock, and the waiting requests, in the order of their arrival. */
  readonly queue: Set<Deferred.Deferred<void>>
}

const make = Effect.sync(() => {
  const locks = new Map<string, Lock>()

  /**
   * Finds or creates the lock and enters its queue. Both actions are one synchronous step, because the last request
   * that leaves the queue also removes the lock. Otherwise the lock could be removed between the two actions.
   */
  const enter = (id: string) =>
    Effect.sync(() => {
      const lock: Lock = locks.get(id) ?? { semaphore: Semaphore.makeUnsafe(1), queue: new Set() }
      locks.set(id, lock)
      for (const earlier of lock.queue) Deferred.doneUnsafe(earlier, Effect.void)
      const asked = Deferred.makeUnsafe<void>()
      lock.queue.add(asked)
      return { lock, asked }
    })

  const leave = (id: string, lock: Lock, asked: Deferred.Deferred<void>) =>
    Effect.sync(() => {
      lock.queue.delete(asked)
      if (lock.queue.size === 0) locks.delete(id)
    })

  return {
    /**
     * Runs `work` with the lock. `asked` completes when a later request wants the lock. Only long work has to observe
     * `asked`.
     */
    hold: <A, E, R>(id: string, work: (asked: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        enter(id),
        ({ asked, lock }) => lock.semaphore.withPermit(Effect.suspend(() => work(Deferred.await(asked)))),
        ({ asked, lock }) => leave(id, lock, asked)
      )
  }
})

/**
 * Lets one request at a time append to an upload, read its offset or terminate the upload. A download needs no lock. A
 * new request asks all earlier requests to release the lock. Otherwise a client that reconnects would wait until the
 * server notices the broken connection.
 */
export class UploadLocks extends Context.Service<UploadLocks>()("@assembly-effect/emulator/UploadLocks", { make }) {}

export const layer = Layer.effect(UploadLocks, UploadLocks.make)
