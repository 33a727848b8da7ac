/** The places of a runner. The number of places limits how many jobs and files the runner sends at the same time. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"

/**
 * Waits for a free place, and runs `use` while it has the place. The semaphore that `use` gets limits the files that
 * are sent at the same time.
 */
type Take = <A, E, R>(
  isTakenOver: boolean,
  use: (files: Semaphore.Semaphore) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>

/**
 * Makes `uploads` places for all jobs, and as many further places for jobs that another runner has left unfinished.
 * With these further places, an unfinished job of another runner does not wait for the uploads of this runner. Such a
 * job waits only if all places, with the further places, are taken.
 */
export const make = (uploads: number): Take => {
  const places = () => ({ jobs: Semaphore.makeUnsafe(uploads), files: Semaphore.makeUnsafe(uploads) })
  const ordinary = places()
  const further = places()
  return (isTakenOver, use) => {
    const own = use(ordinary.files)
    if (!isTakenOver) return ordinary.jobs.withPermit(own)
    return Effect.flatMap(
      ordinary.jobs.withPermitsIfAvailable(1)(own),
      Option.match({ onSome: Effect.succeed, onNone: () => further.jobs.withPermit(use(further.files)) })
    )
  }
}

export type Places = Take
