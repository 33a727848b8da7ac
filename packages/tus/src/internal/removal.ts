/**
 * Removes the orphans of an upload from the server: the upload or its parts, if no later run continues them.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Tus from "../Tus.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as UploadState from "./uploadState.ts"
import { ignored } from "./ignored.ts"
import * as Receipts from "./receipts.ts"
import type * as Context from "./context.ts"
import { inTime } from "./timeout.ts"

/** The creation of an upload, and the size of the upload in bytes, if known. */
interface Subject extends Receipts.Subject {
  readonly size: bigint | undefined
}

type Find = Effect.Effect<UploadUrl | undefined, never, HttpClient.HttpClient>

/**
 * Finds the orphans of an upload. Each effect returns the URL of one orphan, or undefined if none exists. A completed
 * upload has no orphans, because it is a file of the Assembly.
 */
const orphansOf = (subject: Subject, state: UploadState.UploadState): ReadonlyArray<Find> => {
  switch (state._tag) {
    case "Completed":
      return []
    case "Concatenating":
      // The creation of the final upload may have been sent, so the parts may already be a file of the Assembly.
      return []
    case "Creating":
      return [
        Effect.map(
          Receipts.byMarker(subject, state.marker, subject.size),
          (receipt) => Option.getOrUndefined(Option.filter(receipt, ({ finished }) => !finished))?.url
        )
      ]
    case "Parts":
      // A part alone is never a file of the Assembly.
      return state.parts.map(({ end, piece, start }) =>
        piece._tag === "Creating"
          ? Effect.map(
              Receipts.byMarker(subject, piece.marker, end - start),
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

/** Terminates each orphan that exists. */
const each = <E>(
  orphans: ReadonlyArray<Find>,
  terminate: (url: UploadUrl) => Effect.Effect<void, E, HttpClient.HttpClient>
): Effect.Effect<void, E, HttpClient.HttpClient> =>
  Effect.forEach(
    orphans,
    Effect.flatMap((url) => (url === undefined ? Effect.void : terminate(url))),
    {
      concurrency,
      discard: true
    }
  )

/**
 * Removes the orphans of an upload. Succeeds for an orphan that is already gone. Fails if an orphan cannot be removed.
 */
export const remove = (subject: Subject, state: UploadState.UploadState) =>
  each(orphansOf(subject, state), (url) =>
    inTime(subject.policy.stallTimeout, Tus.terminate(url)).pipe(
      Effect.catch((error) => (error._tag === "UploadGone" ? Effect.void : Effect.fail(error)))
    )
  )

/** The maximum time that a failure and an interruption wait for the removal. */
const farewell = { failure: "5 seconds", interruption: "1 second" } as const

/** If the work of a upload fails or is interrupted, the orphans of its upload are removed. */
export const unlessDone = <A, E, R, S>(
  work: Effect.Effect<A, E, R>,
  upload: Context.Upload<S>
): Effect.Effect<A, E, R | HttpClient.HttpClient> => {
  // Failures are ignored: orphans that remain stay on the server until they expire.
  const free = Effect.suspend(() =>
    each(orphansOf({ ...upload, size: undefined }, upload.store.state()), (url) => ignored(Tus.terminate(url)))
  )
  return work.pipe(
    Effect.tapCause(() => Effect.timeoutOption(free, farewell.failure)),
    Effect.onInterrupt(() => Effect.timeoutOption(free, farewell.interruption))
  )
}
