/**
 * The requests of tus 1.0.0, one function each. What they mean together is in `Upload`.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Transport from "@assembly-effect/api/Transport"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import * as TusError from "./TusError.ts"
import * as UploadTarget from "./UploadTarget.ts"

type Request = TusError.ProtocolViolation["request"]

/** What the server said with a status that is not a success. */
export type AnswerError =
  | TusError.UploadGone
  | TusError.UploadRefused
  | TusError.OffsetConflict
  | TusError.TooLarge
  | TusError.UploadLocked
  | TusError.ServerFailure
  | TusError.ProtocolViolation

const maxErrorBytes = 8 * 1024
const utf8 = new TextDecoder()
const decodeErrorBody = Schema.decodeUnknownSync(ServiceError.TusErrorBody)

/** The error text of an answer: its start, since a hostile server may send without end. */
const readMessage = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> =>
  Effect.suspend(() => {
    let size = 0
    return response.stream.pipe(
      Stream.takeUntil((chunk) => (size += chunk.length) >= maxErrorBytes),
      Stream.mkUint8Array
    )
  }).pipe(
    Effect.map((bytes) => {
      const error = decodeErrorBody(utf8.decode(bytes.subarray(0, maxErrorBytes)))
      return error._tag === "Line" ? `${error.code}: ${error.message}` : error.text
    }),
    // The status is known; an explanation that breaks off must not hide it.
    Effect.orElseSucceed(() => "")
  )

const toError = (request: Request, status: number, message: string): AnswerError => {
  const answer = { request, status, message }
  switch (status) {
    case 404:
    case 410:
      return new TusError.UploadGone(answer)
    case 409:
      return new TusError.OffsetConflict(answer)
    case 413:
      return new TusError.TooLarge(answer)
    case 423:
      return new TusError.UploadLocked(answer)
    case 429:
      return new TusError.ServerFailure(answer)
    default:
      if (status >= 500) return new TusError.ServerFailure(answer)
      if (status >= 400) return new TusError.UploadRefused(answer)
      return new TusError.ProtocolViolation({ request, status, problem: "not a status that this request may have" })
  }
}

/** Sends a request and reads its headers, if the status is the one that means success. */
const exchange = <A>(options: {
  readonly request: Request
  readonly http: HttpClientRequest.HttpClientRequest
  readonly status: number
  readonly headers: Schema.ConstraintCodec<A, unknown>
  readonly streaming?: boolean | undefined
}): Effect.Effect<A, AnswerError | ApiError.TransportFailure, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const response = yield* Transport.execute(client, options.http, {
      operation: `Tus.${options.request}`,
      streaming: options.streaming
    })
    if (response.status !== options.status) {
      return yield* toError(options.request, response.status, yield* readMessage(response))
    }
    return yield* SchemaParser.decodeUnknownEffect(options.headers)(response.headers).pipe(
      Effect.mapError(
        (issue) =>
          new TusError.ProtocolViolation({
            request: options.request,
            status: response.status,
            problem: `headers that break a rule: ${issue.toString()}`
          })
      )
    )
  }).pipe(Effect.scoped)

const encodeFixed = SchemaParser.encodeUnknownEffect(TusUpload.FixedHeaders, { errors: "all" })

/**
 * Creates an upload of `length` bytes without sending any (spec.md, "Create a tus upload"). `assembly_url` of the
 * metadata is filled in from the target. Not idempotent: when the answer is lost, an upload may exist.
 */
export const create = Effect.fn("Tus.create", { attributes: { "http.request.method": "POST" } })(function* (
  target: UploadTarget.UploadTarget,
  options: {
    readonly length: TusUpload.UploadLength
    readonly metadata: Readonly<Record<string, string | null>>
  }
) {
  const headers = yield* encodeFixed({
    "tus-resumable": TusUpload.tusVersion,
    "upload-length": options.length,
    "upload-metadata": { ...options.metadata, assembly_url: Redacted.value(target.assemblySslUrl) }
  }).pipe(Effect.mapError((issue) => ApiError.invalidRequest("Tus.create", issue)))

  const created = yield* exchange({
    request: "create",
    http: HttpClientRequest.post(Redacted.value(target.tusUrl), {
      headers: Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
    }),
    status: 201,
    headers: TusUpload.Created
  })
  const url = yield* Effect.fromResult(UploadTarget.resolve(target, created.location))
  return { url, offset: created["upload-offset"] ?? 0n }
})

/**
 * How far an upload has come, and its length where the server knows it. Beyond the specification (tus 1.0.0).
 */
export const offset = Effect.fn("Tus.offset", { attributes: { "http.request.method": "HEAD" } })(function* (
  url: UploadTarget.UploadUrl
) {
  const headers = yield* exchange({
    request: "offset",
    http: HttpClientRequest.head(Redacted.value(url), { headers: { "tus-resumable": TusUpload.tusVersion } }),
    status: 200,
    headers: TusUpload.OffsetHeaders
  })
  return { offset: headers["upload-offset"], length: headers["upload-length"] }
})

/**
 * Appends bytes at an offset, as they come from the stream; nothing is held back. Answers the new offset.
 */
export const append = Effect.fn("Tus.append", { attributes: { "http.request.method": "PATCH" } })(function* <E>(
  url: UploadTarget.UploadUrl,
  options: {
    readonly offset: TusUpload.Offset
    readonly body: Stream.Stream<Uint8Array, E>
    readonly contentLength: bigint
  }
) {
  const headers = yield* exchange({
    request: "append",
    http: HttpClientRequest.patch(Redacted.value(url), {
      headers: { "tus-resumable": TusUpload.tusVersion, "upload-offset": String(options.offset) }
    }).pipe(
      HttpClientRequest.bodyStream(options.body, {
        contentType: TusUpload.offsetOctetStream,
        contentLength: Number(options.contentLength)
      })
    ),
    status: 204,
    headers: TusUpload.Appended,
    streaming: true
  })
  return headers["upload-offset"]
})
