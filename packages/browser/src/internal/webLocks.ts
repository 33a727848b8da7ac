/**
 * The Web Locks of a browser. A page or a worker holds a lock, and the browser releases the lock when its holder ends.
 */
import { JournalFailed, type Locks } from "@assembly-effect/tus/UploadJournal"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

interface Held {
  readonly lost: Deferred.Deferred<string>
  /** Releases the lock. The effect ends when the lock is free. */
  readonly release: Effect.Effect<void>
}

const problemOf = (error: unknown): string =>
  error instanceof Error || error instanceof DOMException
    ? `${error.name}: ${error.message}`
    : "the browser refused the lock"

/**
 * Takes a lock, unless another holder has it. If the browser grants the lock, the promise of `manager.request` settles
 * when the lock is released or stolen.
 */
const take = (manager: LockManager, name: string): Effect.Effect<Held | undefined, JournalFailed> =>
  Effect.callback<Held | undefined, JournalFailed>((resume) => {
    const lost = Deferred.makeUnsafe<string>()
    let isGranted = false
    const request = manager.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) return resume(Effect.succeed(undefined))
      isGranted = true
      return new Promise<void>((free) => {
        const release = Effect.andThen(
          Effect.sync(() => free()),
          Effect.promise(() => ended)
        )
        resume(Effect.succeed({ lost, release }))
      })
    })
    const ended = request.then(
      () => undefined,
      (error: unknown) => {
        if (isGranted) Deferred.doneUnsafe(lost, Effect.succeed("another page stole the lock"))
        else resume(Effect.fail(new JournalFailed({ action: "lease", description: problemOf(error) })))
      }
    )
  })

/** Locks whose names begin with a prefix. All pages and workers of an origin share these names. */
export const make = (manager: LockManager, prefix: string): Locks => ({
  lock: (key) =>
    Effect.acquireRelease(take(manager, `${prefix}/${key}`), (held) => held?.release ?? Effect.void).pipe(
      Effect.map((held) => (held === undefined ? undefined : { lost: Deferred.await(held.lost) }))
    )
})
