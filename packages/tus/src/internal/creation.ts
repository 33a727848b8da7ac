/**
 * Creates an upload at most once. If a creation may have reached the server, and its response is lost or invalid, the
 * creation is not repeated, and the upload is searched for in the receipts.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TusError from "../TusError.ts"
import type { UnsafeLocation, UploadUrl } from "../UploadTarget.ts"
import type { Upload } from "./context.ts"
import { concat, permit, sendCreation } from "./requests.ts"
import { hostOf } from "./host.ts"
import * as Policy from "./policy.ts"
import * as Receipts from "./receipts.ts"
import type { Change } from "./uploadState.ts"

/**
 * The errors of a creation. With a `TransportFailure`, no part of the request was sent: after a request that may have
 * been sent, the error is `CreationUnknown`.
 */
export type CreationError =
  | TusError.AnswerError
  | TusError.Stalled
  | TusError.CreationUnknown
  | UnsafeLocation
  | ApiError.TransportFailure

/**
 * An upload that was created, or found by its receipt.
 *
 * - `offset`: the number of stored bytes; undefined if it has to be requested.
 * - `finished`: whether the receipt, or the response to the creation of a final upload, shows that all bytes are
 *   stored.
 */
export interface Created {
  readonly url: UploadUrl
  readonly offset: bigint | undefined
  readonly finished: boolean
}

/**
 * Makes a marker: a random unique value in the metadata of an upload. If the response with the URL of the upload is
 * lost, the marker finds the upload in the receipts.
 */
export const newMarker: Effect.Effect<string> = WebCrypto.use((crypto) =>
  // A page on plain http has no `randomUUID`, which is much faster on Node. `SecureRandom` would add the code for ULIDs
  // to a bundle.
  Effect.sync(() =>
    typeof crypto.randomUUID === "function"
      ? crypto.randomUUID()
      : Hex.encode(crypto.getRandomValues(new Uint8Array(16)))
  )
)

/** The errors of one request, without those of a creation that may have been sent. */
type RequestError = Exclude<CreationError, TusError.CreationUnknown>

type Answer = Result.Result<Created, RequestError>

/**
 * What a failed creation did on the server. The result depends on the HTTP status of the response or, without a
 * response, on whether the request was sent.
 *
 * - `Refused`: the request created nothing, and another request would fail too, for example after the status 403, or
 *   after a permanent failure before the request was sent.
 * - `TurnedAway`: the request created nothing, because the server did not process it or never got it. The client may
 *   safely send the request again.
 * - `Open`: an upload may exist. There was no response, or the response was invalid, or its status does not show
 *   whether the request was carried out (for example 409, 500 or 502).
 */
const outcome = (error: RequestError): "Refused" | "TurnedAway" | "Open" => {
  switch (error._tag) {
    case "TransportFailure":
      if (error.sent !== "no") return "Open"
      return error.permanent ? "Refused" : "TurnedAway"
    case "RateLimited":
    case "UploadLocked":
      return "TurnedAway"
    case "Stalled":
    case "UnsafeLocation":
      return "Open"
    default: {
      const isBusy = error._tag === "ServerFailure" && error.status === 503 && error.retryAfter !== undefined
      return isBusy ? "TurnedAway" : Outcome.isRefusal(error.status) ? "Refused" : "Open"
    }
  }
}

/**
 * The maximum number of times that the receipts are read. Reading them once may not suffice, because the server may
 * still be processing the request whose response was lost.
 */
const lookups = 5

/** The part of the context that the creation of an upload needs. */
type Subject<E> = Pick<Upload<E>, "emit" | "metadataHeader" | "policy" | "store" | "target">

/** A creation that may have been sent: its marker, and the size of the upload, if known. */
interface Sent {
  readonly marker: string
  readonly size: bigint | undefined
}

/** Why no response to a creation is known, if an earlier run may have sent the creation. */
export const ended = { description: "the process ended before the response arrived" }

/**
 * Finds an upload by its receipt, after an earlier process sent the creation or the response was lost. Reads the
 * receipts until one of them matches, with a pause between two reads.
 */
export const recover = (
  subject: Pick<Upload<unknown>, "policy" | "target">,
  { marker, size }: Sent,
  why: Pick<TusError.CreationUnknown, "description" | "cause">
): Effect.Effect<Created, TusError.CreationUnknown, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    for (let asked = 1; ; asked++) {
      const { finished = false, url } = (yield* Receipts.byMarker(subject, marker, size)) ?? {}
      if (url !== undefined) return { url, offset: undefined, finished }
      if (asked === lookups) return yield* new TusError.CreationUnknown({ host: hostOf(subject.target.tusUrl), ...why })
      yield* Effect.sleep(Policy.pollDelay(subject.policy, asked))
    }
  })

/**
 * What is stored about the creation of an upload, so that a later process creates the upload only if it cannot exist
 * yet.
 *
 * - `sending`: a request may be sent. Stored before each request.
 * - `refused`: the last request created nothing, or was not sent. Also stored before the pause between two requests,
 *   because the process may end during a long pause.
 * - `created`: the upload exists.
 */
export interface Ledger {
  readonly sending: Change
  readonly refused: Change
  readonly created: (found: Created) => Change
}

/**
 * The upload to create.
 *
 * - `size`: the size of the upload in bytes, if known.
 * - `body`: the bytes that are sent with the creation.
 * - `isPart`: whether the upload becomes a part of a later final upload.
 * - `parts`: the parts that a final upload concatenates.
 */
interface Creation extends Sent {
  readonly body?: Uint8Array | undefined
  readonly isPart?: boolean | undefined
  readonly parts?: ReadonlyArray<UploadUrl> | undefined
  readonly ledger: Ledger
}

const headersOf = <E>({ metadataHeader, target }: Subject<E>, { isPart, marker, parts, size }: Creation) => {
  const assembly = Base64.encode(Redacted.value(target.assemblySslUrl))
  return {
    "tus-resumable": TusUpload.tusVersion,
    "upload-metadata": `assembly_url ${assembly},${metadataHeader},${Receipts.markerKey} ${Base64.encode(marker)}`,
    ...(parts !== undefined
      ? { "upload-concat": concat(target, parts) }
      : size === undefined
        ? { "upload-defer-length": "1" }
        : { "upload-length": String(size) }),
    ...(isPart === true ? { "upload-concat": "partial" } : undefined)
  }
}

/** Creates an upload. If the server did not process the request, the request is sent again after a pause. */
export const once = <E>(
  subject: Subject<E>,
  creation: Creation
): Effect.Effect<Created, CreationError | E, HttpClient.HttpClient> => {
  const { emit, policy, store, target } = subject
  const { body, ledger, parts, size } = creation
  let pauseAfter: Policy.Retry | undefined
  const limit = body === undefined && parts === undefined ? policy.stallTimeout : policy.finishTimeout
  const permitted = permit(Redacted.value(target.tusUrl), "Tus.create", body)
  const request = sendCreation(target, headersOf(subject, creation), body, { limit, hasPermit: true }).pipe(
    Effect.map(({ offset, url }): Created => ({
      url,
      offset,
      // If the response to the creation of a final upload reports an offset that equals the size, the parts are
      // concatenated. A HEAD request would return the same offset.
      finished: parts !== undefined && offset === size
    }))
  )

  const { settle, update } = store
  const sending = update(ledger.sending)
  const refused = Effect.asVoid(Effect.option(update(ledger.refused)))
  const answered = Effect.matchEffect(request, {
    onSuccess: (found): Effect.Effect<Answer, E> => Effect.as(update(ledger.created(found)), Result.succeed(found)),
    onFailure: (error) => Effect.as(outcome(error) === "Open" ? Effect.void : refused, Result.fail(error))
  })
  /** Sends the request, and records its result in the ledger. */
  const recorded = settle === undefined ? Effect.andThen(sending, answered) : settle({ sending, answered, refused })

  /** Decides what follows the answer: nothing, a look at the receipts, or another request after a pause. */
  const settled = (
    answer: Answer,
    failures: number
  ): Effect.Effect<Created, CreationError | E, HttpClient.HttpClient> => {
    if (Result.isSuccess(answer)) return Effect.succeed(answer.success)
    const error = answer.failure
    const did = outcome(error)
    if (error._tag === "UnsafeLocation" || did === "Refused") return Effect.fail(error)
    if (error._tag === "Stalled" || did === "Open") {
      const why = { description: error.message, cause: error }
      return Effect.tap(recover(subject, creation, why), (found) => update(ledger.created(found)))
    }
    pauseAfter ??= Policy.retrying(policy, emit)
    return Effect.andThen(
      pauseAfter(failures, error),
      Effect.suspend(() => attempt(failures + 1))
    )
  }

  const attempt = (failures: number): Effect.Effect<Created, CreationError | E, HttpClient.HttpClient> =>
    // `sending` says that a request may have been sent, so it is written after the wait.
    Effect.matchEffect(permitted, {
      onFailure: (error) => settled(Result.fail(error), failures),
      onSuccess: () => Effect.flatMap(recorded, (answer) => settled(answer, failures))
    })
  return attempt(1)
}
