/**
 * Who keeps the state of an upload while it runs.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Change, UploadState } from "../UploadState.ts"

/**
 * - `state`: the state now.
 * - `note`: changes the state. A crash may lose this change: the server knows it.
 * - `update`: changes the state and keeps it. The next step is taken after that, so that a crash loses none.
 * - `isKept`: whether a later run finds the state. Where none does, nobody needs the parts of an upload that failed.
 */
export interface StateStore<E> {
  readonly state: () => UploadState
  readonly note: (change: Change) => void
  readonly update: (change: Change) => Effect.Effect<void, E>
  readonly isKept: boolean
}

/** A store that forgets: a crash loses the upload. */
export const forgetful = (initial: UploadState): StateStore<never> => {
  let state = initial
  const note = (change: Change) => {
    state = change(state)
  }
  return { state: () => state, note, update: (change) => Effect.sync(() => note(change)), isKept: false }
}

/**
 * A store that writes. One write follows the other, each of the state at that time: a late write must not undo a newer
 * one, and one may serve many updates.
 */
export const written = <E>(
  initial: UploadState,
  write: (state: UploadState) => Effect.Effect<void, E>
): StateStore<E> => {
  const { note, state } = forgetful(initial)
  const writing = Semaphore.makeUnsafe(1)
  let version = 0
  let versionWritten = 0
  return {
    state,
    note,
    update: (change) =>
      Effect.suspend(() => {
        const before = state()
        note(change)
        if (state() !== before) version++
        const own = version
        return writing.withPermits(1)(
          Effect.suspend(() => {
            if (versionWritten >= own) return Effect.void
            const now = version
            return Effect.map(write(state()), () => {
              versionWritten = now
            })
          })
        )
      }),
    isKept: true
  }
}
