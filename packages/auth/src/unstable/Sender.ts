/**
 * Sends one request. `StreamSender` sends requests with streamed bodies.
 *
 * A client that this library does not know is guarded. The guard observes each send, through every wrapper of the client.
 * It stops a send to another origin, a send with another body, a followed redirect, and the repetition of a request that
 * is not a GET or HEAD.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { RequestInit as Options } from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse as Response } from "effect/http/HttpClientResponse"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Bytes from "./Bytes.ts"
import * as Diagnosis from "./Diagnosis.ts"
import * as Gathering from "./Gathering.ts"
import * as Outcome from "./Outcome.ts"

type Request = HttpClientRequest.HttpClientRequest

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
  (request: Outgoing, limits: Gathering.Limits): Effect.Effect<Outcome.Gathered, Outcome.Lost | Gathering.Late>
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

const refusal = (code: string, description: string, permanent = true): Outcome.Lost =>
  new Outcome.Lost({ code, description: `the ${description}`, sent: "maybe", permanent })

/**
 * The client repeats the request. The first send may have arrived.
 *
 * @since 0.1.0
 * @category failures
 */
export const repeated = refusal("REQUEST_REPEATED", "HTTP client would have sent the request a second time", false)

/**
 * The client reads a body that can be read only once again.
 *
 * @since 0.1.0
 * @category failures
 */
export const readTwice = refusal("BODY_READ_TWICE", "HTTP client read the request body twice")

/**
 * The client sends another body.
 *
 * @since 0.1.0
 * @category failures
 */
export const changed = refusal("BODY_CHANGED", "HTTP client changed the request body")

/**
 * The client refuses the request, because it cannot be sent.
 *
 * @since 0.1.0
 * @category failures
 */
export const unsendable = refusal("ERR_INVALID_ARG_TYPE", "HTTP client refuses the request")

/**
 * The response came from another URL.
 *
 * @since 0.1.0
 * @category failures
 */
export const answeredElsewhere = refusal("REQUEST_REDIRECTED", "response came from another URL than the requested one")

const followed = refusal("REQUEST_REDIRECTED", "HTTP client would have followed a redirect")
const elsewhere = refusal("REQUEST_REDIRECTED", "HTTP client would have sent the request to another origin")

const urlOf = (request: Request): URL | undefined => Option.getOrUndefined(HttpClientRequest.toUrl(request))

const lengthOf = (body: Request["body"]): number | undefined => (body._tag === "Empty" ? 0 : body.contentLength)

/** The error if a request that is sent has another origin, or declares another length or encoding, than ours. */
const change = (ours: Request, leaving: Request): Outcome.Lost | undefined => {
  if (leaving.url !== ours.url && urlOf(leaving)?.origin !== urlOf(ours)?.origin) return elsewhere
  const length = lengthOf(ours.body)
  const declared = [lengthOf(leaving.body), leaving.headers["content-length"]]
  const hasLength = declared.every((one) => length === undefined || Number(one ?? length) === length)
  const hasEncoding = leaving.headers["content-encoding"] === ours.headers["content-encoding"]
  return hasLength && hasEncoding ? undefined : changed
}

/**
 * Whether a response came from another origin or path than those that were asked. The queries are not compared.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isElsewhere = (asked: string, url: string): boolean => {
  if (asked === url || !URL.canParse(url)) return false
  const [to, from] = [new URL(asked), new URL(url)]
  return to.origin !== from.origin || to.pathname !== from.pathname
}

/**
 * How the body of a request is guarded.
 *
 * - `given`: the request for the client.
 * - `holds`: whether the body that the client is about to send has the bytes of the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface BodyGuard {
  readonly given: Request
  readonly holds: (leaving: Request["body"]) => boolean
}

/**
 * What the guard has observed. `sends` is undefined as long as no send of this client was ever observed. `refusal` is the
 * first error, which takes precedence over the result of the client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Watch {
  sends: number | undefined
  refusal: Outcome.Lost | undefined
}

/**
 * Facts about a client: the hosts that have responded to it, and whether its sends can be observed. These facts are
 * kept until the client is garbage-collected.
 */
const clients = new WeakMap<HttpClient.HttpClient, { readonly hosts: Set<string | undefined>; isSeen: boolean }>()

/** The redirect modes of `fetch`, without its type, which programs without the DOM do not have. */
type Redirect = "error" | "follow" | "manual"

/** `Options` are the application's options of `fetch`, such as its `dispatcher` or `credentials`. */
const withRedirect = <R>(context: Context.Context<R>, redirect: Redirect): Context.Context<R> =>
  Context.add(context, Options, { ...Context.getOrUndefined(context, Options), redirect })

/**
 * Sends a request once, to its own origin and with its own body, in a scope that frees its connection. Any status is a
 * response, even if the client treats it as a failure. If the client returns a response although the guard stopped a
 * send, that response is ignored. The span of the HTTP client is off, because it would record the URL, which may be
 * signed or a capability.
 *
 * @since 0.1.0
 * @category utilities
 */
export const sendOnce = (
  http: HttpClient.HttpClient,
  ours: Request,
  redirect: Redirect,
  guardBody: (ours: Request, watch: Watch) => BodyGuard
): Effect.Effect<Response, Outcome.Lost, Scope.Scope> =>
  Effect.suspend(() => {
    const known = clients.get(http) ?? { hosts: new Set(), isSeen: false }
    clients.set(http, known)
    const watch: Watch = { sends: known.isSeen ? 0 : undefined, refusal: undefined }
    const { given, holds } = guardBody(ours, watch)
    const url = urlOf(ours)
    let first: Request | undefined

    const objection = (leaving: Request): Outcome.Lost | undefined => {
      if (first === undefined) return change(given, leaving) ?? (holds(leaving.body) ? undefined : changed)
      if (leaving.method !== ours.method || urlOf(leaving)?.href !== urlOf(first)?.href) return followed
      return ours.method === "GET" || ours.method === "HEAD" ? change(given, leaving) : repeated
    }

    /** Is called before each send. A predicate of the HTTP client can fail only by an exception. */
    const onSend = (leaving: Request): boolean => {
      known.isSeen = true
      const fiber = Fiber.getCurrent()
      const init = fiber && Context.getOrUndefined(fiber.context, Options)
      // Effect iterates over the headers among the options of `fetch`.
      const headers = Result.try(() => new Headers(init?.headers ?? undefined))
      const found = objection(leaving) ?? (Result.isSuccess(headers) ? undefined : unsendable)
      if (found !== undefined)
        watch.refusal ??= new Outcome.Lost({ ...found, sent: first === undefined ? "no" : "maybe" })
      if (watch.refusal !== undefined) throw watch.refusal
      watch.sends = (watch.sends ?? 0) + 1
      first ??= leaving
      // Only now the options of `fetch` are in the context that the Layer of the client was built with.
      fiber?.setContext(withRedirect(fiber.context, redirect))
      return true
    }

    const sent = HttpClient.withScope(http).execute(given)
    return sent.pipe(
      // References of the application's context cannot disable the guard.
      Effect.provideService(HttpClient.TracerDisabledWhen, onSend),
      Effect.provideService(Tracer.DisablePropagation, false),
      Effect.updateContext((context: Context.Context<Scope.Scope>) =>
        // A client that has responded although none of its sends was observed gets the redirect mode before it sends.
        known.isSeen || known.hosts.size === 0 ? context : withRedirect(context, redirect)
      ),
      Effect.catchCause((cause): Effect.Effect<Response, Outcome.Lost> => {
        const error = Cause.squash(cause)
        if (watch.refusal !== undefined && !Cause.hasInterrupts(cause)) return Effect.fail(watch.refusal)
        const reason = HttpClientError.isHttpClientError(error) ? error.reason : undefined
        if (reason?._tag === "StatusCodeError") return Effect.succeed(reason.response)
        const about = { sends: watch.sends, knowsHost: known.hosts.has(url?.host), url }
        // Other defects and interruptions are not caused by the request, so they are not turned into a `Lost`.
        const lost = Cause.hasFails(cause) ? Diagnosis.diagnose(error, about) : Diagnosis.refusedBy(error)
        return lost === undefined ? Effect.failCause(cause as Cause.Cause<never>) : Effect.fail(lost)
      }),
      Effect.flatMap((response) => {
        const asked = urlOf(response.request)?.href ?? response.url
        if (isElsewhere(asked, response.url)) watch.refusal ??= answeredElsewhere
        // If no send was observed, the request that belongs to the response is checked instead.
        if (first === undefined) watch.refusal ??= change(given, response.request)
        known.hosts.add(url?.host)
        return watch.refusal === undefined ? Effect.succeed(response) : Effect.fail(watch.refusal)
      })
    )
  })

const toRequest = ({ body, headers, method, origin, path }: Outgoing): Request => {
  const request = HttpClientRequest.make(method)(origin + path, { headers })
  if (body === undefined) return request
  const { content, contentType } = body
  return HttpClientRequest.setBody(
    request,
    typeof content === "string" ? HttpBody.text(content, contentType) : HttpBody.uint8Array(content, contentType)
  )
}

/** A client may copy a body in memory, but not change it. */
const inMemory = (given: Request): BodyGuard => ({
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
      Effect.flatMap(sendOnce(http, toRequest(request), "manual", inMemory), (response) =>
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
  request: Request
): Effect.Effect<Response, Outcome.Lost, Scope.Scope> => sendOnce(http, request, "manual", inMemory)

/**
 * Gathers the body of a response whose status has decided the outcome.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gather = (response: Response, maxBytes: number): Effect.Effect<Outcome.Gathered> =>
  Gathering.gather({ maxBytes, millis: Infinity, isDecidedByStatus: true }, (gathering) =>
    Gathering.into(response, gathering)
  ).pipe(Effect.orDie)
