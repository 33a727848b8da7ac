/**
 * One HTTP exchange of an operation, an upload or a download: what its errors tell about the request.
 */
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Diagnosis from "@assembly-effect/auth/unstable/Diagnosis"
import type { Lost } from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ApiError from "../ApiError.ts"

/**
 * The operation of a request, its host, and the id of the Assembly that the request is about, if it is known.
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
 * The host of a URL, with its port if this is not the default port. No other part of the URL is returned.
 *
 * @since 0.1.0
 * @category utilities
 */
export const hostOf = (url: string): { readonly host?: string } =>
  URL.canParse(url) ? { host: new URL(url).host } : {}

/**
 * The id by which the service finds the request (`x-request-id`), if the response has one. Beyond the specification.
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
 * Converts the failure of a request without a complete response to a `TransportFailure`. The `TransportFailure` does
 * not contain the URL, because the URL may grant access. The argument is an `HttpClientError` if the connection was
 * interrupted while the response was read.
 *
 * @since 0.1.0
 * @category utilities
 */
export const toFailure =
  (subject: Subject) =>
  (error: Lost | HttpClientError.HttpClientError): ApiError.TransportFailure => {
    const { code, permanent, description, sent } = error._tag === "Lost" ? error : Diagnosis.diagnose(error)
    return new ApiError.TransportFailure({
      ...subject,
      description,
      sent,
      permanent,
      ...(code === undefined ? undefined : { code })
    })
  }

/**
 * Waits until a request to `url` is admitted, before its time limit starts, and returns the duration of the wait.
 * Without a rate limiter `admit` returns at once. Call `admit` before each request.
 *
 * Fails with `RateLimited` if the wait would be longer than `patience`, and with `TransportFailure` if the rate limiter
 * itself fails. If `admit` fails, nothing was sent.
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
      onNone: () => new ApiError.TransportFailure({ ...hostOf(url), ...subject, description: message, sent: "no" }),
      onSome: (retryAfter) => new ApiError.RateLimited({ ...hostOf(url), ...subject, description: message, retryAfter })
    })
  )

/**
 * `Sender.open`, with the error of an operation.
 *
 * @since 0.1.0
 * @category utilities
 */
export const open = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  { assemblyId, operation }: Subject
): Effect.Effect<HttpClientResponse.HttpClientResponse, ApiError.TransportFailure, Scope.Scope> =>
  Effect.mapError(
    Sender.open(http, request),
    toFailure({ ...hostOf(request.url), operation, ...(assemblyId === undefined ? undefined : { assemblyId }) })
  )
