/**
 * One HTTP exchange of an operation or an upload: the rules of `@assembly-effect/auth/unstable/Transport`, the errors of the api.
 */
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Transport from "@assembly-effect/auth/unstable/Transport"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ApiError from "../ApiError.ts"

export { Redaction }
export { gate, pause, withLimitFromDeparture } from "@assembly-effect/auth/unstable/Admission"
export {
  ends,
  isRefusal,
  parseJson,
  readError,
  readText,
  scopedToFailure
} from "@assembly-effect/auth/unstable/Transport"
export { named as namedWait } from "@assembly-effect/auth/unstable/Wait"

/**
 * Which operation a request belongs to, the host that it goes to, and the Assembly where its path names one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Subject {
  readonly operation: string
  readonly host?: string
  readonly assemblyId?: string
}

/**
 * The host of a URL, with its port where that is not the usual one; nothing else of it.
 *
 * @since 0.1.0
 * @category utilities
 */
export const hostOf = (url: string): { readonly host?: string } =>
  URL.canParse(url) ? { host: new URL(url).host } : {}

/**
 * The id by which the service finds the request (`x-request-id`), where the answer tells one. Beyond the specification.
 *
 * @since 0.1.0
 * @category utilities
 */
export const requestIdOf = (
  headers: Headers.Headers,
  secrets: ReadonlyArray<string>
): { readonly requestId?: string } => {
  const requestId = headers["x-request-id"]
  return requestId === undefined ? {} : { requestId: Redaction.code(requestId, secrets) }
}

/**
 * The error of a request that got no answer. It tells what failed, not where: the URL may be a capability. An error of
 * the HTTP client itself comes from the middle of an answer.
 *
 * @since 0.1.0
 * @category utilities
 */
export const toFailure =
  (subject: Subject) =>
  (error: Transport.Lost | HttpClientError.HttpClientError): ApiError.TransportFailure => {
    const { code, permanent, problem, sent } = HttpClientError.isHttpClientError(error)
      ? Transport.toLost(error)
      : error
    return new ApiError.TransportFailure({
      ...subject,
      problem,
      sent,
      permanent,
      ...(code === undefined ? undefined : { code })
    })
  }

/**
 * Waits until a request to `url` may leave, before its own time begins, and answers how long that took. Without a rate
 * limiter that is at once. Whoever sends asks here first, for each request.
 *
 * `RateLimited` tells the wait for a permit that is longer than `patience`; nothing was sent.
 *
 * @since 0.1.0
 * @category utilities
 */
export const admit = (
  gate: Admission.Gate,
  url: string,
  subject: Subject,
  patience?: Duration.Duration
): Effect.Effect<Duration.Duration, ApiError.RateLimited | ApiError.TransportFailure> =>
  Effect.mapError(Admission.enter(gate, url, patience), ({ message, wait }) =>
    Option.match(wait, {
      onNone: () => new ApiError.TransportFailure({ ...hostOf(url), ...subject, problem: message, sent: "no" }),
      onSome: (retryAfter) =>
        new ApiError.RateLimited({ ...hostOf(url), ...subject, code: "", status: 0, explanation: message, retryAfter })
    })
  )

/**
 * Sends a request once, in a scope that frees its connection. A second send, another origin or another body is stopped
 * before it leaves, a redirect is not followed, and the HTTP client's own span is off. `streaming` is for a body that is
 * not to be held in memory.
 *
 * @since 0.1.0
 * @category utilities
 */
export const execute = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options: Subject & { readonly streaming?: boolean | undefined }
): Effect.Effect<HttpClientResponse.HttpClientResponse, ApiError.TransportFailure, Scope.Scope> =>
  Effect.mapError(
    Transport.send(http, request, options),
    toFailure({
      ...hostOf(request.url),
      operation: options.operation,
      ...(options.assemblyId === undefined ? undefined : { assemblyId: options.assemblyId })
    })
  )
