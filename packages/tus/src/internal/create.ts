/**
 * The requests with a body, with headers that were checked before.
 */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as TusError from "../TusError.ts"
import * as UploadTarget from "../UploadTarget.ts"
import { exchange } from "./exchange.ts"
import * as Telemetry from "./telemetry.ts"

/**
 * The bytes of one request: in memory, or a stream of exactly the given number of bytes. HTTP clients report a failing
 * or short stream in different ways, so `Upload` counts the bytes itself.
 *
 * @since 0.1.0
 * @category models
 */
export type Body<E = never> = Uint8Array | { readonly stream: Stream.Stream<Uint8Array, E>; readonly length: bigint }

const isStream = <E>(body: Body<E>): body is Exclude<Body<E>, Uint8Array> => "stream" in body && "length" in body

const toHttpBody = <E>(body: Body<E>): HttpBody.HttpBody => {
  if (isStream(body)) return HttpBody.stream(body.stream, TusUpload.offsetOctetStream, Number(body.length))
  const bytes = Bytes.own(body)
  // Without this check, an HTTP client would send a value that it does not know as a text such as `[object Blob]`.
  if (bytes === undefined) throw new TypeError("the body is neither a Uint8Array nor a stream with its length")
  return HttpBody.uint8Array(bytes, TusUpload.offsetOctetStream)
}

/** Sends the request, and returns the URL of the upload and its offset. See `Tus.create`. */
export const sendCreation = (
  target: UploadTarget.UploadTarget,
  headers: Readonly<Record<string, string>>,
  body: Body | undefined,
  sending?: { readonly limit: Duration.Duration; readonly isPermitted: true }
) =>
  Effect.suspend(() => {
    const request = HttpClientRequest.post(Redacted.value(target.tusUrl), { headers })
    const sent = exchange({
      request: "create",
      http: body === undefined ? request : HttpClientRequest.setBody(request, toHttpBody(body)),
      status: [201],
      headers: TusUpload.Created,
      ...sending
    })
    return Effect.flatMap(sent, ({ told }) => {
      const url = UploadTarget.resolve(target, told.location)
      if (Result.isFailure(url)) return Effect.fail(url.failure)
      const offset = told["upload-offset"] ?? (body === undefined ? 0n : undefined)
      const created = { url: url.success, offset }
      return body === undefined
        ? Effect.succeed(created)
        : Effect.as(Telemetry.stored(offset, BigInt(body.length)), created)
    })
  }).pipe(Telemetry.request("Tus.create", "POST"))

/**
 * Appends bytes at an offset. Returns the offset that the server reports, and whether the request declared the length of
 * its body: only then may the server have stored only the first bytes. See `Tus.append`.
 */
export const sendAppend = Effect.fnUntraced(
  function* <E>(
    url: UploadTarget.UploadUrl,
    options: {
      readonly offset: TusUpload.Offset
      readonly body: Body<E>
      readonly length?: TusUpload.UploadLength | undefined
      readonly checksum?: string | undefined
    },
    limits?: { readonly limit: Duration.Duration } | { readonly stalled: Effect.Effect<never, TusError.Stalled> }
  ) {
    const { declaresLength, told } = yield* exchange({
      request: "append",
      http: HttpClientRequest.patch(Redacted.value(url), {
        headers: {
          "tus-resumable": TusUpload.tusVersion,
          "upload-offset": String(options.offset),
          ...(options.length === undefined ? undefined : { "upload-length": String(options.length) }),
          ...(options.checksum === undefined ? undefined : { "upload-checksum": options.checksum })
        }
      }).pipe(HttpClientRequest.setBody(toHttpBody(options.body))),
      status: [204],
      headers: TusUpload.Appended,
      ...limits
    })
    const offset = told["upload-offset"]
    yield* Telemetry.stored(offset - options.offset, BigInt(options.body.length))
    return { offset, declaresLength }
  },
  Telemetry.request("Tus.append", "PATCH")
)

/**
 * The value of `upload-concat` for a final upload. A URL with the prefix of a proxy is sent as the path that the service
 * knows.
 */
export const concat = (target: UploadTarget.UploadTarget, parts: ReadonlyArray<UploadTarget.UploadUrl>): string => {
  const urls = parts.map((part) => {
    const url = Redacted.value(part)
    const { pathname } = new URL(url)
    const path = ServiceOrigins.withoutPrefix(target.origins, pathname)
    return path === pathname ? url : path
  })
  return `final;${urls.join(" ")}`
}

const longest = 8192

/** Checks the length of the header `upload-concat` of these parts (spec.md, "Limits"). */
export const checkConcat = (
  target: UploadTarget.UploadTarget,
  parts: ReadonlyArray<UploadTarget.UploadUrl>
): Effect.Effect<void, InvalidRequest> => {
  const { length } = concat(target, parts)
  if (length <= longest) return Effect.void
  const message = `Expected at most ${longest} characters of upload URLs, got ${length} for ${parts.length} parts`
  return Effect.fail(new InvalidRequest({ operation: "Tus.create", issues: [{ path: ["upload-concat"], message }] }))
}
