/**
 * All errors of operations. Handle these errors by tag; a caller never needs to compare messages. `isThrottled`,
 * `isAuthentication`, `isNetwork` and `isService` tell the kind of any error of this library.
 *
 * No error contains a secret, a token, a signature, a signed URL or the URL of an upload or a Status. If a response of
 * the service contains one of these texts, `@assembly-effect/auth/Redaction` removes it.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import type * as AuthError from "@assembly-effect/auth/AuthError"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { answered, cause, Details, refusal, skewed, subject } from "./unstable/ErrorDetails.ts"

/**
 * The error of the token request (`@assembly-effect/auth/AuthError`), if that request failed, so that the request of
 * the operation was not sent. An error of the HTTP client is never the `cause`: a {@link TransportFailure} contains only
 * the `code` of that error.
 */
const caused = { cause: Schema.optionalKey(cause<AuthError.AuthError>()) }

/**
 * The service refused the authentication, for example because of an unknown key, a wrong or used signature, a missing
 * scope or an expired token.
 *
 * `clockSkew` is how far the service's clock is ahead of the local clock (negative: behind), in milliseconds.
 * `clockSkew` is set if the code is AUTH_EXPIRED and the response contains the service's time. A set `clockSkew` means
 * that an attempt with a corrected clock has failed too, or that the skew exceeds the `maxClockSkew` of the client.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthenticationFailed extends Expected.TaggedError<AuthenticationFailed>()(
  "AuthenticationFailed",
  { ...Details.fields, clockSkew: Schema.optionalKey(Schema.Finite), ...caused },
  (error) => {
    const { clockSkew, code, description, operation } = error
    // `description` is the message of the token error, which already contains the code and the status.
    if (error.cause !== undefined) return `${operation}: ${description}`
    const advice =
      code === "INVALID_SIGNATURE"
        ? "; check the secret of the Auth Key"
        : clockSkew === undefined
          ? ""
          : `; ${skewed(clockSkew)}`
    return `${operation}: authentication failed (${answered(error)})${advice}`
  }
) {}

/**
 * Too many requests. `retryAfter` is the pause that the service requests, or zero if it requests none.
 *
 * `status` is absent if the budget of the account (`Budget`) had no permit before the deadline of the request, which was
 * therefore not sent. `retryAfter` is then the estimated time until the budget permits the request.
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimited extends Expected.TaggedError<RateLimited>()(
  "RateLimited",
  { ...Details.fields, status: Schema.optionalKey(Schema.Int), retryAfter: Rules.elapsed, ...caused },
  ({ cause: tokenError, code, description, operation, retryAfter, status }) => {
    if (status === undefined) return `${operation}: ${description}`
    const wait = Duration.isZero(retryAfter) ? "a while" : `${Duration.toSeconds(retryAfter)} s`
    const what =
      tokenError === undefined ? `too many requests (${answered({ code, description, status })})` : description
    return `${operation}: ${what}; try again in ${wait}`
  }
) {}

/**
 * The service responded with an error for which the operation has no other error class. `code` is absent if the
 * response has no error code.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServiceFailure extends refusal<ServiceFailure>()("ServiceFailure") {}

/**
 * A response that is neither a valid success nor an error of the service. `excerpt` is the beginning of the body,
 * redacted and printable: at most 200 characters, followed by `…` if the text was cut. `excerpt` is empty, for example,
 * if the response may contain secrets or if the body was not read.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnexpectedResponse extends Expected.TaggedError<UnexpectedResponse>()(
  "UnexpectedResponse",
  {
    ...subject,
    status: Schema.Int,
    description: Schema.String,
    excerpt: Schema.String,
    requestId: Schema.optionalKey(Schema.String),
    ...caused
  },
  ({ description, operation, status }) => `${operation}: status ${status}, ${description}`
) {}

/**
 * The request or its response was lost, or the request was stopped before it was sent.
 *
 * - `code`: the error code that the HTTP client reports, if any, such as `ECONNREFUSED`, `ENOTFOUND` or
 *   `CERT_HAS_EXPIRED`, or a code of this library, such as `REQUEST_REPEATED`.
 * - `sent`: `no` if no byte of the request was sent, so that the request may be sent again; `maybe` if the service may
 *   have received the request.
 * - `permanent`: whether the same request would fail again in the same way, for example because of an untrusted
 *   certificate, an unknown host, or an HTTP client that changes requests.
 *
 * @since 0.1.0
 * @category errors
 */
export class TransportFailure extends Expected.TaggedError<TransportFailure>()(
  "TransportFailure",
  {
    ...subject,
    description: Schema.String,
    code: Schema.optionalKey(Schema.String),
    sent: Schema.Literals(["no", "maybe"]).pipe(Schema.withConstructorDefault(Effect.succeed("maybe" as const))),
    permanent: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
    ...caused
  },
  ({ code, description, host, operation }) => {
    const where = [host, code].filter((part) => part !== undefined).join(", ")
    return `${operation}: ${description}${where === "" ? "" : ` (${where})`}`
  }
) {}

/**
 * No complete response arrived within the time limit of the request or of the operation, or the Assembly did not end
 * within the `timeout` of `Assemblies.awaitCompletion`: `state` is then its last state, such as `ASSEMBLY_UPLOADING`. For
 * a download, no byte arrived within `stallTimeout`.
 *
 * @since 0.1.0
 * @category errors
 */
export class TimedOut extends Expected.TaggedError<TimedOut>()(
  "TimedOut",
  { ...subject, after: Rules.elapsed, state: Schema.optionalKey(Schema.String) },
  ({ after, host, operation, state }) => {
    const from = host === undefined ? "" : ` from ${host}`
    const what = state === undefined ? `no response${from}` : `the state of the Assembly is still ${state}`
    return `${operation}: ${what} after ${Duration.toSeconds(after)} s`
  }
) {}

/**
 * 400 ASSEMBLY_STATS_INVALID_TIME: `since` is missing, invalid or more than 91 days ago.
 *
 * @since 0.1.0
 * @category errors
 */
export class StatisticsInvalidTime extends refusal<StatisticsInvalidTime>()("StatisticsInvalidTime") {}

/**
 * 400 ASSEMBLY_STATS_MISSING_REGION: a region or `all` is required.
 *
 * @since 0.1.0
 * @category errors
 */
export class StatisticsMissingRegion extends refusal<StatisticsMissingRegion>()("StatisticsMissingRegion") {}

/**
 * 500 ASSEMBLY_STATS_ERROR: the statistics could not be loaded.
 *
 * @since 0.1.0
 * @category errors
 */
export class StatisticsUnavailable extends refusal<StatisticsUnavailable>()("StatisticsUnavailable") {}

/**
 * ASSEMBLY_LIST_ERROR: the service returned an error instead of a list.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyListFailed extends refusal<AssemblyListFailed>()("AssemblyListFailed") {}

/**
 * 400 DAM_INVALID_REQUEST: the params are invalid.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamInvalidRequest extends refusal<DamInvalidRequest>()("DamInvalidRequest") {}

/**
 * 404 DAM_RESOURCE_NOT_FOUND: the asset or folder does not exist in the Workspace of the Auth Key.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamResourceNotFound extends refusal<DamResourceNotFound>()("DamResourceNotFound") {}

/**
 * 409 DAM_MUTATION_CONFLICT: the change conflicts with an existing resource.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamMutationConflict extends refusal<DamMutationConflict>()("DamMutationConflict") {}

/**
 * 500 DAM_MUTATION_FAILED: the change could not be completed. The service permits a retry.
 *
 * @since 0.1.0
 * @category errors
 */
export class DamMutationFailed extends refusal<DamMutationFailed>()("DamMutationFailed") {}

/**
 * AUTH_KEY_NOT_CREATED: the Auth Key could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotCreated extends refusal<AuthKeyNotCreated>()("AuthKeyNotCreated") {}

/**
 * AUTH_KEY_NOT_UPDATED: the Auth Key could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotUpdated extends refusal<AuthKeyNotUpdated>()("AuthKeyNotUpdated") {}

/**
 * AUTH_KEY_NOT_DELETED: the Auth Key could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotDeleted extends refusal<AuthKeyNotDeleted>()("AuthKeyNotDeleted") {}

/**
 * AUTH_SECRET_NOT_RETRIEVED: the secret of the Auth Key cannot be shown.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthSecretNotRetrieved extends refusal<AuthSecretNotRetrieved>()("AuthSecretNotRetrieved") {}

/**
 * TEMPLATE_LIST_ERROR: the service returned an error instead of a list.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateListFailed extends refusal<TemplateListFailed>()("TemplateListFailed") {}

/**
 * TEMPLATE_NOT_FOUND: no Template has this id or name.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateNotFound extends refusal<TemplateNotFound>()("TemplateNotFound") {}

/**
 * TEMPLATE_VALIDATION_ERROR: a setting or the content of the Template is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateInvalid extends refusal<TemplateInvalid>()("TemplateInvalid") {}

/**
 * TEMPLATE_CREDENTIALS_NOT_FOUND: the Template Credentials could not be listed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotFound extends refusal<TemplateCredentialsNotFound>()(
  "TemplateCredentialsNotFound"
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_READ: the Template Credentials could not be read.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotRead extends refusal<TemplateCredentialsNotRead>()("TemplateCredentialsNotRead") {}

/**
 * TEMPLATE_CREDENTIALS_NOT_CREATED: the Template Credentials could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotCreated extends refusal<TemplateCredentialsNotCreated>()(
  "TemplateCredentialsNotCreated"
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_UPDATED: the Template Credentials could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotUpdated extends refusal<TemplateCredentialsNotUpdated>()(
  "TemplateCredentialsNotUpdated"
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_DELETED: the Template Credentials could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotDeleted extends refusal<TemplateCredentialsNotDeleted>()(
  "TemplateCredentialsNotDeleted"
) {}

/**
 * BILL_NOT_FOUND: there is no bill for the month. The service sends this error with status 200.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class BillNotFound extends refusal<BillNotFound>()("BillNotFound") {}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION: the aggregation is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidAggregation extends refusal<JobSlotStatisticsInvalidAggregation>()(
  "JobSlotStatisticsInvalidAggregation"
) {}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_TIME: `since` is missing or invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidTime extends refusal<JobSlotStatisticsInvalidTime>()(
  "JobSlotStatisticsInvalidTime"
) {}

/**
 * PRIORITY_JOB_SLOT_STATS_MISSING_REGION: a region is required.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsMissingRegion extends refusal<JobSlotStatisticsMissingRegion>()(
  "JobSlotStatisticsMissingRegion"
) {}

/**
 * 500 PRIORITY_JOB_SLOT_STATS_ERROR: the statistics could not be loaded.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsUnavailable extends refusal<JobSlotStatisticsUnavailable>()(
  "JobSlotStatisticsUnavailable"
) {}

/**
 * The errors that every operation can have.
 *
 * @since 0.1.0
 * @category models
 */
export type Common = InvalidRequest | RateLimited | ServiceFailure | UnexpectedResponse | TransportFailure | TimedOut

/**
 * Makes the base class of an error about an Assembly that ended without completing. `description` is the `message` in the
 * Status of the Assembly, or the code if there is no message. The message contains only the first digits of the Assembly
 * id. These digits are enough to find the Assembly, but do not grant access to it.
 */
const ending =
  <Self>() =>
  <const Tag extends string>(tag: Tag, how: string) =>
    Expected.TaggedError<Self>()(
      tag,
      {
        assemblyId: Schema.String,
        code: Schema.String,
        description: Schema.String,
        reason: Schema.optionalKey(Schema.Json)
      },
      ({ assemblyId, code, description }) =>
        `Assembly ${assemblyId.slice(0, 6)}… ${how} with ${code}${description === "" || description === code ? "" : `: ${description}`}`
    )

/**
 * The Assembly has failed. `code` and `reason` are the `error` and `reason` in the Status of the Assembly.
 * `Assemblies.get` returns the complete Status.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyFailed extends ending<AssemblyFailed>()("AssemblyFailed", "failed") {}

/**
 * The Assembly was canceled: ASSEMBLY_CANCELED.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyCanceled extends ending<AssemblyCanceled>()("AssemblyCanceled", "was canceled") {}

/**
 * The service aborted the Assembly (REQUEST_ABORTED), for example because a connection was closed before the service
 * had received all files.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyAborted extends ending<AssemblyAborted>()("AssemblyAborted", "was aborted") {}

type Kind = "throttled" | "authentication" | "network" | "service"

const kinds: Readonly<Record<string, Kind>> = {
  RateLimited: "throttled",
  TokenRateLimited: "throttled",
  AuthenticationFailed: "authentication",
  WrongCredentials: "authentication",
  ScopeNotGranted: "authentication",
  AudienceRefused: "authentication",
  TransportFailure: "network",
  TimedOut: "network",
  Stalled: "network",
  CreationUnknown: "network"
}

/** The errors about a response that breaks the rules of the service or of the tus protocol. */
const invalid: ReadonlySet<string> = new Set(["UnexpectedResponse", "UnexpectedTokenResponse", "ProtocolViolation"])

/**
 * `TokenUnavailable` without a status means that the token request got no complete response. `TokenRefused` with the
 * status 404 means that the address has no token endpoint, so the credentials are not the cause.
 */
const kindOf = (error: unknown): Kind | undefined => {
  if (!Predicate.hasProperty(error, "_tag") || typeof error._tag !== "string") return undefined
  const { _tag: tag } = error
  if (Object.hasOwn(kinds, tag)) return kinds[tag]
  const status = "status" in error ? error.status : undefined
  if (ServiceError.gatewayStatuses.has(status) || (tag === "TokenUnavailable" && status === undefined)) return "network"
  if (tag === "TokenRefused" && typeof status === "number" && status !== 404) return "authentication"
  return invalid.has(tag) || (typeof status === "number" && status >= 500) ? "service" : undefined
}

/**
 * Whether an error of this library means that the program sends too many requests: `RateLimited` or `TokenRateLimited`.
 * Its `retryAfter` is the pause that the service requests.
 *
 * An error is at most one of `isThrottled`, `isAuthentication`, `isNetwork` and `isService`. An error with none of these
 * kinds is about the request itself, such as `InvalidRequest`, or about a local file.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isThrottled = (error: unknown): boolean => kindOf(error) === "throttled"

/**
 * Whether an error of this library means that the service refused the Auth Key, its secret, its scopes or a token. A
 * retry does not help before somebody has corrected the credentials.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAuthentication = (error: unknown): boolean => kindOf(error) === "authentication"

/**
 * Whether an error of this library means that the service could not be reached or did not respond in time, or that a
 * proxy or gateway responded with 407, 502, 503 or 504.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isNetwork = (error: unknown): boolean => kindOf(error) === "network"

/**
 * Whether an error of this library means that the service itself failed: another status of 500 or more, or an invalid
 * response.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isService = (error: unknown): boolean => kindOf(error) === "service"

/**
 * What {@link match} makes of each error: a function for a tag, for one of the four kinds, and for all others.
 */
type Cases<E extends { readonly _tag: string }> = {
  readonly [Tag in E["_tag"]]?: (error: Extract<E, { readonly _tag: Tag }>) => unknown
} & { readonly throttled?: (error: Extract<E, { readonly retryAfter: Duration.Duration }>) => unknown } & {
  readonly [K in Exclude<Kind, "throttled">]?: (error: E) => unknown
} & { readonly otherwise: (error: E) => unknown }

/**
 * Folds the errors of an operation into those of your application, so that no text of the service reaches its users.
 * The case of a tag counts before that of its kind (`throttled`, `authentication`, `network`, `service`; see
 * {@link isThrottled}), and `otherwise` takes the rest.
 *
 * @example
 * Dam.move(assetId, { filename: "report.pdf" }).pipe(
 *   Effect.mapError(
 *     ApiError.match({
 *       DamResourceNotFound: () => new HttpApiError.NotFound(),
 *       throttled: () => new HttpApiError.ServiceUnavailable(),
 *       otherwise: () => new HttpApiError.InternalServerError()
 *     })
 *   )
 * )
 *
 * @since 0.1.0
 * @category utilities
 */
export const match =
  <E extends { readonly _tag: string }, Own extends Cases<E>>(
    cases: Own & { readonly [Unknown in Exclude<keyof Own, keyof Cases<E>>]: never }
  ) =>
  (error: E): ReturnType<Extract<Own[keyof Own], (error: never) => unknown>> => {
    const own: Readonly<Partial<Record<string, (error: E) => never>>> = Object(cases)
    const found = [error._tag, kindOf(error)].find((name) => name !== undefined && Object.hasOwn(own, name))
    return (own[found ?? "otherwise"] ?? cases.otherwise)(error) as never
  }
