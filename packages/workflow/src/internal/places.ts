/** The places of a runner: they limit the jobs and the files that it sends at the same time. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"

/** Runs `use` in a place. Its files take permits of `files`. */
type Take = <A, E, R>(
  isTakenOver: boolean,
  use: (files: Semaphore.Semaphore) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>

/**
 * `uploads` places, and as many again for jobs that another runner has left unfinished: such a job continues although
 * this runner is busy, so that a takeover does not take as long as an upload of this runner.
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
