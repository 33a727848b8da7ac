/**
 * The errors of the routes. A route answers an error with the HTTP status of the error and a JSON body, which contains
 * `_tag` and `description`.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"

const problem = { description: Schema.String }

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

/** The class of an error that is its own answer, and whose message is its `description`. */
type Refused<Self, Tag extends string> = Schema.Class<
  Self,
  Schema.TaggedStruct<Tag, typeof problem>,
  Cause.YieldableError & HttpServerRespondable.Respondable
>

/** Makes the base class of an error that a route answers with `status` and `headers`. */
const refusal =
  <Self>() =>
  <const Tag extends string>(
    tag: Tag,
    status: number,
    headers: Readonly<Record<string, string>> = unread
  ): Refused<Self, Tag> => {
    interface Described {
      readonly description: string
    }
    const base = Schema.TaggedError<Described>()(tag, problem, { httpApiStatus: status })
    Object.defineProperty(base.prototype, HttpServerRespondable.symbol, {
      value(this: Described) {
        return answer(this, status, headers)
      }
    })
    Object.defineProperty(base.prototype, "message", {
      get(this: Described) {
        return this.description
      }
    })
    // The class is its own `Self` only where it is declared, and has the method only since the last statements.
    return base as unknown as Refused<Self, Tag>
  }

/**
 * The body or the upload id does not have the form that the route expects, or the connection ended before the body was
 * complete.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyMalformed extends refusal<BodyMalformed>()("BodyMalformed", 400) {}

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
export class BodyTooLarge extends refusal<BodyTooLarge>()("BodyTooLarge", 413) {}

/**
 * The body took too long to arrive or stopped arriving, or the upload took too long.
 *
 * @since 0.1.0
 * @category errors
 */
export class BodyTooSlow extends refusal<BodyTooSlow>()("BodyTooSlow", 408) {}

/**
 * The route does not read bodies with this `content-type`.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsupportedBody extends refusal<UnsupportedBody>()("UnsupportedBody", 415) {}

/**
 * A page of another origin sent the request; see the option `origins` of the route.
 *
 * @since 0.1.0
 * @category errors
 */
export class OriginRefused extends refusal<OriginRefused>()("OriginRefused", 403) {}

/**
 * The signature of a notification is invalid: the service did not send the notification, or signed it with another
 * secret or with an algorithm that `Webhook` does not accept.
 *
 * @since 0.1.0
 * @category errors
 */
export class SignatureRefused extends refusal<SignatureRefused>()("SignatureRefused", 403, {}) {}

/**
 * The route cannot process the request now, for example because too many requests are running. The sender should repeat
 * the request after one second (the header `retry-after`).
 *
 * @since 0.1.0
 * @category errors
 */
export class Busy extends refusal<Busy>()("Busy", 503, { ...unread, "retry-after": "1" }) {}

/**
 * The application failed. The answer does not contain the reason, but the log of the application does.
 *
 * @since 0.1.0
 * @category errors
 */
export class ApplicationFailed extends refusal<ApplicationFailed>()("ApplicationFailed", 500) {}

/**
 * An upload with this id is running, or another file is stored with this id. Each file needs its own id.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadExists extends refusal<UploadExists>()("UploadExists", 409) {}

/**
 * The upload to the service failed, or the Assembly failed. The log of the application contains the reason.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadFailed extends refusal<UploadFailed>()("UploadFailed", 502) {}

/**
 * The policy of the application cannot identify the user who sent the request.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unauthenticated extends refusal<Unauthenticated>()("Unauthenticated", 401) {}

/**
 * The policy of the application does not permit the request.
 *
 * @since 0.1.0
 * @category errors
 */
export class Forbidden extends refusal<Forbidden>()("Forbidden", 403) {}

/**
 * The policy of the application refuses the request now, but may permit it later.
 *
 * @since 0.1.0
 * @category errors
 */
export class TooManyRequests extends refusal<TooManyRequests>()("TooManyRequests", 429) {}

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
