/**
 * One HTTP exchange, with the rules that every request to the service follows in all packages.
 */
import * as Json from "@assembly-effect/schema/Json"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Fiber from "effect/Fiber"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Diagnosis from "../internal/diagnosis.ts"
import * as ReadBody from "../internal/readBody.ts"
import * as SendGuard from "../internal/sendGuard.ts"
import * as Bytes from "./Bytes.ts"
import type { Lost } from "./Failure.ts"

export { mapPieces } from "../internal/pieces.ts"
export { gather, readError, readText, registerReader, textOf, withLimit } from "../internal/readBody.ts"
export { type ErrorText, type Gathered, Lost, UnreadableBody } from "./Failure.ts"

/**
 * Turns an error of an HTTP client into a `Lost`, for example an error while the response is read. Do not pass the
 * error itself on, because it contains the request with its credential.
 *
 * @since 0.1.0
 * @category utilities
 */
export const toLost = (error: HttpClientError.HttpClientError): Lost => Diagnosis.diagnose(error)

/**
 * Describes the error of a client that sent a request once and got no complete response. `isBroken` means that the
 * status had arrived, and `knowsHost` that the host has responded to this client before.
 *
 * @since 0.1.0
 * @category utilities
 */
export const lost = (
  cause: unknown,
  { isBroken, ...known }: { readonly url: URL; readonly knowsHost: boolean; readonly isBroken: boolean }
): Lost => Diagnosis.fromCause(cause, { ...known, sends: 1, isSeen: !isBroken }, isBroken ? Diagnosis.inResponse : "")

/**
 * Facts about a client: the hosts that have responded to it, and whether its sends can be observed. These facts are
 * kept until the client is garbage-collected.
 */
interface Known {
  readonly hosts: Set<string>
  isSeen: boolean
}

const clients = new WeakMap<HttpClient.HttpClient, Known>()

const knownOf = (http: HttpClient.HttpClient): Known => {
  const known = clients.get(http) ?? { hosts: new Set(), isSeen: false }
  clients.set(http, known)
  return known
}

/**
 * The request with its bytes in an array of this realm. Undici sends an array of bytes of another realm, such as that of
 * `TextEncoder` in jsdom, as a sequence of numbers.
 */
const withOwnBytes = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest => {
  const { body } = request
  if (body._tag !== "Uint8Array" || body.body.constructor === Uint8Array) return request
  const bytes = Bytes.own(body.body)
  return bytes === undefined
    ? request
    : HttpClientRequest.setBody(request, HttpBody.uint8Array(bytes, body.contentType))
}

/**
 * The redirect mode of `fetch`, `manual` or `error`. A redirect is not followed in either mode. With `error`, `fetch`
 * does not keep a copy of a streamed body. Some runtimes, such as workerd, do not support `error`. In such a runtime, a
 * streamed request gets the status of the redirect, as other requests do.
 */
const redirectMode = (streaming: boolean): RequestRedirect => {
  if (!streaming) return "manual"
  try {
    return new Request("https://example.com", { redirect: "error" }).redirect
  } catch {
    return "manual"
  }
}

/** Adds the redirect mode to the application's options of `fetch`, such as its `dispatcher` or `credentials`. */
const withRedirect = <R>(context: Context.Context<R>, redirect: RequestRedirect): Context.Context<R> =>
  Context.add(context, FetchHttpClient.RequestInit, {
    ...Context.getOrUndefined(context, FetchHttpClient.RequestInit),
    redirect
  })

/** In a JavaScript program, the headers among the options of `fetch` may be any value, and Effect iterates over them. */
const hasHeaders = <R>(context: Context.Context<R>): boolean => {
  try {
    const headers = new Headers(Context.getOrUndefined(context, FetchHttpClient.RequestInit)?.headers ?? undefined)
    return typeof headers === "object"
  } catch {
    return false
  }
}

/**
 * The context of one request. This context sets every reference that the guard needs, so that a value in the
 * application's context cannot disable the guard. The redirect mode is added when the client sends, because only then
 * the options of `fetch` are in the context that the Layer of the client was built with.
 */
const rules = (redirect: RequestRedirect, onSend: (leaving: HttpClientRequest.HttpClientRequest) => void) =>
  Context.make(HttpClient.TracerDisabledWhen, (leaving: HttpClientRequest.HttpClientRequest) => {
    const fiber = Fiber.getCurrent()
    if (fiber !== undefined && !hasHeaders(fiber.context)) throw new Diagnosis.InvalidArgument()
    fiber?.setContext(withRedirect(fiber.context, redirect))
    onSend(leaving)
    return true
  }).pipe(Context.add(Tracer.DisablePropagation, false))

/** Turns a failure of the client into a `Lost`, or into the response that the client treated as a failure. */
const settle = (
  cause: Cause.Cause<HttpClientError.HttpClientError>,
  circumstances: Diagnosis.Circumstances
): Effect.Effect<HttpClientResponse.HttpClientResponse, Lost> => {
  const found = Cause.findError(cause)
  if (Result.isSuccess(found)) {
    const { reason } = found.success
    return reason._tag === "StatusCodeError"
      ? Effect.succeed(reason.response)
      : Effect.fail(Diagnosis.diagnose(found.success, circumstances))
  }
  const refused = Diagnosis.refusedBy(Result.getOrUndefined(Cause.findDefect(cause)))
  // Other defects and interruptions are not caused by the request, so they are not turned into a `Lost`.
  return refused === undefined ? Effect.failCause(found.failure) : Effect.fail(refused)
}

/**
 * Sends a request in a scope that frees its connection.
 *
 * **Details**
 *
 * - The request is sent once, to its own origin and with its own body. A guard stops each of the following before it is
 *   sent: a second send (except a GET or HEAD to the same URL), a request to another origin, another body length,
 *   another `content-encoding`, and changed bytes. The guard works through wrappers of the client, such as
 *   `HttpClient.retryTransient`, `followRedirects` and `mapRequest`. If the client returns a response although the
 *   guard stopped a send, that response is ignored. A streamed body can be read once.
 * - The application's options of `fetch` (`FetchHttpClient.RequestInit`), from the caller's context or from the Layer of
 *   the client, stay in force, except `redirect`.
 * - A redirect is not followed, because it could take the credential or the bytes to another server. `streaming`
 *   requests use the redirect mode `error` of `fetch` if the runtime supports this mode. `fetch` then keeps no copy of
 *   the body, and the request fails at a redirect. Other requests get the status of the redirect, or the
 *   status 0 in a browser.
 * - The span of the HTTP client is off, because it would record the URL, which may be signed or a capability.
 * - Any status is a response, even if the client treats it as a failure (`HttpClient.filterStatusOk`).
 *
 * **Gotchas**
 *
 * The guard observes requests that pass through Effect's `HttpClient.make`. The guard cannot observe a layer below
 * `HttpClient.make`. If a `Dispatcher` or a `fetch` function repeats a request, the guard does not see the second send,
 * unless the body is a stream. Undici's `RetryAgent` repeats requests with the methods in its `methods` option, by
 * default PUT, DELETE and reads. A wrapper that sets `HttpClient.TracerDisabledWhen` or `Tracer.DisablePropagation`
 * inside the client also hides the sends. If the sends are hidden, the guard checks origin, length and encoding when
 * the response arrives, and the first request of such a client follows redirects if it uses `fetch`, unless the
 * application sets `redirect` in `FetchHttpClient.RequestInit`. If a second send was stopped, the service may have carried out the first send, so `sent` is
 * `maybe`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const send = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options?: { readonly streaming?: boolean | undefined }
): Effect.Effect<HttpClientResponse.HttpClientResponse, Lost, Scope.Scope> =>
  Effect.suspend(() => {
    const known = knownOf(http)
    const guard = SendGuard.make(withOwnBytes(request), known)
    const url = Option.getOrUndefined(HttpClientRequest.toUrl(request))
    const host = url?.host ?? ""
    const redirect = redirectMode(options?.streaming === true)
    // A client that has responded although none of its sends was observed gets the redirect mode before it sends.
    const hides = !known.isSeen && known.hosts.size > 0
    const onSend = (leaving: HttpClientRequest.HttpClientRequest) => {
      known.isSeen = true
      guard.onSend(leaving)
    }

    return HttpClient.withScope(http)
      .execute(guard.request)
      .pipe(
        Effect.updateContext((context: Context.Context<Scope.Scope>) =>
          Context.merge(hides ? withRedirect(context, redirect) : context, rules(redirect, onSend))
        ),
        Effect.catchCause((cause): Effect.Effect<HttpClientResponse.HttpClientResponse, Lost> => {
          const refusal = guard.refusal()
          return refusal === undefined || Cause.hasInterrupts(cause)
            ? settle(cause, {
                sends: guard.sends(),
                isSeen: known.isSeen,
                knowsHost: known.hosts.has(host),
                url
              })
            : Effect.fail(refusal)
        }),
        Effect.flatMap((response) => {
          guard.onAnswer(response)
          // After a refusal, the response that the client returned is ignored.
          const refusal = guard.refusal()
          if (refusal !== undefined) return Effect.fail(refusal)
          known.hosts.add(host)
          ReadBody.received(http, response)
          return Effect.succeed(response)
        })
      )
  })

/**
 * Gives an exchange a scope. A failure or an interruption closes the scope, and with it the connection. After a
 * complete response the scope is not closed, so that the next request can use the connection again. Closing the scope
 * would abort the finished request, which costs as much time as signing a request.
 *
 * @since 0.1.0
 * @category utilities
 */
export const scopedToFailure = <A, E, R>(
  exchange: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    return exchange.pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/**
 * Whether a status is a redirect. A browser reports a redirect that it did not follow as status 0.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/**
 * Whether a status is a success: any 2xx, because the specification does not name the exact status of most operations
 * (spec.md, "Endpoints").
 *
 * @since 0.1.0
 * @category predicates
 */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/**
 * Statuses from 400 to 499 that do not refuse a request for good. After 408, 409, 425 and 499 it is unknown whether the
 * request was carried out. After 429 and 423 it was not carried out, but may be sent again.
 */
const openBelow500: ReadonlySet<number> = new Set([408, 409, 423, 425, 429, 499])

/**
 * Whether a status refuses a request for good, so that the request was not carried out: 501, or a 4xx other than 408,
 * 409, 423, 425, 429 and 499. After 429 and 423 the request was not carried out either, but may be sent again. After
 * any other error status, it is unknown whether the request was carried out, whatever the body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRefusal = (status: number): boolean =>
  status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))

/**
 * Parses a JSON text. Returns `None` if the text is not JSON or is nested deeper than `Json.maxDepth`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseJson = (text: string): Option.Option<unknown> => Result.getSuccess(Json.parse(text))
