/**
 * A way to read the bodies of the responses of one HTTP client.
 */
import type * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"

/**
 * Passes the pieces of a response body to `take` until `take` returns false. The rest of the body is not read. Returns
 * undefined for a response that this reader does not know.
 *
 * @since 0.1.0
 * @category models
 */
export interface BodyReader {
  (
    response: HttpClientResponse.HttpClientResponse,
    take: (piece: Uint8Array) => boolean
  ): Effect.Effect<void, HttpClientError.HttpClientError> | undefined
}
