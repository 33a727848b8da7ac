/**
 * One HTTP exchange of an operation, an upload or a download: what its errors tell about the request.
 */
import * as Redaction from "@assembly-effect/auth/Redaction"
import type * as Budget from "@assembly-effect/auth/unstable/Budget"
import { diagnose } from "@assembly-effect/auth/unstable/Diagnosis"
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
    const { code, description, permanent, sent } = error._tag === "Lost" ? error : diagnose(error)
    const failure = { ...subject, description, permanent, sent }
    return new ApiError.TransportFailure(code === undefined ? failure : { ...failure, code })
  }

/**
 * The error of a response that nothing can be done with, such as a redirect to an invalid URL. The request is never
 * retried, because the server would send the same response again.
 *
 * @since 0.1.0
 * @category errors
 */
export const unexpected = (subject: Subject, status: number, description: string): ApiError.UnexpectedResponse =>
  new ApiError.UnexpectedResponse({ ...subject, status, description, excerpt: "" })

/**
 * Waits for the permit of a request, before its time limit starts. Call `admit` before each request of a program that has
 * a budget.
 *
 * Fails with `RateLimited` if the wait would end after the deadline of the caller, and with `TransportFailure` if the
 * store of the budget fails. If `admit` fails, nothing was sent.
 *
 * @since 0.1.0
 * @category utilities
 */
export const admit = (
  budget: Budget.Budget,
  asking: Budget.Asking,
  subject: Subject
): Effect.Effect<void, ApiError.RateLimited | ApiError.TransportFailure> =>
  Effect.mapError(budget.enter(asking), ({ message, wait }) => {
    const about = { ...hostOf(asking.url), ...subject, description: message }
    return Option.match(wait, {
      onNone: () => new ApiError.TransportFailure({ ...about, sent: "no" }),
      onSome: (retryAfter) => new ApiError.RateLimited({ ...about, retryAfter })
    })
  })

/**
 * `Sender.open`, with the error of an operation.
 *
 * @since 0.1.0
 * @category utilities
 */
export const open = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  subject: Subject
): Effect.Effect<HttpClientResponse.HttpClientResponse, ApiError.TransportFailure, Scope.Scope> =>
  Effect.mapError(Sender.open(http, request), toFailure({ ...hostOf(request.url), ...subject }))

/**
 * Fails with `TimedOut` if an effect takes longer than `limit`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const inTime =
  (subject: Subject, limit: Duration.Duration) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ApiError.TimedOut, R> =>
    Effect.timeoutOrElse(effect, {
      duration: limit,
      orElse: () => Effect.fail(new ApiError.TimedOut({ ...subject, after: limit }))
    })

/**
 * The `open` of an `AssemblyClient` without update streams.
 *
 * @since 0.1.0
 * @category utilities
 */
export const withoutUpdates = (_: unknown, { operation }: Subject): Effect.Effect<never, ApiError.TransportFailure> =>
  Effect.fail(new ApiError.TransportFailure({ operation, description: "there is no update stream", sent: "no" }))
