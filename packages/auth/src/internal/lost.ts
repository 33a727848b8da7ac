import * as Data from "effect/Data"

/**
 * A request that got no answer. It tells neither where the request went nor what it carried.
 *
 * - `problem`: what went wrong, in words.
 * - `code`: the cause's own code where it has one, such as `ECONNREFUSED`, or one of ours for a request that was
 *   stopped: `REQUEST_REPEATED`, `REQUEST_REDIRECTED`, `BODY_CHANGED`, `BODY_READ_TWICE`, `STREAM_UNSUPPORTED`.
 * - `sent`: `no` when nothing of the request has left, `maybe` when the service may have seen it.
 * - `permanent`: whether the same request would fail in the same way.
 *
 * @since 0.1.0
 * @category errors
 */
export class Lost extends Data.TaggedError("Lost")<{
  readonly problem: string
  readonly code?: string | undefined
  readonly sent: "no" | "maybe"
  readonly permanent: boolean
}> {}
