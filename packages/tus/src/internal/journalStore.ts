/**
 * Writes the state of an upload into the journal before the next step of the upload starts.
 */
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

/** After an interruption, the response to a request that has been sent is awaited for at most `grace`. */
export const settle: StateStore.Settle = ({ answered, refused, sending }) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      yield* Effect.onInterrupt(restore(sending), () => refused)
      const fiber = yield* Effect.forkChild(answered, { startImmediately: true })
      const end = Effect.andThen(
        Effect.timeoutOrElse(Fiber.await(fiber), { duration: grace, orElse: () => Effect.void }),
        Fiber.interrupt(fiber)
      )
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
