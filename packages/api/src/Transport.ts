/**
 * One HTTP exchange under the rules that hold for every request to the service.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Scope from "effect/Scope"
import * as ApiError from "./ApiError.ts"

/** Which operation a request belongs to, and the Assembly where its path names one. */
export interface Subject {
  readonly operation: string
  readonly assemblyId?: string
}

const problem = ({ reason }: HttpClientError.HttpClientError): string => {
  switch (reason._tag) {
    case "TransportError":
      // A guard in front of the client says itself why it let nothing through.
      return reason.description ?? "the connection failed"
    case "DecodeError":
      return "the connection failed in the middle of the answer"
    default:
      return `the request failed (${reason._tag})`
  }
}

/**
 * The error of a request that was lost on the way. It tells what failed, not where: the URL may be a capability.
 */
export const toFailure =
  (subject: Subject) =>
  (error: HttpClientError.HttpClientError): ApiError.TransportFailure =>
    new ApiError.TransportFailure({ ...subject, problem: problem(error) })

const rules = (redirect: RequestRedirect) =>
  Context.make(FetchHttpClient.RequestInit, { redirect }).pipe(Context.add(HttpClient.TracerDisabledWhen, () => true))

const whole = rules("manual")
const streaming = rules("error")

/**
 * Sends a request, in a scope that frees its connection.
 *
 * - A redirect is not followed: it would take the credential or the bytes elsewhere. `streaming` requests fail at one,
 *   which also keeps `fetch` from holding a copy of the body; others see its status.
 * - The HTTP client's own span is off, since it would record the signed URL or the capability.
 */
export const execute = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options: Subject & { readonly streaming?: boolean | undefined }
): Effect.Effect<HttpClientResponse.HttpClientResponse, ApiError.TransportFailure, Scope.Scope> =>
  HttpClient.withScope(http)
    .execute(request)
    .pipe(
      Effect.provideContext(options.streaming === true ? streaming : whole),
      Effect.mapError(
        toFailure({
          operation: options.operation,
          ...(options.assemblyId === undefined ? undefined : { assemblyId: options.assemblyId })
        })
      )
    )
