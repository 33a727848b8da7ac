/**
 * Gives up what the journal knows of an upload, by order of the application, so that another one can begin.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Tus from "../Tus.ts"
import type * as TusError from "../TusError.ts"
import type * as UploadJournal from "../UploadJournal.ts"
import * as UploadTarget from "../UploadTarget.ts"
import { inTime } from "./Timeout.ts"
import { urlsOf } from "./JournalRecorder.ts"
import type { Policy } from "./Policy.ts"
import * as Receipts from "./Receipts.ts"

type RemoveError = Tus.AnswerError | TusError.Stalled | ApiError.TransportFailure | UploadTarget.UnsafeLocation

/** The uploads that nobody needs any more. What is a file of the Assembly by now, or may be one, is not ours to remove. */
const leftOver = (
  entry: UploadJournal.Entry
): Effect.Effect<ReadonlyArray<UploadTarget.UploadUrl>, UploadTarget.UnsafeLocation, HttpClient.HttpClient> => {
  switch (entry._tag) {
    case "Completed":
    case "Concatenating":
      return Effect.succeed([])
    case "Creating":
      return Effect.map(Receipts.byMarker(entry.target, entry.marker, entry), (receipt) =>
        Option.match(receipt, {
          onNone: () => [],
          onSome: ({ finished, url }) => (finished || url === undefined ? [] : [url])
        })
      )
    case "Created":
    case "Parts":
    case "Untrusted":
      return Effect.forEach(urlsOf(entry), (url) => Effect.fromResult(UploadTarget.resolve(entry.target, url)))
  }
}

/** Removes from the server what an entry tells of. An upload that is gone already is fine, any other answer fails. */
export const removeFromServer = (
  entry: UploadJournal.Entry,
  policy: Policy
): Effect.Effect<void, RemoveError, HttpClient.HttpClient> =>
  Effect.flatMap(leftOver(entry), (urls) =>
    Effect.forEach(
      urls,
      (url) =>
        inTime("terminate", policy.stallTimeout, Tus.terminate(url)).pipe(
          Effect.catchTag("UploadGone", () => Effect.void)
        ),
      { concurrency: 8, discard: true }
    )
  )
