/**
 * The errors of the routes. Each error is a JSON answer: its `_tag`, its `problem`, and its HTTP status.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"

const problem = { problem: Schema.String }

/** The JSON answer of an error. */
const answer = (
  error: { readonly _tag: string; readonly problem: string },
  status: number,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { _tag: error._tag, problem: error.problem },
      { status, headers: { "cache-control": "no-store", ...headers } }
    )
  )

/** The answer to a request whose body was not read to its end: without `close`, the rest would still be received. */
const unread = { connection: "close" }

/**
 * The body is not what the route reads, or it breaks off.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyMalformed
  extends Schema.TaggedError<BodyMalformed>()("BodyMalformed", problem, { httpApiStatus: 400 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 400, unread)
  }
}

/**
 * The body is larger than the limit, or has too many fields.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyTooLarge
  extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", problem, { httpApiStatus: 413 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 413, unread)
  }
}

/**
 * The body took too long to arrive.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyTooSlow
  extends Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", problem, { httpApiStatus: 408 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 408, unread)
  }
}

/**
 * The `content-type` of the body is not one that the route reads.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedBody
  extends Schema.TaggedError<UnsupportedBody>()("UnsupportedBody", problem, { httpApiStatus: 415 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 415, unread)
  }
}

/**
 * A page of another site sent the request; see the option `origins` of the route.
 *
 * @since 0.1.0
 * @category errors
 */
export class OriginRefused
  extends Schema.TaggedError<OriginRefused>()("OriginRefused", problem, { httpApiStatus: 403 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403, unread)
  }
}

/**
 * The signature of a notification is invalid, so the service did not send it.
 *
 * @since 0.1.0
 * @category errors
 */
export class SignatureRefused
  extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", problem, { httpApiStatus: 403 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403)
  }
}

/**
 * The route has no room for the request now. The sender should repeat the request after `retryAfter` seconds.
 *
 * @since 0.1.0
 * @category errors
 */
export class Busy
  extends Schema.TaggedError<Busy>()("Busy", problem, { httpApiStatus: 503 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 503, { ...unread, "retry-after": "1" })
  }
}

/**
 * The application failed. The answer does not say how; the log of the application does.
 *
 * @since 0.1.0
 * @category errors
 */
export class ApplicationFailed
  extends Schema.TaggedError<ApplicationFailed>()("ApplicationFailed", problem, { httpApiStatus: 500 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 500, unread)
  }
}

/**
 * An upload with this id runs or has just ended. Each upload needs its own id.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadExists
  extends Schema.TaggedError<UploadExists>()("UploadExists", problem, { httpApiStatus: 409 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 409, unread)
  }
}

/**
 * The service did not take the upload. The log of the application says why.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadFailed
  extends Schema.TaggedError<UploadFailed>()("UploadFailed", problem, { httpApiStatus: 502 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 502, unread)
  }
}

/**
 * The policy of the application does not know who asks.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unauthenticated
  extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", problem, { httpApiStatus: 401 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 401, unread)
  }
}

/**
 * The policy of the application does not permit the request.
 *
 * @since 0.1.0
 * @category errors
 */
export class Forbidden
  extends Schema.TaggedError<Forbidden>()("Forbidden", problem, { httpApiStatus: 403 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403, unread)
  }
}

/**
 * The policy of the application permits the request later, but not now.
 *
 * @since 0.1.0
 * @category errors
 */
export class TooManyRequests
  extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", problem, { httpApiStatus: 429 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 429, unread)
  }
}

/**
 * The refusals of a policy: `Unauthenticated` (401), `Forbidden` (403) and `TooManyRequests` (429).
 *
 * @since 0.1.0
 * @category errors
 */
export const PolicyRefusal = /* @__PURE__ */ Schema.Union([Unauthenticated, Forbidden, TooManyRequests])
/**
 * @since 0.1.0
 * @category errors
 */
export type PolicyRefusal = Unauthenticated | Forbidden | TooManyRequests
