/**
 * Everything that an operation can fail with. Handle by tag; a caller never needs to compare texts.
 *
 * None carries a secret, a token, a signature, a signed URL, or the URL of an upload or a Status, also where the service
 * repeats one.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/**
 * What the service said: its code, the HTTP status, and what else was in the error object.
 *
 * Its texts are redacted, printable and bounded (`@assembly-effect/auth/Redaction`): `code` has at most 100 characters,
 * `message` and each text in `reason` at most 1,000. `assemblyId` is the id that the caller gave; where the caller gave
 * none, it is the one in the answer, if it is one. Whoever has it may read the Assembly's Status, so an application
 * that exports errors may want to leave it out. No text and no span holds it.
 */
export const Details = Schema.Struct({
  code: Schema.String,
  status: Schema.Int,
  message: Schema.String,
  reason: Schema.optionalKey(Schema.Json),
  assemblyId: Schema.optionalKey(Schema.String)
})
export type Details = typeof Details.Type

/**
 * One rule that an input breaks: where, and in words.
 */
export const Issue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  message: Schema.String
})
export type Issue = typeof Issue.Type

/** Which operation it was, and on which Assembly where its path names one. */
const subject = {
  operation: Schema.String,
  assemblyId: Schema.optionalKey(Schema.String)
}

/**
 * The input breaks a rule of the specification; nothing was sent.
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

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const isKey = (key: unknown): key is string | number => typeof key === "string" || typeof key === "number"

/** The issues of a schema as plain data, each with its path. */
export const fromSchemaIssue = (issue: SchemaIssue.Issue): ReadonlyArray<Issue> =>
  format(issue).issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((segment) => (typeof segment === "object" ? segment.key : segment)).filter(isKey)
  }))

/** The `InvalidRequest` that an issue of the input's schema stands for. */
export const invalidRequest = (operation: string, issue: SchemaIssue.Issue): InvalidRequest =>
  new InvalidRequest({ operation, issues: fromSchemaIssue(issue) })

/**
 * The service does not accept who asks: an unknown key, a wrong or used signature, a missing scope, an expired token.
 *
 * `clockSkew` is how far the clock of the service is ahead of ours (negative: behind), in milliseconds, where the code
 * is AUTH_EXPIRED and the answer told its time. One attempt with that corrected has failed as well, or it is more than the
 * `maxClockSkew` of the client and was not corrected.
 */
export class AuthenticationFailed extends Schema.TaggedError<AuthenticationFailed>()("AuthenticationFailed", {
  ...Details.fields,
  clockSkew: Schema.optionalKey(Schema.Finite)
}) {}

/**
 * Too many requests; `retryAfter` is how long the service asks to wait, zero where it names nothing.
 *
 * Status 0 stands for the program's own rate limiter (`Guard.layerRateLimiter`), which sent nothing; `retryAfter` is then
 * the time until it has a permit.
 */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...Details.fields,
  retryAfter: Schema.Duration
}) {}

/**
 * Any other error code of the service.
 */
export class ServiceFailure extends Schema.TaggedError<ServiceFailure>()("ServiceFailure", Details) {}

/**
 * An answer that is neither a success nor an error of the service. `excerpt` is the start of the body, at most 200
 * characters, redacted and printable.
 */
export class UnexpectedResponse extends Schema.TaggedError<UnexpectedResponse>()("UnexpectedResponse", {
  ...subject,
  status: Schema.Int,
  problem: Schema.String,
  excerpt: Schema.String
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
 */
export class TransportFailure extends Schema.TaggedError<TransportFailure>()("TransportFailure", {
  ...subject,
  problem: Schema.String,
  code: Schema.optionalKey(Schema.String),
  sent: Schema.Literals(["no", "maybe"]).pipe(Schema.withConstructorDefault(Effect.succeed("maybe" as const))),
  permanent: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false)))
}) {
  override get message() {
    return `${this.operation}: ${this.problem}`
  }
}

/**
 * No whole answer within the time that one request, or the whole operation, has.
 */
export class TimedOut extends Schema.TaggedError<TimedOut>()("TimedOut", {
  ...subject,
  after: Schema.Duration
}) {
  override get message() {
    return `${this.operation}: no answer after ${Duration.toSeconds(this.after)} s`
  }
}

// The annotations let a bundler drop the errors of operations that nobody calls.

/** 400 ASSEMBLY_STATS_INVALID_TIME: `since` is missing or incorrect, or more than 91 days ago. */
export class StatisticsInvalidTime
  extends /* @__PURE__ */ Schema.TaggedError<StatisticsInvalidTime>()("StatisticsInvalidTime", Details) {}

/** 400 ASSEMBLY_STATS_MISSING_REGION: a region or `all` must be given. */
export class StatisticsMissingRegion
  extends /* @__PURE__ */ Schema.TaggedError<StatisticsMissingRegion>()("StatisticsMissingRegion", Details) {}

/** 500 ASSEMBLY_STATS_ERROR: the statistics could not be loaded. */
export class StatisticsUnavailable
  extends /* @__PURE__ */ Schema.TaggedError<StatisticsUnavailable>()("StatisticsUnavailable", Details) {}

/** ASSEMBLY_LIST_ERROR: instead of a list. */
export class AssemblyListFailed
  extends /* @__PURE__ */ Schema.TaggedError<AssemblyListFailed>()("AssemblyListFailed", Details) {}

/** 400 DAM_INVALID_REQUEST: the params are invalid. */
export class DamInvalidRequest
  extends /* @__PURE__ */ Schema.TaggedError<DamInvalidRequest>()("DamInvalidRequest", Details) {}

/** 404 DAM_RESOURCE_NOT_FOUND: no such asset or folder in this Workspace. */
export class DamResourceNotFound
  extends /* @__PURE__ */ Schema.TaggedError<DamResourceNotFound>()("DamResourceNotFound", Details) {}

/** 409 DAM_MUTATION_CONFLICT: the change conflicts with something that exists. */
export class DamMutationConflict
  extends /* @__PURE__ */ Schema.TaggedError<DamMutationConflict>()("DamMutationConflict", Details) {}

/** 500 DAM_MUTATION_FAILED: the change could not be completed; the service says to retry. */
export class DamMutationFailed
  extends /* @__PURE__ */ Schema.TaggedError<DamMutationFailed>()("DamMutationFailed", Details) {}

/**
 * What every operation can fail with.
 */
export type Common = InvalidRequest | RateLimited | ServiceFailure | UnexpectedResponse | TransportFailure | TimedOut

/** How an Assembly ended that did not complete. */
const ending = {
  assemblyId: Schema.String,
  code: Schema.String,
  message: Schema.String
}

/**
 * The Assembly has failed; `code` is the `error` of its Status. Its Status tells more: `Assemblies.get`.
 */
export class AssemblyFailed extends /* @__PURE__ */ Schema.TaggedError<AssemblyFailed>()("AssemblyFailed", ending) {}

/**
 * Somebody canceled the Assembly: ASSEMBLY_CANCELED.
 */
export class AssemblyCanceled
  extends /* @__PURE__ */ Schema.TaggedError<AssemblyCanceled>()("AssemblyCanceled", ending) {}

/**
 * The request that created the Assembly was aborted: REQUEST_ABORTED.
 */
export class AssemblyAborted extends /* @__PURE__ */ Schema.TaggedError<AssemblyAborted>()("AssemblyAborted", ending) {}
