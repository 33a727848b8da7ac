/**
 * Writes the state of an upload into the journal before the next step of the upload starts.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { JournalFailed, LeaseLost } from "./journalError.ts"
import type * as UploadJournal from "../UploadJournal.ts"
import type { UploadState } from "./uploadState.ts"
import * as JournalEntry from "./journalEntry.ts"
import * as Settled from "./settled.ts"
import * as StateStore from "./stateStore.ts"

/** The errors that can occur when a state is stored. */
export type KeepError = JournalFailed | LeaseLost | InvalidRequest

/** A store for the upload with one key, while its lease is held. */
export const make = (options: {
  readonly journal: UploadJournal.UploadJournal["Service"]
  readonly lease: UploadJournal.Lease
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
  return { ...store, settle: Settled.settle }
}
