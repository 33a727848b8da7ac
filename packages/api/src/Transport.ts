/**
 * One HTTP exchange under the rules that hold for every request to the service.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Scope from "effect/Scope"
import * as ApiError from "./ApiError.ts"

/**
 * The error of a request that was lost on the way. It tells what failed, not where: the URL may be a capability.
 */
export const toFailure =
  (operation: string) =>
  (error: HttpClientError.HttpClientError): ApiError.TransportFailure =>
    new ApiError.TransportFailure({
      operation,
      problem:
        error.reason._tag === "TransportError" ? "the connection failed" : `the request failed (${error.reason._tag})`
    })

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
  options: { readonly operation: string; readonly streaming?: boolean | undefined }
): Effect.Effect<HttpClientResponse.HttpClientResponse, ApiError.TransportFailure, Scope.Scope> =>
  HttpClient.withScope(http)
    .execute(request)
    .pipe(
      Effect.provideService(FetchHttpClient.RequestInit, {
        redirect: options.streaming === true ? "error" : "manual"
      }),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.mapError(toFailure(options.operation))
    )
