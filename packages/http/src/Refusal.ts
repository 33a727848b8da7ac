/**
 * The errors of the routes. A route answers an error with the HTTP status of the error and a JSON body, which contains
 * `_tag` and `description`.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"

const problem = { description: Schema.String }

/** The answer with an error as JSON. */
const answer = (
  error: { readonly _tag: string; readonly description: string },
  status: number,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { _tag: error._tag, description: error.description },
      { status, headers: { "cache-control": "no-store", ...headers } }
    )
  )

/**
 * Closes the connection after the answer to a request whose body may not have been read to its end. Without this
 * header, the server would still receive the rest of the body.
 */
const unread = { connection: "close" }

/**
 * The body or the upload id does not have the form that the route expects, or the connection ended before the body was
 * complete.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyMalformed
  extends Schema.TaggedError<BodyMalformed>()("BodyMalformed", problem, { httpApiStatus: 400 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 400, unread)
  }
}

/**
 * The body, its file or one of its fields is larger than the limit, or the body has too many fields.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyTooLarge
  extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", problem, { httpApiStatus: 413 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 413, unread)
  }
}

/**
 * The body took too long to arrive or stopped arriving, or the upload took too long.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyTooSlow
  extends Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", problem, { httpApiStatus: 408 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 408, unread)
  }
}

/**
 * The route does not read bodies with this `content-type`.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedBody
  extends Schema.TaggedError<UnsupportedBody>()("UnsupportedBody", problem, { httpApiStatus: 415 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 415, unread)
  }
}

/**
 * A page of another origin sent the request; see the option `origins` of the route.
 *
 * @since 0.1.0
 * @category errors
 */
export class OriginRefused
  extends Schema.TaggedError<OriginRefused>()("OriginRefused", problem, { httpApiStatus: 403 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403, unread)
  }
}

/**
 * The signature of a notification is invalid: the service did not send the notification, or signed it with another
 * secret or with an algorithm that `Webhook` does not accept.
 *
 * @since 0.1.0
 * @category errors
 */
export class SignatureRefused
  extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", problem, { httpApiStatus: 403 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403)
  }
}

/**
 * The route cannot process the request now, for example because too many requests are running. The sender should repeat
 * the request after one second (the header `retry-after`).
 *
 * @since 0.1.0
 * @category errors
 */
export class Busy
  extends Schema.TaggedError<Busy>()("Busy", problem, { httpApiStatus: 503 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 503, { ...unread, "retry-after": "1" })
  }
}

/**
 * The application failed. The answer does not contain the reason, but the log of the application does.
 *
 * @since 0.1.0
 * @category errors
 */
export class ApplicationFailed
  extends Schema.TaggedError<ApplicationFailed>()("ApplicationFailed", problem, { httpApiStatus: 500 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 500, unread)
  }
}

/**
 * An upload with this id is running or has just ended. Each upload needs its own id.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadExists
  extends Schema.TaggedError<UploadExists>()("UploadExists", problem, { httpApiStatus: 409 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 409, unread)
  }
}

/**
 * The upload to the service failed, or the Assembly failed. The log of the application contains the reason.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadFailed
  extends Schema.TaggedError<UploadFailed>()("UploadFailed", problem, { httpApiStatus: 502 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 502, unread)
  }
}

/**
 * The policy of the application cannot identify the user who sent the request.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unauthenticated
  extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", problem, { httpApiStatus: 401 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
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
    return this.description
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403, unread)
  }
}

/**
 * The policy of the application refuses the request now, but may permit it later.
 *
 * @since 0.1.0
 * @category errors
 */
export class TooManyRequests
  extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", problem, { httpApiStatus: 429 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.description
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
export const PolicyRefusal = Schema.Union([Unauthenticated, Forbidden, TooManyRequests])
/**
 * @since 0.1.0
 * @category errors
 */
export type PolicyRefusal = Unauthenticated | Forbidden | TooManyRequests
