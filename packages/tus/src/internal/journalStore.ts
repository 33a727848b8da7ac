/**
 * Writes the state of an upload into the journal before the next step of the upload starts.
 */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { JournalFailed, LeaseLost } from "./journalError.ts"
import type * as Journal from "./journal.ts"
import type { UploadState } from "./uploadState.ts"
import * as JournalEntry from "./journalEntry.ts"
import * as StateStore from "./stateStore.ts"

/** The errors that can occur when a state is stored. */
export type KeepError = JournalFailed | LeaseLost | InvalidRequest

/** How long an interruption waits for the response to a request that creates an upload. */
const grace = "2 seconds"

/**
 * After an interruption, a request that still waits for a permit of the rate limiter is not sent. If the request has
 * been sent, its response is awaited for at most `grace`.
 */
export const settle: StateStore.Settle = ({ answered, refused, sending }) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      let isSent = false
      yield* Effect.onInterrupt(restore(sending), () => refused)
      const depart = Effect.sync(() => {
        isSent = true
      })
      const fiber = yield* Effect.forkChild(Admission.onDeparture(answered, depart), { startImmediately: true })
      const end = Effect.gen(function* () {
        if (isSent) yield* Effect.timeoutOrElse(Fiber.await(fiber), { duration: grace, orElse: () => Effect.void })
        yield* Fiber.interrupt(fiber)
        if (!isSent) yield* refused
      })
      return yield* Effect.onInterrupt(restore(Fiber.join(fiber)), () => end)
    })
  )

/** A store for the upload with one key, while its lease is held. */
export const make = (options: {
  readonly journal: Journal.UploadJournal["Service"]
  readonly lease: Journal.Lease
  readonly key: string
  readonly about: JournalEntry.About
  readonly initial: UploadState
}): StateStore.StateStore<KeepError> => {
  const { about, initial, journal, key, lease } = options
  const store = StateStore.written(initial, (state) =>
    Effect.gen(function* () {
      // After the lease is lost, the entry may belong to another holder.
      yield* lease.check
      const entry = JournalEntry.fromState(state, about, yield* Clock.currentTimeMillis)
      yield* entry === undefined ? journal.forget(key) : journal.put(key, entry)
    })
  )
  return { ...store, settle }
}
