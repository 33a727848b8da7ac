/**
 * Keeps the state of a running upload.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Change, UploadState } from "./uploadState.ts"

/**
 * Runs a request that creates an upload, and stores the state of the upload before and after the request. If the caller
 * is interrupted after the request was sent, the response is still awaited for a short time and stored. Without the
 * response, a later run would not know whether the request created an upload.
 *
 * - `sending`: stores that the request may be sent.
 * - `answered`: sends the request, and stores what the response says.
 * - `refused`: stores that the request was not sent.
 */
export type Settle = <A, E, E2, R>(request: {
  readonly sending: Effect.Effect<void, E>
  readonly answered: Effect.Effect<A, E2, R>
  readonly refused: Effect.Effect<void>
}) => Effect.Effect<A, E | E2, R>

/**
 * - `state`: the current state.
 * - `update`: changes the state and stores it. The next step starts after the state is stored, so a crash cannot lose
 *   the change.
 * - `settle`: see {@link Settle}. `settle` is undefined if no later run can find the state: then the parts of a failed
 *   upload are useless. The function is passed as a value, so that a bundle without a journal does not contain it.
 */
export interface StateStore<E> {
  readonly state: () => UploadState
  readonly update: (change: Change) => Effect.Effect<void, E>
  readonly settle?: Settle | undefined
}

/** A store in memory. A crash loses the state. */
export const forgetful = (initial: UploadState): StateStore<never> => {
  let state = initial
  return {
    state: () => state,
    update: (change) =>
      Effect.sync(() => {
        state = change(state)
      })
  }
}

/**
 * A store that calls `write` to save a state. Changes run one after another, each with the state after the change before
 * it. A state that could not be written is written with the next change.
 */
export const written = <E>(
  initial: UploadState,
  settle: Settle,
  write: (state: UploadState) => Effect.Effect<void, E>
): StateStore<E> => {
  const { state, update } = forgetful(initial)
  const changing = Semaphore.makeUnsafe(1)
  let saved: UploadState | undefined = initial
  return {
    state,
    settle,
    update: (change) =>
      Effect.flatMap(update(change), () => {
        const now = state()
        if (now === saved) return Effect.void
        // A write that fails may have changed the store all the same.
        saved = undefined
        return Effect.map(write(now), () => {
          saved = now
        })
      }).pipe(changing.withPermits(1))
  }
}
