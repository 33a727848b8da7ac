/**
 * Removes the orphans of an upload from the server: the upload or its parts, if no later run continues them.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Tus from "../Tus.ts"
import type * as TusError from "../TusError.ts"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"
import * as UploadState from "./uploadState.ts"
import { ignored } from "./ignored.ts"
import type { Policy } from "./policy.ts"
import * as Receipts from "./receipts.ts"
import type * as Context from "./context.ts"
import { inTime } from "./timeout.ts"

/** An upload as its creation described it, with its target and its policy. */
interface Subject extends Receipts.Sent {
  readonly target: UploadTarget
  readonly policy: Policy
}

type Find = Effect.Effect<UploadUrl | undefined, never, HttpClient.HttpClient>

/**
 * Finds the orphans of an upload. Each effect returns the URL of one orphan, or undefined if none exists. A completed
 * upload has no orphans, because it is a file of the Assembly.
 */
const orphansOf = (subject: Subject, state: UploadState.UploadState): ReadonlyArray<Find> => {
  const { metadata, target } = subject
  switch (state._tag) {
    case "Completed":
      return []
    case "Concatenating":
      // The creation of the final upload may have been sent, so the parts may already be a file of the Assembly.
      return []
    case "Creating":
      return [
        Effect.map(
          Receipts.byMarker(target, state.marker, subject),
          (receipt) => Option.getOrUndefined(Option.filter(receipt, ({ finished }) => !finished))?.url
        )
      ]
    case "Parts":
      // A part alone is never a file of the Assembly.
      return state.parts.map(({ end, piece, start }) =>
        piece._tag === "Creating"
          ? Effect.map(
              Receipts.byMarker(target, piece.marker, { metadata, size: end - start }),
              (receipt) => Option.getOrUndefined(receipt)?.url
            )
          : Effect.succeed(piece._tag === "Created" ? piece.url : undefined)
      )
    case "Planned":
    case "Created":
    case "Untrusted":
      return UploadState.urlsOf(state).map((url) => Effect.succeed(url))
  }
}

/** The maximum number of concurrent removals. */
const concurrency = 8

type RemoveError = Tus.AnswerError | TusError.Stalled | ApiError.TransportFailure

/**
 * Removes the orphans of an upload. Succeeds for an orphan that is already gone. Fails if an orphan cannot be removed.
 */
export const remove = (
  subject: Subject,
  state: UploadState.UploadState
): Effect.Effect<void, RemoveError, HttpClient.HttpClient> =>
  Effect.forEach(
    orphansOf(subject, state),
    (find) =>
      Effect.flatMap(find, (url) =>
        url === undefined
          ? Effect.void
          : inTime(subject.policy.stallTimeout, Tus.terminate(url)).pipe(
              Effect.catchTag("UploadGone", () => Effect.void)
            )
      ),
    { concurrency, discard: true }
  )

/**
 * Tries to remove the orphans of the upload's upload, and ignores failures. Orphans that remain stay on the server
 * until they expire.
 */
const tryToRemove = <E>(upload: Context.Upload<E>): Effect.Effect<void, never, HttpClient.HttpClient> =>
  Effect.forEach(
    orphansOf({ ...upload, size: undefined }, upload.store.state()),
    (find) => ignored(Effect.flatMap(find, (url) => (url === undefined ? Effect.void : Tus.terminate(url)))),
    { concurrency, discard: true }
  )

/** The maximum time that a failure and an interruption wait for the removal. */
const farewell = { failure: "5 seconds", interruption: "1 second" } as const

/** If the work of a upload fails or is interrupted, the orphans of its upload are removed. */
export const unlessDone = <A, E, R, S>(
  work: Effect.Effect<A, E, R>,
  upload: Context.Upload<S>
): Effect.Effect<A, E, R | HttpClient.HttpClient> => {
  const free = Effect.suspend(() => tryToRemove(upload))
  return work.pipe(
    Effect.tapCause(() => Effect.timeoutOption(free, farewell.failure)),
    Effect.onInterrupt(() => Effect.timeoutOption(free, farewell.interruption))
  )
}
