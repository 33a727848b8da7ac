/**
 * Sends one request whose body is in memory. `StreamSender` sends requests with streamed bodies.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Scope from "effect/Scope"
import * as Guard from "../internal/guard.ts"
import * as Bytes from "./Bytes.ts"
import type { Gathered, Lost } from "./Outcome.ts"
import * as Gathering from "./Gathering.ts"

/**
 * A request. `path` is the path with the query. A `body` has a content type; its bytes are an array of this realm (`Bytes.own`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Outgoing {
  readonly method: HttpMethod.HttpMethod
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: { readonly content: string | Uint8Array; readonly contentType: string } | undefined
}

/**
 * Sends a request once, to its own origin and with its own body, and follows no redirect. An interruption closes the
 * connection. The body of a redirect is not read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sender {
  (request: Outgoing, limits: Gathering.Limits): Effect.Effect<Gathered, Lost | Gathering.Late>
}

const senders = new WeakMap<HttpClient.HttpClient, Sender>()

/**
 * Registers how exactly this client sends. A client that is made from this client, for example with
 * `HttpClient.mapRequest`, has another sender.
 *
 * @since 0.1.0
 * @category registration
 */
export const register = (http: HttpClient.HttpClient, sender: Sender): void => {
  senders.set(http, sender)
}

const toRequest = ({ body, headers, method, origin, path }: Outgoing): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method)(origin + path, { headers })
  if (body === undefined) return request
  const { content, contentType } = body
  return HttpClientRequest.setBody(
    request,
    typeof content === "string" ? HttpBody.text(content, contentType) : HttpBody.uint8Array(content, contentType)
  )
}

/** A client may copy a body in memory, but not change it. */
const inMemory = (given: HttpClientRequest.HttpClientRequest): Guard.BodyGuard => ({
  given,
  holds: (leaving) =>
    given.body._tag === "Uint8Array"
      ? leaving._tag === "Uint8Array" && Bytes.equal(leaving.body, given.body.body)
      : leaving._tag === given.body._tag
})

/** The sender of a client that this library does not know: each of its sends passes the guard. */
const guarded =
  (http: HttpClient.HttpClient): Sender =>
  (request, limits) =>
    Gathering.gather(limits, (gathering) =>
      Effect.flatMap(Guard.send(http, toRequest(request), "manual", inMemory), (response) =>
        Gathering.into(response, gathering)
      )
    )

/**
 * The sender of a client: the registered sender, else a sender that guards each send.
 *
 * **Gotchas**
 *
 * The guard observes requests that pass through Effect's `HttpClient.make`, and nothing below it. If a `Dispatcher` or a
 * `fetch` function repeats a request, the guard does not see the second send. A wrapper that sets
 * `HttpClient.TracerDisabledWhen` or `Tracer.DisablePropagation` inside the client hides the sends. The guard then checks
 * origin, length and encoding when the response arrives, and the first request of such a client follows redirects if it
 * uses `fetch`, unless the application sets `redirect` in `FetchHttpClient.RequestInit`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (http: HttpClient.HttpClient): Sender => senders.get(http) ?? guarded(http)

/**
 * Sends a request without a body, under the same rules as a {@link Sender}. The response is not read. Closing the scope
 * frees the connection.
 *
 * The application's options of `fetch` (`FetchHttpClient.RequestInit`), from the caller's context or from the Layer of the
 * client, stay in force, except `redirect`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const open = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<HttpClientResponse.HttpClientResponse, Lost, Scope.Scope> =>
  Guard.send(http, request, "manual", inMemory)

/**
 * Gathers the body of a response whose status has decided the outcome.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gather = (response: HttpClientResponse.HttpClientResponse, maxBytes: number): Effect.Effect<Gathered> =>
  Gathering.gather({ maxBytes, millis: Infinity, isDecidedByStatus: true }, (gathering) =>
    Gathering.into(response, gathering)
  ).pipe(Effect.orDie)
