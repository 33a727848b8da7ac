/**
 * The receipts of an Assembly for its uploads (`tus_uploads`). After a lost response, a receipt shows whether an upload
 * exists. A receipt that contradicts itself or the sent request never proves that an upload is complete. The
 * specification of the service does not define receipts, because it does not define the Assembly Status.
 */
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as UploadTarget from "../UploadTarget.ts"

/** The metadata key of the marker: a value that is unique for each creation. */
export const markerKey = "upload_marker"

/** The creation of an upload, and the policy that limits the time of a request. */
export interface Subject {
  readonly target: UploadTarget.UploadTarget
  readonly policy: { readonly stallTimeout: Duration.Duration }
}

/**
 * A receipt: the URL of the upload, if the URL passed the checks of the target, and whether the upload is complete. The
 * upload is complete only if every value of the receipt is valid, and its sizes agree with each other and with the sent
 * size. If the sizes contradict each other, the offset can still be requested from the URL.
 */
interface Receipt {
  readonly url: UploadTarget.UploadUrl | undefined
  readonly finished: boolean
}

type Json = Readonly<Record<PropertyKey, unknown>>

const maxStatusBytes = 8 * 1024 * 1024

/**
 * The receipts in the Status of the Assembly, or none if the Status is not available within `stallTimeout`. A failed
 * request for the Status is not an error of the upload. A cache or a gateway may return the Status of another Assembly.
 */
const all = ({ policy, target }: Subject): Effect.Effect<ReadonlyArray<Json>, never, HttpClient.HttpClient> =>
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

const toBytes = (count: unknown): bigint | undefined =>
  typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? BigInt(count) : undefined

const urlOf = (target: UploadTarget.UploadTarget, { upload_url: url }: Json) =>
  typeof url === "string" ? Result.getOrUndefined(UploadTarget.resolve(target, url)) : undefined

/** The only receipt that matches. If two receipts match, neither is used. */
const find = (subject: Subject, sent: bigint | undefined, matches: (receipt: Json) => boolean) =>
  Effect.map(all(subject), (receipts): Receipt | undefined => {
    const [receipt, ...others] = receipts.filter(matches)
    if (receipt === undefined || others.length > 0) return undefined
    const size = toBytes(receipt["size"])
    const isWhole = size !== undefined && toBytes(receipt["offset"]) === size && (sent ?? size) === size
    return { url: urlOf(subject.target, receipt), finished: receipt["finished"] === true && isWhole }
  })

/** The receipt of the creation with this marker. `size` is the size of the upload, if known. */
export const byMarker = (subject: Subject, marker: string, size: bigint | undefined) =>
  find(subject, size, ({ user_meta: meta }) => Predicate.isObject(meta) && meta[markerKey] === marker)

/** Whether a receipt proves that all bytes of the upload at this URL are stored. */
export const isFinished = (subject: Subject, url: UploadTarget.UploadUrl, size: bigint) =>
  Effect.map(
    find(subject, size, (receipt) => {
      const found = urlOf(subject.target, receipt)
      return found !== undefined && Redacted.value(found) === Redacted.value(url)
    }),
    (receipt) => receipt?.finished === true
  )
