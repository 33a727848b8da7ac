/**
 * The errors of the routes. A route answers an error with the HTTP status of the error and a JSON body, which contains
 * `_tag` and `description`.
 */
import { withMessage } from "@assembly-effect/api/unstable/ErrorDetails"
import * as Effect from "effect/Effect"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"

const problem = { description: Schema.String }

/** The class of an error whose message is its `description`. */
const described = <
  Base extends abstract new (...args: never) => { readonly description: string; readonly message: string }
>(
  base: Base
): Base =>
  withMessage(base, function () {
    return this.description
  })

/** The answer with an error as JSON. */
const answer = (error: object, status: number, headers: Readonly<Record<string, string>> = {}) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe({ ...error }, { status, headers: { "cache-control": "no-store", ...headers } })
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
export class BodyMalformed extends described(
  Schema.TaggedError<BodyMalformed>()("BodyMalformed", problem, { httpApiStatus: 400 })
) {
  [HttpServerRespondable.symbol]() {
    return answer(this, 400, unread)
  }
}

/**
 * A field of the body breaks a rule: the schema of the route refuses its value, or the policy does. `field` is the path
 * of the field, such as `album` or `tags.0`, and absent if the rule is about the whole body. `description` is the rule.
 *
 * @example new Refusal.InvalidInput({ field: "album", description: "This album is closed." })
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidInput
  extends Schema.TaggedError<InvalidInput>()(
    "InvalidInput",
    { ...problem, field: Schema.optionalKey(Schema.String) },
    { httpApiStatus: 400 }
  )
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.field === undefined ? this.description : `${this.field}: ${this.description}`
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
export class BodyTooLarge extends described(
  Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", problem, { httpApiStatus: 413 })
) {
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
export class BodyTooSlow extends described(
  Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", problem, { httpApiStatus: 408 })
) {
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
export class UnsupportedBody extends described(
  Schema.TaggedError<UnsupportedBody>()("UnsupportedBody", problem, { httpApiStatus: 415 })
) {
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
export class OriginRefused extends described(
  Schema.TaggedError<OriginRefused>()("OriginRefused", problem, { httpApiStatus: 403 })
) {
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
export class SignatureRefused extends described(
  Schema.TaggedError<SignatureRefused>()("SignatureRefused", problem, { httpApiStatus: 403 })
) {
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
export class Busy extends described(Schema.TaggedError<Busy>()("Busy", problem, { httpApiStatus: 503 })) {
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
export class ApplicationFailed extends described(
  Schema.TaggedError<ApplicationFailed>()("ApplicationFailed", problem, { httpApiStatus: 500 })
) {
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
export class UploadExists extends described(
  Schema.TaggedError<UploadExists>()("UploadExists", problem, { httpApiStatus: 409 })
) {
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
export class UploadFailed extends described(
  Schema.TaggedError<UploadFailed>()("UploadFailed", problem, { httpApiStatus: 502 })
) {
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
export class Unauthenticated extends described(
  Schema.TaggedError<Unauthenticated>()("Unauthenticated", problem, { httpApiStatus: 401 })
) {
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
export class Forbidden extends described(
  Schema.TaggedError<Forbidden>()("Forbidden", problem, { httpApiStatus: 403 })
) {
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
export class TooManyRequests extends described(
  Schema.TaggedError<TooManyRequests>()("TooManyRequests", problem, { httpApiStatus: 429 })
) {
  [HttpServerRespondable.symbol]() {
    return answer(this, 429, unread)
  }
}

/**
 * The refusals of a policy: `InvalidInput` (400), `Unauthenticated` (401), `Forbidden` (403) and `TooManyRequests` (429).
 *
 * @since 0.1.0
 * @category errors
 */
export const PolicyRefusal = Schema.Union([InvalidInput, Unauthenticated, Forbidden, TooManyRequests])
/**
 * @since 0.1.0
 * @category errors
 */
export type PolicyRefusal = typeof PolicyRefusal.Type
