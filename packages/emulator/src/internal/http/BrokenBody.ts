import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Stream from "effect/Stream"

/** The first bytes of a stream; whatever follows them is the error. */
const cut = <E>(stream: Stream.Stream<Uint8Array, E>, afterBytes: number, error: E): Stream.Stream<Uint8Array, E> =>
  stream.pipe(
    Stream.mapAccum(
      () => afterBytes,
      (left, chunk) => [left - chunk.length, [{ bytes: chunk.subarray(0, left), last: chunk.length >= left }]] as const
    ),
    Stream.takeUntil(({ last }) => last),
    Stream.map(({ bytes }) => bytes),
    Stream.concat(Stream.fail(error))
  )

/**
 * A request as a server sees it whose connection breaks after some bytes of the body. Read as a whole the body always
 * fails; as a stream it gives those bytes first.
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
