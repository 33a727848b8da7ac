/**
 * Creates an upload at most once. If a creation may have reached the server, and its response is lost or invalid, the
 * creation is not repeated, and the upload is searched for in the receipts of the Assembly for its uploads
 * (`tus_uploads`). A receipt that contradicts itself or the sent request never proves that an upload is complete. The
 * specification of the service does not define receipts, because it does not define the Assembly Status.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TusError from "../TusError.ts"
import * as UploadTarget from "../UploadTarget.ts"
import * as Context from "./context.ts"
import { markerKey } from "./options.ts"
import { concat, hostOf, permit, sendCreation, version } from "./requests.ts"
import type { Change } from "./uploadState.ts"

/**
 * An upload that was created, or found by its receipt.
 *
 * - `offset`: the number of stored bytes; undefined if it has to be requested.
 * - `finished`: whether the receipt, or the response to the creation of a final upload, shows that all bytes are
 *   stored.
 */
export interface Created {
  readonly url: UploadTarget.UploadUrl
  readonly offset: bigint | undefined
  readonly finished: boolean
}

/**
 * The entry of a marker in the header `upload-metadata`. A marker is a unique value: if the response with the URL of the
 * upload is lost, the marker finds the upload in the receipts.
 */
export const markerEntry = (marker: string): string => `${markerKey} ${Base64.encode(marker)}`

/** The errors of one request. A failure after which the upload may exist becomes `CreationUnknown`. */
type RequestError = TusError.AnswerError | TusError.Stalled | UploadTarget.UnsafeLocation | ApiError.TransportFailure

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
      return error.sent !== "no" ? "Open" : error.permanent ? "Refused" : "TurnedAway"
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

/** The target of an upload, and the policy that limits the time of a request. */
type Asking = Pick<Context.Upload<unknown>, "policy" | "target">

type Json = Readonly<Record<PropertyKey, unknown>>

const maxStatusBytes = 8 * 1024 * 1024

/**
 * The receipts in the Status of the Assembly, or none if the Status is not available within `stallTimeout`. A failed
 * request for the Status is not an error of the upload. A cache or a gateway may return the Status of another Assembly.
 */
const all = ({ policy, target }: Asking) =>
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const { origin, pathname, search } = new URL(Redacted.value(target.assemblySslUrl))
    const answer = yield* Sender.of(http)(
      { method: "GET", origin, path: pathname + search, headers: { accept: "application/json" } },
      { maxBytes: maxStatusBytes, millis: Duration.toMillis(policy.stallTimeout) }
    )
    const { description, text } = Outcome.textOf(answer, maxStatusBytes)
    if (answer.status !== 200 || description !== undefined) return []
    const status = Option.getOrUndefined(Outcome.parseJson(text))
    const id = ServiceOrigins.assemblyIdAt(Redacted.value(target.assemblySslUrl))
    if (!Predicate.isObject(status) || id === undefined || status["assembly_id"] !== id) return []
    const receipts = status["tus_uploads"]
    return Array.isArray(receipts) ? receipts.filter(Predicate.isObject) : []
  }).pipe(Effect.orElseSucceed(() => []))

const urlOf = (target: UploadTarget.UploadTarget, { upload_url: url }: Json) =>
  typeof url === "string" ? Result.getOrUndefined(UploadTarget.resolve(target, url)) : undefined

/**
 * The only receipt that matches: the URL of the upload, if the URL passed the checks of the target, and whether the
 * upload is complete. If two receipts match, neither is used. The upload is complete only if every value of the receipt
 * is valid, and its sizes agree with each other and with the sent size, which has to be known. If the sizes contradict
 * each other, the offset can still be requested from the URL.
 */
const find = (subject: Asking, sent: bigint | undefined, matches: (receipt: Json) => boolean) =>
  Effect.map(all(subject), (receipts) => {
    const [receipt, ...others] = receipts.filter(matches)
    if (receipt === undefined || others.length > 0) return undefined
    const { finished, offset, size } = receipt
    const isWhole = Number.isSafeInteger(size) && offset === size && Number(sent) === size
    return { url: urlOf(subject.target, receipt), finished: finished === true && isWhole }
  })

/** Whether a receipt proves that all bytes of the upload at this URL are stored. */
export const isFinished = (subject: Asking, url: UploadTarget.UploadUrl, size: bigint) =>
  Effect.map(
    find(subject, size, (receipt) => {
      const found = urlOf(subject.target, receipt)
      return found !== undefined && Redacted.value(found) === Redacted.value(url)
    }),
    (receipt) => receipt?.finished === true
  )

/**
 * The maximum number of times that the receipts are read. Reading them once may not suffice, because the server may
 * still be processing the request whose response was lost.
 */
const lookups = 5

/** Why it is not known whether the server carried out a creation. */
export type Why = Pick<TusError.CreationUnknown, "description" | "cause">

export const unknown = ({ target }: Pick<Asking, "target">, why: Why) =>
  new TusError.CreationUnknown({ host: hostOf(target.tusUrl), ...why })

/** Why no response to a creation is known, if an earlier run may have sent the creation. */
const ended = { description: "the process ended before the response arrived" }

/**
 * Finds an upload by its receipt, after an earlier process sent the creation or the response was lost. Reads the
 * receipts until one of them matches, with a pause between two reads.
 */
export const recover = (subject: Asking, sent: Pick<Creation, "marker" | "size">, why: Why = ended) =>
  Effect.gen(function* () {
    const isOurs = ({ user_meta: meta }: Json) => Predicate.isObject(meta) && meta[markerKey] === sent.marker
    for (let asked = 1; ; asked++) {
      const { finished = false, url } = (yield* find(subject, sent.size, isOurs)) ?? {}
      if (url !== undefined) return { url, offset: undefined, finished }
      if (asked === lookups) return yield* unknown(subject, why)
      yield* Effect.sleep(Context.pollDelay(subject.policy, asked))
    }
  })

/**
 * The upload to create, and what is stored about its creation, so that a later process creates the upload only if it
 * cannot exist yet.
 *
 * - `marker`: see {@link markerEntry}.
 * - `size`: the size of the upload in bytes, if known.
 * - `body`: the bytes that are sent with the creation.
 * - `isPart`: whether the upload becomes a part of a later final upload.
 * - `parts`: the parts that a final upload concatenates.
 * - `sending`: a request may be sent. Stored before each request.
 * - `refused`: the last request created nothing, or was not sent. Also stored before the pause between two requests,
 *   because the process may end during a long pause.
 * - `created`: the upload exists.
 */
interface Creation {
  readonly marker: string
  readonly size: bigint | undefined
  readonly body?: Uint8Array | undefined
  readonly isPart?: boolean | undefined
  readonly parts?: ReadonlyArray<UploadTarget.UploadUrl> | undefined
  readonly sending: Change
  readonly refused: Change
  readonly created: (found: Created) => Change
}

const headersOf = <E>({ metadataHeader, target }: Context.Upload<E>, { isPart, marker, parts, size }: Creation) => {
  const assembly = Base64.encode(Redacted.value(target.assemblySslUrl))
  return {
    ...version,
    "upload-metadata": `assembly_url ${assembly},${metadataHeader},${markerEntry(marker)}`,
    ...(parts !== undefined
      ? { "upload-concat": concat(target, parts) }
      : size === undefined
        ? { "upload-defer-length": "1" }
        : { "upload-length": String(size) }),
    ...(isPart === true ? { "upload-concat": "partial" } : undefined)
  }
}

/** Creates an upload. If the server did not process the request, the request is sent again after a pause. */
export const once = <E>(upload: Context.Upload<E>, creation: Creation) => {
  const { policy, store, target } = upload
  const { settle, update } = store
  const { body, created, parts, size } = creation
  const limit = body === undefined && parts === undefined ? policy.stallTimeout : policy.finishTimeout
  const sending = update(creation.sending)
  const refused = Effect.asVoid(Effect.option(update(creation.refused)))
  const answered = Effect.matchEffect(sendCreation(target, headersOf(upload, creation), body, limit), {
    onSuccess: (answer): Effect.Effect<Answer, E> => {
      // If the response to the creation of a final upload reports an offset that equals the size, the parts are
      // concatenated. A HEAD request would return the same offset.
      const found = { ...answer, finished: parts !== undefined && answer.offset === size }
      return Effect.as(update(created(found)), Result.succeed(found))
    },
    onFailure: (error) => Effect.as(outcome(error) === "Open" ? Effect.void : refused, Result.fail(error))
  })
  /** Sends the request, and stores its result. */
  const recorded = settle === undefined ? Effect.andThen(sending, answered) : settle({ sending, answered, refused })
  const pauseAfter = Context.retrying(upload)
  const attempt = Effect.matchEffect(permit("create", target.tusUrl, body), {
    onFailure: (error): Effect.Effect<Answer> => Effect.succeed(Result.fail(error)),
    // `sending` says that a request may have been sent, so it is written after the wait.
    onSuccess: () => recorded
  })

  const repeated = (
    failures: number
  ): Effect.Effect<Created, RequestError | TusError.CreationUnknown | E, HttpClient.HttpClient> =>
    Effect.flatMap(attempt, (answer) => {
      if (Result.isSuccess(answer)) return Effect.succeed(answer.success)
      const error = answer.failure
      const did = outcome(error)
      if (error._tag === "UnsafeLocation" || did === "Refused") return Effect.fail(error)
      if (error._tag === "Stalled" || did === "Open") {
        const why = { description: error.message, cause: error }
        return Effect.tap(recover(upload, creation, why), (found) => update(created(found)))
      }
      return Effect.flatMap(pauseAfter(failures, error), () => repeated(failures + 1))
    })
  return repeated(1)
}
