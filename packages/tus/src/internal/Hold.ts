/**
 * Holding an upload of the journal: the wait for who holds it, and the end of the work when the lease is lost.
 */
import type { InvalidRequest } from "@assembly-effect/api/ApiError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { JournalFailed, UploadLeased } from "./JournalError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type * as UploadJournal from "../UploadJournal.ts"

type Waiting = Extract<UploadEvent.UploadEvent, { readonly _tag: "Waiting" }>

/** How often it is asked whether the holder has let go, or is known to be gone, in milliseconds. */
const every = 500

/** A lease that lasts longer, by a clock that is wrong for example, is not waited for. */
const longest = Duration.toMillis("1 minute")

type HoldError = JournalFailed | UploadLeased | InvalidRequest

/** Holds an upload. A holder that died lets its lease run out, so that one is waited for; a living one renews it. */
export const hold = (
  journal: UploadJournal.UploadJournal["Service"],
  key: string,
  emit: (event: Waiting) => void
): Effect.Effect<UploadJournal.Lease, HoldError, Scope.Scope> => {
  const attempt = (giveUpAt: number): Effect.Effect<UploadJournal.Lease, HoldError, Scope.Scope> =>
    journal.lease(key).pipe(
      Effect.catchTag("UploadLeased", (leased) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          if (now >= giveUpAt) return yield* leased
          yield* Effect.sleep(Duration.millis(Math.min(every, giveUpAt - now)))
          return yield* attempt(giveUpAt)
        })
      )
    )
  return journal.lease(key).pipe(
    Effect.catchTag("UploadLeased", ({ until }) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const giveUpAt = Math.min(until, now + longest) + 1
        const reason = "another process is at work on this upload, or was when it ended"
        emit(UploadEvent.Waiting({ reason, until: giveUpAt }))
        return yield* attempt(giveUpAt)
      })
    )
  )
}

/** Runs what needs the lease; it ends when the lease is lost. */
export const during = <A, E, R>(lease: UploadJournal.Lease, effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, lease.lost)
