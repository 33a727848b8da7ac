/**
 * Removes from the server what nobody needs of an upload any more.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Tus from "../Tus.ts"
import type * as TusError from "../TusError.ts"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"
import * as UploadState from "../UploadState.ts"
import type { Policy } from "./Policy.ts"
import * as Receipts from "./Receipts.ts"
import type * as Session from "./Session.ts"
import { inTime } from "./Timeout.ts"

/** What an upload is for, and what its creation told. */
interface Subject extends Receipts.Sent {
  readonly target: UploadTarget
  readonly policy: Policy
}

type Find = Effect.Effect<UploadUrl | undefined, never, HttpClient.HttpClient>

/** The uploads that nobody needs any more. What is a file of the Assembly by now, or may be one, is not ours to remove. */
const leftOver = (subject: Subject, state: UploadState.UploadState): ReadonlyArray<Find> => {
  const { metadata, target } = subject
  switch (state._tag) {
    case "Completed":
    case "Concatenating":
      return []
    case "Creating":
      return [
        Effect.map(
          Receipts.byMarker(target, state.marker, subject),
          (receipt) => Option.getOrUndefined(Option.filter(receipt, ({ finished }) => !finished))?.url
        )
      ]
    case "Parts":
      // A part is no file of the Assembly, whether it is whole or not.
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

/** How many uploads are removed at once. */
const concurrency = 8

type RemoveError = Tus.AnswerError | TusError.Stalled | ApiError.TransportFailure

/** Removes what is left over of an upload. One that is gone already is fine, any other answer fails. */
export const remove = (
  subject: Subject,
  state: UploadState.UploadState
): Effect.Effect<void, RemoveError, HttpClient.HttpClient> =>
  Effect.forEach(
    leftOver(subject, state),
    (find) =>
      Effect.flatMap(find, (url) =>
        url === undefined
          ? Effect.void
          : inTime("terminate", subject.policy.stallTimeout, Tus.terminate(url)).pipe(
              Effect.catchTag("UploadGone", () => Effect.void)
            )
      ),
    { concurrency, discard: true }
  )

/** Removes what is left over of the upload of a session; what cannot be removed in time expires on the server. */
export const tryToRemove = <E>(session: Session.Session<E>): Effect.Effect<void, never, HttpClient.HttpClient> =>
  Effect.forEach(
    leftOver({ ...session, size: undefined }, session.store.state()),
    (find) =>
      Effect.flatMap(find, (url) => (url === undefined ? Effect.void : Tus.terminate(url))).pipe(
        Effect.timeout(session.policy.stallTimeout),
        Effect.ignore
      ),
    { concurrency, discard: true }
  )
