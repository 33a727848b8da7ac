import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

/**
 * One request at a time for each upload. A request that comes while another holds the upload asks that one to let go:
 * a client that comes back after a broken connection must not wait until the server has noticed the break.
 */
export class UploadLocks extends Context.Service<
  UploadLocks,
  {
    /** Runs `work` alone. `asked` completes when a later request wants the upload; only long work need care. */
    readonly hold: <A, E, R>(
      id: string,
      work: (asked: Effect.Effect<void>) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
  }
>()("@assembly-effect/emulator/UploadLocks") {}

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  /** Everyone who holds the upload or waits for it, in the order in which they came. */
  readonly queue: Set<Deferred.Deferred<void>>
}

const make = Effect.sync(() => {
  const locks = new Map<string, Lock>()

  /** Looked up and entered in one step: between two, the last one to leave would take the lock away. */
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

  return UploadLocks.of({
    hold: (id, work) =>
      Effect.acquireUseRelease(
        enter(id),
        ({ asked, lock }) => lock.semaphore.withPermit(Effect.suspend(() => work(Deferred.await(asked)))),
        ({ asked, lock }) => leave(id, lock, asked)
      )
  })
})

export const layer: Layer.Layer<UploadLocks> = Layer.effect(UploadLocks, make)
