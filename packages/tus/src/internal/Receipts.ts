/**
 * What the Assembly knows of its uploads: the receipts in `tus_uploads`. They decide where an answer was lost. Beyond
 * the specification, which does not show the Assembly Status.
 */
import * as Transport from "@assembly-effect/api/Transport"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as UploadTarget from "../UploadTarget.ts"

/** The metadata key that makes every creation one of its kind. */
export const markerKey = "upload_marker"

/** A receipt: where the upload is, if that is a URL to trust, and whether it is whole. */
export interface Receipt {
  readonly url: UploadTarget.UploadUrl | undefined
  readonly size: bigint | undefined
  readonly finished: boolean
}

const maxStatusBytes = 8 * 1024 * 1024
const decodeStatus = Schema.decodeUnknownOption(Schema.fromJsonString(Assembly.Status))

/** The Status of the Assembly, or nothing when it cannot be had. It is an answer to a question asked on the way. */
const status = (
  target: UploadTarget.UploadTarget
): Effect.Effect<Option.Option<Assembly.Status>, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const response = yield* Transport.execute(
      http,
      HttpClientRequest.get(Redacted.value(target.assemblySslUrl), { acceptJson: true }),
      { operation: "Receipts.status" }
    )
    if (response.status !== 200) return Option.none<Assembly.Status>()
    const bytes = Stream.limitBytes(response.stream, maxStatusBytes, () => Stream.empty)
    const text = yield* Stream.mkString(Stream.decodeText(bytes))
    return decodeStatus(text)
  }).pipe(
    Effect.scoped,
    Effect.timeoutOption("30 seconds"),
    Effect.map(Option.flatten),
    Effect.orElseSucceed(() => Option.none<Assembly.Status>())
  )

const hasMarker = (receipt: Assembly.TusReceipt, marker: string): boolean => {
  const meta = receipt.user_meta
  return typeof meta === "object" && meta !== null && !Array.isArray(meta) && Reflect.get(meta, markerKey) === marker
}

const toReceipt = (target: UploadTarget.UploadTarget, receipt: Assembly.TusReceipt): Receipt => ({
  url:
    typeof receipt.upload_url === "string"
      ? Result.getOrUndefined(UploadTarget.resolve(target, receipt.upload_url))
      : undefined,
  size: typeof receipt.size === "number" && Number.isSafeInteger(receipt.size) ? BigInt(receipt.size) : undefined,
  finished: receipt.finished === true
})

const find = (target: UploadTarget.UploadTarget, matches: (receipt: Assembly.TusReceipt) => boolean) =>
  Effect.map(status(target), (found) =>
    Option.map(
      Option.flatMap(found, ({ tus_uploads }) => Option.fromNullishOr(tus_uploads?.find(matches))),
      (receipt) => toReceipt(target, receipt)
    )
  )

/** The receipt of the creation that carried this marker. */
export const byMarker = (target: UploadTarget.UploadTarget, marker: string) =>
  find(target, (receipt) => hasMarker(receipt, marker))

/** The receipt of the upload at this URL, as far as it is finished. */
export const finished = (target: UploadTarget.UploadTarget, url: UploadTarget.UploadUrl) =>
  find(
    target,
    (receipt) =>
      receipt.finished === true &&
      typeof receipt.upload_url === "string" &&
      Result.match(UploadTarget.resolve(target, receipt.upload_url), {
        onFailure: () => false,
        onSuccess: (found) => Redacted.value(found) === Redacted.value(url)
      })
  )
