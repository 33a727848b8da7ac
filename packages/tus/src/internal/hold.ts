/**
 * Holds the lease of an upload or a job in the journal: waits for another holder, and stops the work when the lease is
 * lost.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { JournalFailed, UploadLeased } from "./journalError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type * as Journal from "./journal.ts"

type Waiting = Extract<UploadEvent.UploadEvent, { readonly _tag: "Waiting" }>

/** The pause between two attempts to acquire a lease, in milliseconds. */
const every = 500

/**
 * The maximum wait for a lease, in milliseconds. This limit matters if a clock is wrong, because a lease may then seem
 * to expire much later.
 */
const longest = Duration.toMillis("1 minute")

type HoldError = JournalFailed | UploadLeased | InvalidRequest

/**
 * Acquires the lease of an upload or a job. If another process holds the lease, tries again until that lease should
 * expire, at most for a minute. If the lease is still held then, fails with `UploadLeased`. A process that has ended
 * does not renew its lease.
 */
export const hold = (
  journal: Journal.UploadJournal["Service"],
  key: string,
  emit: (event: Waiting) => void
): Effect.Effect<Journal.Lease, HoldError, Scope.Scope> =>
  journal.lease(key).pipe(
    Effect.catchTag("UploadLeased", ({ until }) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const giveUpAt = Math.min(until, now + longest) + 1
        const seconds = Math.ceil((giveUpAt - now) / 1000)
        const reason = `another process holds the upload, or ended without releasing it (at most ${seconds} s)`
        emit(UploadEvent.Waiting({ reason, until: giveUpAt }))
        const left = Effect.map(Clock.currentTimeMillis, (time) => giveUpAt - time)
        return yield* left.pipe(
          Effect.flatMap((time) => Effect.sleep(Math.min(every, time))),
          Effect.andThen(journal.lease(key)),
          Effect.retry({
            while: (error) => Effect.map(left, (time) => error._tag === "UploadLeased" && time > 0)
          })
        )
      })
    )
  )

/** Runs an effect while the lease is held. The effect is interrupted when the lease is lost. */
export const during = <A, E, R>(lease: Journal.Lease, effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, lease.lost)
