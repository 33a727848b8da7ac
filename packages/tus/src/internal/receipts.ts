/**
 * The receipts of an Assembly for its uploads (`tus_uploads`). After a lost response, a receipt shows whether an upload
 * exists. A receipt that contradicts itself or the sent request never proves that an upload is complete. The
 * specification of the service does not define receipts, because it does not define the Assembly Status.
 */
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as UploadTarget from "../UploadTarget.ts"
import { RequestTimeout } from "./timeout.ts"

/** The metadata key of the marker: a value that is unique for each creation. */
export const markerKey = "upload_marker"

/** The upload as its creation described it. `size` is undefined if the size was unknown. */
export interface Sent {
  readonly metadata: Readonly<Record<string, string | null>>
  readonly size: bigint | undefined
}

/**
 * A receipt: the URL of the upload, if the URL passed the checks of the target; the size of the upload in bytes, if the
 * receipt contains a valid size; and whether the upload is complete.
 */
interface Receipt {
  readonly url: UploadTarget.UploadUrl | undefined
  readonly size: bigint | undefined
  readonly finished: boolean
}

const maxStatusBytes = 8 * 1024 * 1024
const decodeStatus = Schema.decodeUnknownOption(Assembly.Receipts)

/** The Assembly id in a URL. */
const idAt = (assemblySslUrl: string): string | undefined => /\/assemblies\/([^/]+)\/?$/.exec(assemblySslUrl)?.[1]

/**
 * Whether a Status belongs to the requested Assembly, and was not returned by a cache or a gateway for another
 * Assembly.
 */
const isOf = (target: UploadTarget.UploadTarget, status: Assembly.Receipts): boolean =>
  status.assembly_id === idAt(Redacted.value(target.assemblySslUrl))

const unfinished = (receipt: Assembly.TusReceipt): Assembly.TusReceipt => ({ ...receipt, finished: false })

/**
 * Removes `finished` from each receipt of which a value could not be read. Decoding leaves out such a value, so that the
 * receipt has fewer keys than before.
 */
const unproven = (status: Assembly.Receipts, json: Option.Option<unknown>): Assembly.Receipts => {
  const raw = Option.getOrUndefined(json)
  const receipts = Predicate.isObject(raw) && Array.isArray(raw["tus_uploads"]) ? raw["tus_uploads"] : []
  const keys = receipts.filter(Predicate.isObject).map((receipt) => Object.keys(receipt).length)
  return {
    ...status,
    tus_uploads: (status.tus_uploads ?? []).map((receipt, index) =>
      Object.keys(receipt).length === keys[index] ? receipt : unfinished(receipt)
    )
  }
}

/**
 * The Status of the Assembly, or `None` if it is not available within `Tus.RequestTimeout`. A failed request for the Status is not an error of the
 * upload.
 */
const status = (
  target: UploadTarget.UploadTarget
): Effect.Effect<Option.Option<Assembly.Receipts>, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const { origin, pathname, search } = new URL(Redacted.value(target.assemblySslUrl))
    const limit = yield* RequestTimeout
    const answer = yield* Sender.of(http)(
      { method: "GET", origin, path: pathname + search, headers: { accept: "application/json" } },
      { maxBytes: maxStatusBytes, millis: Duration.toMillis(limit) }
    )
    const { description, text } = Outcome.textOf(answer, maxStatusBytes)
    if (answer.status !== 200 || description !== undefined) return Option.none<Assembly.Receipts>()
    const json = Outcome.parseJson(text)
    return Option.flatMap(json, decodeStatus).pipe(
      Option.filter((found) => isOf(target, found)),
      Option.map((found) => unproven(found, json))
    )
  }).pipe(Effect.orElseSucceed(() => Option.none<Assembly.Receipts>()))

const hasMarker = (receipt: Assembly.TusReceipt, marker: string): boolean => {
  const meta = receipt.user_meta
  return typeof meta === "object" && meta !== null && !Array.isArray(meta) && Reflect.get(meta, markerKey) === marker
}

const toBytes = (count: number | null | undefined): bigint | undefined =>
  typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? BigInt(count) : undefined

/**
 * Whether the name in a receipt matches the name that was sent, or one of the names is missing. A service may use
 * another Unicode normalization.
 */
const isName = (told: string | null | undefined, sent: string | null | undefined): boolean =>
  typeof told !== "string" || typeof sent !== "string" || told.normalize("NFC") === sent.normalize("NFC")

const urlOf = (target: UploadTarget.UploadTarget, { upload_url }: Assembly.TusReceipt) =>
  typeof upload_url === "string" ? Result.getOrUndefined(UploadTarget.resolve(target, upload_url)) : undefined

/**
 * Reads the receipt of one upload. Returns `None` if the names in the receipt differ from the sent names, because then
 * the receipt belongs to another upload. `finished` is true only if the sizes in the receipt agree with each other and
 * with the sent size. If the sizes contradict each other, the offset can still be requested from the URL.
 */
const read = (target: UploadTarget.UploadTarget, receipt: Assembly.TusReceipt, sent: Sent): Option.Option<Receipt> => {
  const { fieldname, filename } = sent.metadata
  if (!isName(receipt.filename, filename) || !isName(receipt.fieldname, fieldname)) return Option.none()
  const size = toBytes(receipt.size)
  const offset = toBytes(receipt.offset)
  return Option.some({
    url: urlOf(target, receipt),
    size,
    finished:
      receipt.finished === true &&
      size !== undefined &&
      offset === size &&
      (sent.size === undefined || sent.size === size)
  })
}

/** Returns the only receipt that matches. If two receipts match, neither is used. */
const find = (target: UploadTarget.UploadTarget, sent: Sent, matches: (receipt: Assembly.TusReceipt) => boolean) =>
  Effect.map(status(target), (found) =>
    Option.flatMap(found, ({ tus_uploads }) => {
      const [receipt, ...others] = (tus_uploads ?? []).filter(matches)
      return receipt === undefined || others.length > 0 ? Option.none() : read(target, receipt, sent)
    })
  )

/** The receipt of the creation with this marker. */
export const byMarker = (target: UploadTarget.UploadTarget, marker: string, sent: Sent) =>
  find(target, sent, (receipt) => hasMarker(receipt, marker))

/** The receipt of the upload at this URL, if it proves that all bytes are stored. */
export const finished = (target: UploadTarget.UploadTarget, url: UploadTarget.UploadUrl, sent: Sent) =>
  Effect.map(
    find(target, sent, (receipt) => {
      const found = urlOf(target, receipt)
      return found !== undefined && Redacted.value(found) === Redacted.value(url)
    }),
    Option.filter((receipt) => receipt.finished)
  )
