/**
 * Keeps the state of a running upload.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Change, UploadState } from "../UploadState.ts"

/**
 * - `state`: the current state.
 * - `note`: changes the state without storing it. A crash may lose this change, which is harmless, because a later run
 *   requests this state from the server.
 * - `update`: changes the state and stores it. The next step starts after the state is stored, so a crash cannot lose
 *   the change.
 * - `isKept`: whether a later run can find the state. If not, the parts of a failed upload are useless.
 */
export interface StateStore<E> {
  readonly state: () => UploadState
  readonly note: (change: Change) => void
  readonly update: (change: Change) => Effect.Effect<void, E>
  readonly isKept: boolean
}

/** A store in memory. A crash loses the state. */
export const forgetful = (initial: UploadState): StateStore<never> => {
  let state = initial
  const note = (change: Change) => {
    state = change(state)
  }
  return { state: () => state, note, update: (change) => Effect.sync(() => note(change)), isKept: false }
}

/**
 * A store that calls `write` to save a state. Writes run one after another, each with the current state, so that a late
 * write cannot replace a newer state. One write may save several updates.
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
