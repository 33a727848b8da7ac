/**
 * Removes the orphans of an upload from the server: the upload or its parts, if no later run continues them.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Tus from "../Tus.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import type { Upload } from "./context.ts"
import type { Policy } from "./policy.ts"
import * as UploadState from "./uploadState.ts"
import { inTime } from "./requests.ts"

/**
 * Terminates each orphan. A completed upload is a file of the Assembly, and so may be the parts of an upload whose
 * creation of the final upload may have been sent. An upload at an unknown URL expires on the server.
 */
const each = <E>(
  state: UploadState.UploadState,
  terminate: (url: UploadUrl) => Effect.Effect<void, E, HttpClient.HttpClient>
) =>
  Effect.forEach(
    state._tag === "Completed" || state._tag === "Concatenating" ? [] : UploadState.urlsOf(state),
    terminate,
    { concurrency: 8, discard: true }
  )

/** Removes the orphans of an upload. An orphan that is already gone counts as removed. */
export const remove = (state: UploadState.UploadState, { stallTimeout }: Policy) =>
  each(state, (url) => Effect.catchTag(inTime(stallTimeout, Tus.terminate(url)), "UploadGone", () => Effect.void))

/** The maximum time that a failure and an interruption wait for the removal. */
const farewell = { failure: "5 seconds", interruption: "1 second" } as const

/** If the work of an upload fails or is interrupted, the orphans of its upload are removed. */
export const unlessDone = <A, E, R, S>(
  work: Effect.Effect<A, E, R>,
  { store }: Upload<S>
): Effect.Effect<A, E, R | HttpClient.HttpClient> => {
  // Failures are ignored: orphans that remain stay on the server until they expire.
  const free = Effect.suspend(() => each(store.state(), (url) => Effect.option(Tus.terminate(url))))
  return work.pipe(
    Effect.tapCause(() => Effect.timeoutOption(free, farewell.failure)),
    Effect.onInterrupt(() => Effect.timeoutOption(free, farewell.interruption))
  )
}
