/**
 * The failures of an HTTP exchange, and the text of an error body.
 */
import * as Data from "effect/Data"
import type * as Headers from "effect/http/Headers"

/**
 * A request without a complete response. The error contains neither the URL nor the content of the request.
 *
 * - `description`: the description of the failure.
 * - `code`: the error code that the HTTP client reports, if any, such as `ECONNREFUSED`, or a code of this package:
 *   `REQUEST_REPEATED`, `REQUEST_REDIRECTED`, `BODY_CHANGED`, `BODY_READ_TWICE`, `STREAM_UNSUPPORTED`.
 * - `sent`: is `no` if no byte of the request was sent, and `maybe` if the service may have received the request.
 * - `permanent`: whether the same request would fail again in the same way.
 *
 * @since 0.1.0
 * @category errors
 */
export class Lost extends Data.TaggedError("Lost")<{
  readonly description: string
  readonly code?: string | undefined
  readonly sent: "no" | "maybe"
  readonly permanent: boolean
}> {}

/**
 * The body of an error, as far as it could be read. If `description` is undefined, `text` is the whole body as valid UTF-8.
 * If `description` is defined, `text` is the part of the body that could be read, with replacement characters for invalid
 * UTF-8. This part may contain a credential, or end in the middle of a credential.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorText {
  readonly text: string
  readonly description: string | undefined
}

/**
 * A response whose body was read as far as it could be, within a limit of bytes. `end` says how the body ended: it is
 * `whole`; it is `tooLarge`, and `bytes` includes the chunk that exceeds the limit; it did not end in time (`late`); or
 * the connection was lost.
 *
 * @since 0.1.0
 * @category models
 */
export interface Gathered {
  readonly status: number
  readonly headers: Headers.Headers
  readonly bytes: Uint8Array
  readonly end: "whole" | "tooLarge" | "late" | Lost
}
