/**
 * The requests of tus 1.0.0 and the download of an upload, one function for each. `Upload` combines the requests of tus
 * 1.0.0 into an upload that retries and resumes.
 */
import * as Exchange from "@assembly-effect/api/unstable/Exchange"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Input from "@assembly-effect/schema/unstable/Input"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import { spanOf } from "./internal/telemetry.ts"
import * as Requests from "./internal/requests.ts"
import { ProtocolViolation, Stalled } from "./TusError.ts"
import type * as UploadTarget from "./UploadTarget.ts"

export type { Body } from "./internal/requests.ts"

/**
 * The time limit of a request of this module without a body, and of the wait for each piece of a download: 30 seconds
 * by default. After this time the request fails with `Stalled`. The limit also applies to `WebSource.fromUrl`.
 *
 * **Gotchas**
 *
 * The limit does not apply to a request with a body, because the time of such a request depends on the size of the body
 * and on the network. A program that calls `create` or `append` with a body must set its own limit. `Upload` limits its
 * requests with `stallTimeout` and `finishTimeout` instead.
 *
 * @example Effect.provideService(Tus.offset(url), Tus.RequestTimeout, Duration.seconds(5))
 *
 * @since 0.1.0
 * @category references
 */
export const RequestTimeout: Context.Reference<Duration.Duration> = Requests.RequestTimeout

/**
 * The metadata of an upload: a text for each key, or null for a key without a value. Each creation also sends the
 * `assembly_url` of the target.
 */
type Metadata = Readonly<Record<string, string | null>>

/**
 * The request that creates an upload (spec.md, "Create a tus upload"). Its three kinds exclude each other.
 *
 * - `Fixed`: an upload of the given length.
 * - `Deferred`: an upload whose length a later `append` sends.
 * - `Final`: concatenates the parts in the given order. The request has no body.
 *
 * `body` contains the first bytes of the upload, which are sent with the request. If `partial` is true, the new upload
 * becomes a part of a later final upload.
 */
type Creation =
  | ({ readonly _tag: "Fixed"; readonly length: TusUpload.UploadLength } & First)
  | ({ readonly _tag: "Deferred" } & First)
  | { readonly _tag: "Final"; readonly parts: ReadonlyArray<UploadTarget.UploadUrl>; readonly metadata: Metadata }

/** What the creations of an upload with its own bytes have in common. The declaration of `create` contains its fields. */
type First = {
  readonly metadata: Metadata
  readonly partial?: boolean | undefined
  readonly body?: Requests.Body | undefined
}

type Encoder = (headers: unknown) => Effect.Effect<Readonly<Record<string, string>>, SchemaIssue.Issue>

const encoders: { readonly [Tag in Creation["_tag"]]: Encoder } = {
  Fixed: SchemaParser.encodeUnknownEffect(TusUpload.FixedHeaders, { errors: "all" }),
  Deferred: SchemaParser.encodeUnknownEffect(TusUpload.DeferredHeaders, { errors: "all" }),
  Final: SchemaParser.encodeUnknownEffect(TusUpload.FinalHeaders, { errors: "all" })
}

/**
 * Creates an upload and returns its URL, which has passed the checks of `UploadTarget.resolve`. `offset` is the offset
 * that the server reports. If the server reports no offset, `offset` is 0 after a request without a body, and undefined
 * after a request with a body. The request is not idempotent: if the response is lost, the upload may exist, and a
 * second request would then create a second upload.
 *
 * @example
 * Tus.create(target, { _tag: "Fixed", length: 5n, metadata: { filename: "a.txt", fieldname: "file" } })
 *
 * @since 0.1.0
 * @category requests
 */
export const create = Effect.fnUntraced(function* (target: UploadTarget.UploadTarget, creation: Creation) {
  const encoded = encoders[creation._tag]({
    ...Requests.version,
    "upload-metadata": { ...creation.metadata, assembly_url: Redacted.value(target.assemblySslUrl) },
    ...(creation._tag === "Fixed" ? { "upload-length": creation.length } : undefined),
    ...(creation._tag === "Deferred" ? { "upload-defer-length": "1" } : undefined),
    ...(creation._tag === "Final"
      ? { "upload-concat": Requests.concat(target, creation.parts) }
      : creation.partial === true && { "upload-concat": "partial" })
  })
  const headers = yield* Effect.mapError(encoded, (issue) => Input.invalidRequest("Tus.create", issue))
  const body = creation._tag === "Final" ? undefined : creation.body
  yield* Requests.permit("create", target.tusUrl, body)
  return yield* Requests.sendCreation(target, headers, body)
})

/**
 * Requests the offset of an upload, and its length and metadata if the server reports them. tus 1.0.0 defines this
 * request; the specification of the service does not.
 *
 * @since 0.1.0
 * @category requests
 */
export const offset = (url: UploadTarget.UploadUrl) =>
  Effect.map(Requests.sendOffset(url, TusUpload.OffsetHeaders), (headers) => ({
    offset: headers["upload-offset"],
    length: headers["upload-length"],
    metadata: headers["upload-metadata"]
  }))

/**
 * Appends bytes at an offset and returns the new offset, which may be less than the end of the sent bytes if the request
 * had a content-length: the server then stored only the first of these bytes. A stream is sent without buffering.
 * `length` declares a length that the creation deferred. `checksum` is the checksum of the body, as `<algorithm> <base64>`.
 *
 * @since 0.1.0
 * @category requests
 */
export const append = <E>(
  url: UploadTarget.UploadUrl,
  options: {
    readonly offset: TusUpload.Offset
    readonly body: Requests.Body<E>
    readonly length?: TusUpload.UploadLength | undefined
    readonly checksum?: string | undefined
  }
) =>
  Effect.gen(function* () {
    const { declaresLength, offset: reached } = yield* Requests.sendAppend(url, options)
    if (declaresLength || reached >= options.offset + BigInt(options.body.length)) return reached
    const description = "upload-offset is less than the sent bytes, and the request declared no length"
    return yield* new ProtocolViolation({ request: "append", host: Requests.hostOf(url), status: 204, description })
  })

const Terminated = Schema.Struct({ "tus-resumable": Schema.Literal(TusUpload.tusVersion) })

/**
 * Terminates an upload and frees its storage on the server. tus 1.0.0 (termination) defines this request; the
 * specification of the service does not.
 *
 * @since 0.1.0
 * @category requests
 */
export const terminate = (url: UploadTarget.UploadUrl) =>
  Requests.send({ request: "terminate", url, headers: Requests.version, read: Terminated, told: () => Result.void })

const list = (text = ""): ReadonlyArray<string> => text.split(",").flatMap((item) => item.trim() || [])

const Discovered = Schema.Struct({
  "tus-version": Schema.optionalKey(Schema.String),
  "tus-extension": Schema.optionalKey(Schema.String),
  "tus-max-size": Schema.optionalKey(TusUpload.UploadLength),
  "tus-checksum-algorithm": Schema.optionalKey(Schema.String)
})

/**
 * Requests the capabilities of the server: protocol versions, extensions, the largest upload in bytes, and checksum
 * algorithms. tus 1.0.0 defines this request; the specification of the service does not.
 *
 * @since 0.1.0
 * @category requests
 */
export const discover = (target: UploadTarget.UploadTarget) =>
  Requests.send({
    request: "discover",
    url: target.tusUrl,
    headers: {},
    read: Discovered,
    told: (headers) =>
      Result.succeed({
        versions: list(headers["tus-version"]),
        extensions: list(headers["tus-extension"]),
        maxSize: headers["tus-max-size"],
        checksumAlgorithms: list(headers["tus-checksum-algorithm"])
      })
  })

/**
 * Downloads the bytes of a finished upload. {@link RequestTimeout} applies to the response headers and to each piece.
 * tus 1.0.0 does not define this request, and the specification of the service only names it.
 *
 * @since 0.1.0
 * @category requests
 */
export const download = (url: UploadTarget.UploadUrl) =>
  Stream.suspend(() => {
    const from = Redacted.value(url)
    const subject = { operation: "Tus.download" }
    const opened = Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const after = yield* RequestTimeout
      const late = new Stalled({ request: "download", host: Requests.hostOf(url), after })
      const inTime = Effect.timeoutOrElse({ duration: after, orElse: () => Effect.fail(late) })
      yield* Requests.permit("download", url)
      const asked = HttpClientRequest.get(from, { headers: Requests.version })
      const response = yield* inTime(Exchange.open(client, asked, subject))
      if (response.status !== 200) return yield* Requests.refuseStream("download", response)
      return Stream.transformPull(Stream.mapError(response.stream, Exchange.toFailure(subject)), (pull) =>
        Effect.succeed(inTime(pull))
      )
    })
    return Stream.withSpan(Stream.unwrap(opened), "Tus.download", spanOf("GET", from))
  })
