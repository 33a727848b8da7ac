import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import * as Transport from "../Transport.ts"

const maxExcerpt = 200
const lenient = new TextDecoder()

/** The start of a body for an error message. */
export const excerpt = (text: string): string => (text.length > maxExcerpt ? `${text.slice(0, maxExcerpt)}…` : text)

const concat = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0]
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/**
 * The body as text: at most `maxBytes`, and strict UTF-8. The stream is left at the first byte too many.
 */
export const readText = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  options: { readonly operation: string; readonly maxBytes: number }
): Effect.fn.Return<string, ApiError.UnexpectedResponse | ApiError.TransportFailure> {
  const unexpected = (problem: string, bytes: Uint8Array) =>
    new ApiError.UnexpectedResponse({
      operation: options.operation,
      status: response.status,
      problem,
      excerpt: excerpt(lenient.decode(bytes.subarray(0, maxExcerpt * 4)))
    })

  const chunks: Array<Uint8Array> = []
  let size = 0
  yield* response.stream.pipe(
    Stream.mapError(Transport.toFailure(options.operation)),
    Stream.runForEach((chunk) => {
      size += chunk.length
      if (size > options.maxBytes) {
        return Effect.fail(unexpected(`a body of more than ${options.maxBytes} bytes`, chunks[0] ?? chunk))
      }
      chunks.push(chunk)
      return Effect.void
    })
  )
  const bytes = concat(chunks, size)
  return yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unexpected("a body that is not UTF-8", bytes)
  })
})
