/**
 * Everything that an operation can fail with. Handle by tag; a caller never needs to compare texts.
 *
 * None carries a secret, a token, a signature, a signed URL, or the URL of an upload or a Status, also where the service
 * repeats one.
 */
import type * as AuthError from "@assembly-effect/auth/AuthError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Cause from "./unstable/Cause.ts"

/**
 * What every error tells about the request.
 *
 * - `operation`: such as `Assemblies.list`.
 * - `host`: the host that the request went to, with its port where that is not the usual one. Never a path or a query:
 *   the URL of an upload or a Status is a capability.
 * - `assemblyId`: where the path of the operation names an Assembly. Whoever has it may read the Assembly's Status, so
 *   an application that exports errors may want to leave it out. No text and no span holds it.
 */
const subject = {
  operation: Schema.String,
  host: Schema.optionalKey(Schema.String),
  assemblyId: Schema.optionalKey(Schema.String)
}

/**
 * What the service answered: its code, the HTTP status, and what else was in the error object.
 *
 * Its texts are redacted, printable and bounded (`@assembly-effect/auth/Redaction`): `code` and `requestId` have at most
 * 100 characters, `explanation` (the `message` of the service) and each text in `reason` at most 1,000. `requestId` is
 * the `x-request-id` of the answer: it helps the service to find the request. `assemblyId` is the id that the caller
 * gave; where the caller gave none, it is the one in the answer.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Details = Schema.Struct({
  ...subject,
  code: Schema.String,
  status: Schema.Int,
  explanation: Schema.String,
  reason: Schema.optionalKey(Schema.Json),
  requestId: Schema.optionalKey(Schema.String)
})
/**
 * @since 0.1.0
 * @category models
 */
export type Details = typeof Details.Type

/** The code and the status of an answer, and the words of the service where they say more than the code. */
const answered = ({ code, explanation, status }: Pick<Details, "code" | "explanation" | "status">): string =>
  `${code === "" ? "" : `${code}, `}status ${status}${explanation === "" || explanation === code ? "" : `: ${explanation}`}`

/** The message of an answer that the operation names an error for. */
const refused = (details: Details): string => `${details.operation} failed with ${answered(details)}`

/**
 * One rule that an input breaks: where, and in words.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Issue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  message: Schema.String
})
/**
 * @since 0.1.0
 * @category models
 */
export type Issue = typeof Issue.Type

/**
 * The input breaks a rule of the specification; nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  ...subject,
  issues: Schema.Array(Issue)
}) {
  override get message() {
    const lines = this.issues.map(({ message, path }) =>
      path.length === 0 ? message : `${path.join(".")}: ${message}`
    )
    return `${this.operation}: ${lines.join("; ")}`
  }
}

/**
 * The error of the token request (`@assembly-effect/auth/AuthError`), where that failed before the operation was sent.
 * The `code` of an error of the HTTP client is in {@link TransportFailure}.
 */
const cause = { cause: Schema.optionalKey(Cause.of<AuthError.AuthError>()) }

/**
 * The service does not accept who asks: an unknown key, a wrong or used signature, a missing scope, an expired token.
 *
 * `clockSkew` is how far the clock of the service is ahead of ours (negative: behind), in milliseconds, where the code
 * is AUTH_EXPIRED and the answer told its time. One attempt with that corrected has failed as well, or it is more than the
 * `maxClockSkew` of the client and was not corrected.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthenticationFailed extends Schema.TaggedError<AuthenticationFailed>()("AuthenticationFailed", {
  ...Details.fields,
  clockSkew: Schema.optionalKey(Schema.Finite),
  ...cause
}) {
  override get message() {
    const { clockSkew, operation } = this
    // The error of the token request tells code and status itself.
    if (this.cause !== undefined) return `${operation}: ${this.explanation}`
    const clock =
      clockSkew === undefined
        ? ""
        : `; the clock of the service is ${Math.abs(clockSkew) / 1000} s ${clockSkew < 0 ? "behind" : "ahead"}`
    return `${operation}: the service does not accept the credentials (${answered(this)})${clock}`
  }
}

/**
 * Too many requests; `retryAfter` is how long the service asks to wait, zero where it names nothing.
 *
 * Status 0 stands for the program's own rate limiter (`Guard.layerRateLimiter`), which sent nothing; `retryAfter` is then
 * the time until it has a permit.
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...Details.fields,
  retryAfter: Schema.Duration,
  ...cause
}) {
  override get message() {
    const { operation, retryAfter, status } = this
    if (status === 0) return `${operation}: ${this.explanation}`
    const wait = Duration.isZero(retryAfter) ? "a while" : `${Duration.toSeconds(retryAfter)} s`
    const what = this.cause === undefined ? `too many requests (${answered(this)})` : this.explanation
    return `${operation}: ${what}; try again in ${wait}`
  }
}

/**
 * Any other error code of the service.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServiceFailure extends Schema.TaggedError<ServiceFailure>()("ServiceFailure", Details) {
  override get message() {
    return refused(this)
  }
}

/**
 * An answer that is neither a success nor an error of the service. `excerpt` is the start of the body, at most 200
 * characters, redacted and printable.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnexpectedResponse extends Schema.TaggedError<UnexpectedResponse>()("UnexpectedResponse", {
  ...subject,
  status: Schema.Int,
  problem: Schema.String,
  excerpt: Schema.String,
  requestId: Schema.optionalKey(Schema.String),
  ...cause
}) {
  override get message() {
    return `${this.operation}: status ${this.status}, ${this.problem}`
  }
}

/**
 * The request or its answer was lost on the way, or was stopped before it left.
 *
 * - `code`: the cause's own code where it has one, such as `ECONNREFUSED`, `ENOTFOUND` or `CERT_HAS_EXPIRED`.
 * - `sent`: `no` when nothing of the request has left, so that it may be sent again; `maybe` when the service may have
 *   seen it.
 * - `permanent`: whether the same request would fail in the same way: a certificate that is not trusted, an unknown
 *   host, an HTTP client that changes requests.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransportFailure extends Schema.TaggedError<TransportFailure>()("TransportFailure", {
  ...subject,
  problem: Schema.String,
  code: Schema.optionalKey(Schema.String),
  sent: Schema.Literals(["no", "maybe"]).pipe(Schema.withConstructorDefault(Effect.succeed("maybe" as const))),
  permanent: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  ...cause
}) {
  override get message() {
    const { code, host, operation, problem } = this
    const where = [host, code].filter((part) => part !== undefined).join(", ")
    return `${operation}: ${problem}${where === "" ? "" : ` (${where})`}`
  }
}

/**
 * No whole answer within the time that one request, or the whole operation, has.
 *
 * @since 0.1.0
 * @category errors
 */
export class TimedOut extends Schema.TaggedError<TimedOut>()("TimedOut", {
  ...subject,
  after: Schema.Duration
}) {
  override get message() {
    const from = this.host === undefined ? "" : ` from ${this.host}`
    return `${this.operation}: no answer${from} after ${Duration.toSeconds(this.after)} s`
  }
}

// The annotations let a bundler drop the errors of operations that nobody calls.

/**
 * 400 ASSEMBLY_STATS_INVALID_TIME: `since` is missing or incorrect, or more than 91 days ago.
 *
 * @since 0.1.0
 * @category errors
 */
export class StatisticsInvalidTime
  extends /* @__PURE__ */ Schema.TaggedError<StatisticsInvalidTime>()("StatisticsInvalidTime", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * 400 ASSEMBLY_STATS_MISSING_REGION: a region or `all` must be given.
 *
 * @since 0.1.0
 * @category errors
 */
export class StatisticsMissingRegion
  extends /* @__PURE__ */ Schema.TaggedError<StatisticsMissingRegion>()("StatisticsMissingRegion", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * 500 ASSEMBLY_STATS_ERROR: the statistics could not be loaded.
 *
 * @since 0.1.0
 * @category errors
 */
export class StatisticsUnavailable
  extends /* @__PURE__ */ Schema.TaggedError<StatisticsUnavailable>()("StatisticsUnavailable", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * ASSEMBLY_LIST_ERROR: instead of a list.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyListFailed
  extends /* @__PURE__ */ Schema.TaggedError<AssemblyListFailed>()("AssemblyListFailed", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * 400 DAM_INVALID_REQUEST: the params are invalid.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamInvalidRequest
  extends /* @__PURE__ */ Schema.TaggedError<DamInvalidRequest>()("DamInvalidRequest", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * 404 DAM_RESOURCE_NOT_FOUND: no such asset or folder in this Workspace.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamResourceNotFound
  extends /* @__PURE__ */ Schema.TaggedError<DamResourceNotFound>()("DamResourceNotFound", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * 409 DAM_MUTATION_CONFLICT: the change conflicts with something that exists.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamMutationConflict
  extends /* @__PURE__ */ Schema.TaggedError<DamMutationConflict>()("DamMutationConflict", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * 500 DAM_MUTATION_FAILED: the change could not be completed; the service says to retry.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamMutationFailed
  extends /* @__PURE__ */ Schema.TaggedError<DamMutationFailed>()("DamMutationFailed", Details)
{
  override get message() {
    return refused(this)
  }
}

/**
 * What every operation can fail with.
 *
 * @since 0.1.0
 * @category models
 */
export type Common = InvalidRequest | RateLimited | ServiceFailure | UnexpectedResponse | TransportFailure | TimedOut

/** How an Assembly ended that did not complete. `explanation` is the `message` of its Status. */
const ending = {
  assemblyId: Schema.String,
  code: Schema.String,
  explanation: Schema.String,
  reason: Schema.optionalKey(Schema.Json)
}

interface Ending {
  readonly assemblyId: string
  readonly code: string
  readonly explanation: string
}

/** The first digits of the id are enough to find the Assembly, and give no access to it. */
const ended = ({ assemblyId, code, explanation }: Ending, how: string): string =>
  `Assembly ${assemblyId.slice(0, 6)}… ${how} with ${code}${explanation === "" || explanation === code ? "" : `: ${explanation}`}`

/**
 * The Assembly has failed; `code` and `reason` are the `error` and `reason` of its Status. Its Status tells more:
 * `Assemblies.get`.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyFailed extends /* @__PURE__ */ Schema.TaggedError<AssemblyFailed>()("AssemblyFailed", ending) {
  override get message() {
    return ended(this, "failed")
  }
}

/**
 * Somebody canceled the Assembly: ASSEMBLY_CANCELED.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyCanceled
  extends /* @__PURE__ */ Schema.TaggedError<AssemblyCanceled>()("AssemblyCanceled", ending)
{
  override get message() {
    return ended(this, "was canceled")
  }
}

/**
 * The request that created the Assembly was aborted: REQUEST_ABORTED.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyAborted extends /* @__PURE__ */ Schema.TaggedError<AssemblyAborted>()("AssemblyAborted", ending) {
  override get message() {
    return ended(this, "was aborted")
  }
}
