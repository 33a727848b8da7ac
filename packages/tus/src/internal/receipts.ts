/**
 * What the Assembly knows of its uploads: the receipts in `tus_uploads`. They decide where an answer was lost, so one
 * that contradicts what was sent, or itself, decides nothing. Beyond the specification, which does not show the
 * Assembly
 * Status.
 */
import * as Transport from "@assembly-effect/api/unstable/Transport"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as UploadTarget from "../UploadTarget.ts"
import { RequestTimeout } from "./timeout.ts"

/** The metadata key that makes every creation one of its kind. */
export const markerKey = "upload_marker"

/** What a creation told of its upload. `size` is undefined where it was not known. */
export interface Sent {
  readonly metadata: Readonly<Record<string, string | null>>
  readonly size: bigint | undefined
}

/** A receipt: where the upload is, if that is a URL to trust, and whether it is whole. */
export interface Receipt {
  readonly url: UploadTarget.UploadUrl | undefined
  readonly size: bigint | undefined
  readonly finished: boolean
}

const maxStatusBytes = 8 * 1024 * 1024
const decodeStatus = Schema.decodeUnknownOption(Assembly.Receipts)

/** The id of the Assembly at a URL. */
const idAt = (assemblySslUrl: string): string | undefined => /\/assemblies\/([^/]+)\/?$/.exec(assemblySslUrl)?.[1]

/** Whether a Status is that of the Assembly which was asked for, and not one that a cache or a gateway gave instead. */
const isOf = (target: UploadTarget.UploadTarget, status: Assembly.Receipts): boolean =>
  status.assembly_id === idAt(Redacted.value(target.assemblySslUrl))

/** None if the response takes longer than `Tus.RequestTimeout`. */
const inRequestTime = <A, E, R>(asked: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.flatMap(RequestTimeout, (limit) =>
    Duration.isFinite(limit) ? Effect.map(Effect.timeoutOption(asked, limit), Option.flatten) : asked
  )

/** The Status of the Assembly, or nothing when it cannot be had. It is an answer to a question asked on the way. */
const status = (
  target: UploadTarget.UploadTarget
): Effect.Effect<Option.Option<Assembly.Receipts>, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const response = yield* Transport.execute(
      http,
      HttpClientRequest.get(Redacted.value(target.assemblySslUrl), { acceptJson: true }),
      { operation: "Receipts.status" }
    )
    if (response.status !== 200) return Option.none<Assembly.Receipts>()
    const text = yield* Transport.readText(response, { maxBytes: maxStatusBytes })
    return Transport.parseJson(text).pipe(
      Option.flatMap(decodeStatus),
      Option.filter((found) => isOf(target, found))
    )
  }).pipe(
    Effect.scoped,
    inRequestTime,
    Effect.orElseSucceed(() => Option.none<Assembly.Receipts>())
  )

const hasMarker = (receipt: Assembly.TusReceipt, marker: string): boolean => {
  const meta = receipt.user_meta
  return typeof meta === "object" && meta !== null && !Array.isArray(meta) && Reflect.get(meta, markerKey) === marker
}

const toBytes = (count: number | null | undefined): bigint | undefined =>
  typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? BigInt(count) : undefined

/** Whether a name that a receipt tells is the one that was sent; a service may write it in another form of Unicode. */
const isName = (told: string | null | undefined, sent: string | null | undefined): boolean =>
  typeof told !== "string" || typeof sent !== "string" || told.normalize("NFC") === sent.normalize("NFC")

const urlOf = (target: UploadTarget.UploadTarget, { upload_url }: Assembly.TusReceipt) =>
  typeof upload_url === "string" ? Result.getOrUndefined(UploadTarget.resolve(target, upload_url)) : undefined

/**
 * The receipt of one upload. Nothing where its names are others than were sent: it is another upload's. It is
 * `finished`
 * where everything in it says so, the size that was sent too; an upload whose receipt contradicts itself can still be
 * asked for.
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

/** The one receipt that matches: where two do, neither tells. */
const find = (target: UploadTarget.UploadTarget, sent: Sent, matches: (receipt: Assembly.TusReceipt) => boolean) =>
  Effect.map(status(target), (found) =>
    Option.flatMap(found, ({ tus_uploads }) => {
      const [receipt, ...others] = (tus_uploads ?? []).filter(matches)
      return receipt === undefined || others.length > 0 ? Option.none() : read(target, receipt, sent)
    })
  )

/** The receipt of the creation that carried this marker. */
export const byMarker = (target: UploadTarget.UploadTarget, marker: string, sent: Sent) =>
  find(target, sent, (receipt) => hasMarker(receipt, marker))

/** The receipt of the upload at this URL, if it proves that every byte of it is stored. */
export const finished = (target: UploadTarget.UploadTarget, url: UploadTarget.UploadUrl, sent: Sent) =>
  Effect.map(
    find(target, sent, (receipt) => {
      const found = urlOf(target, receipt)
      return found !== undefined && Redacted.value(found) === Redacted.value(url)
    }),
    Option.filter((receipt) => receipt.finished)
  )
