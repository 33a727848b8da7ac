import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Stream from "effect/Stream"

/** The first `afterBytes` bytes of a stream. */
export const first = <E>(stream: Stream.Stream<Uint8Array, E>, afterBytes: number): Stream.Stream<Uint8Array, E> =>
  stream.pipe(
    Stream.mapAccum(
      () => afterBytes,
      (left, chunk) => [left - chunk.length, [{ bytes: chunk.subarray(0, left), last: chunk.length >= left }]] as const
    ),
    Stream.takeUntil(({ last }) => last),
    Stream.map(({ bytes }) => bytes)
  )

/** Passes the first `afterBytes` bytes of a stream, then fails with `error`. */
const cut = <E>(stream: Stream.Stream<Uint8Array, E>, afterBytes: number, error: E): Stream.Stream<Uint8Array, E> =>
  Stream.concat(first(stream, afterBytes), Stream.fail(error))

/**
 * Returns a request whose connection breaks after `bytes` bytes of the body. `stream` contains the first `bytes` bytes,
 * and then fails. All other ways to read the body fail at once.
 */
export const after = (
  request: HttpServerRequest.HttpServerRequest,
  bytes: number
): HttpServerRequest.HttpServerRequest => {
  const error = new HttpServerError.HttpServerError({
    reason: new HttpServerError.RequestParseError({ request, description: "the connection broke" })
  })
  const multipartError = Multipart.MultipartError.fromReason("Parse", error)
  const broken = { value: Effect.fail(error) }
  const brokenMultipart = { value: Effect.fail(multipartError) }
  const view: HttpServerRequest.HttpServerRequest = Object.create(request, {
    stream: { value: cut(request.stream, bytes, error) },
    text: broken,
    json: broken,
    arrayBuffer: broken,
    urlParamsBody: broken,
    multipart: brokenMultipart,
    multipartStream: { value: Stream.fail(multipartError) }
  })
  return view
}
