/**
 * Sends a request with a client that this library does not know. The guard observes each send, through every wrapper of
 * the client. It stops a send to another origin, a send with another body, a followed redirect, and the repetition of a
 * request that is not a GET or HEAD.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Diagnosis from "../unstable/Diagnosis.ts"
import { Lost } from "../unstable/Outcome.ts"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

const refusal = (code: string, description: string, sent: "no" | "maybe", permanent = true): Lost =>
  new Lost({ code, description: `the ${description}`, sent, permanent })

// `sent` is `maybe` after a second send, because the first send may have arrived. A 303 even means that the service has
// carried out the request.
const repeated = refusal("REQUEST_REPEATED", "HTTP client would have sent the request a second time", "maybe", false)
const followed = refusal("REQUEST_REDIRECTED", "HTTP client would have followed a redirect", "maybe")
const elsewhere = refusal("REQUEST_REDIRECTED", "HTTP client would have sent the request to another origin", "no")
const answeredElsewhere = refusal(
  "REQUEST_REDIRECTED",
  "response came from another URL than the requested one",
  "maybe"
)
const resized = refusal("BODY_CHANGED", "HTTP client would have changed the length of the request body", "no")
const encoded = refusal("BODY_CHANGED", "HTTP client would have encoded the request body (content-encoding)", "no")
export const changed = refusal("BODY_CHANGED", "HTTP client changed the request body", "maybe")
const readTwice = refusal("BODY_READ_TWICE", "HTTP client read the request body twice", "maybe")

const urlOf = (request: Request): URL | undefined => Option.getOrUndefined(HttpClientRequest.toUrl(request))

const isSameUrl = (a: Request, b: Request, same: (a: URL, b: URL) => boolean): boolean => {
  // If the parts are the same, no URL is built.
  if (a.url === b.url && a.urlParams === b.urlParams && a.hash === b.hash) return true
  const [first, second] = [urlOf(a), urlOf(b)]
  return first === undefined || second === undefined ? first === second : same(first, second)
}

const isSameOrigin = (a: URL, b: URL): boolean => a.origin === b.origin

/** Whether two URLs are equal except for their fragments, which are not sent. */
const isSentAlike = (a: URL, b: URL): boolean =>
  isSameOrigin(a, b) && a.pathname === b.pathname && a.search === b.search

/** The length of a body in bytes, if known. */
const lengthOf = (body: HttpBody.HttpBody): number | undefined => (body._tag === "Empty" ? 0 : body.contentLength)

const isResized = (ours: Request, { body, headers }: Request): boolean => {
  const expected = lengthOf(ours.body)
  const length = lengthOf(body)
  const known = expected !== undefined && length !== undefined
  if (known ? expected !== length : (expected === 0) !== (length === 0)) return true
  const header = headers["content-length"]
  return expected !== undefined && header !== undefined && Number(header) !== expected
}

/** The error if the request that the client is about to send differs from ours in a way that is not permitted. */
const change = (ours: Request, leaving: Request): Lost | undefined => {
  if (!isSameUrl(leaving, ours, isSameOrigin)) return elsewhere
  if (leaving.headers["content-encoding"] !== ours.headers["content-encoding"]) return encoded
  return isResized(ours, leaving) ? resized : undefined
}

const beforeQuery = /^[^?#]*/

/** Whether the response came from another origin or path than those of the request. The queries are not compared. */
const isAnsweredElsewhere = ({ request, url }: Response): boolean => {
  // For most responses this comparison is enough, so no URL is parsed.
  if (beforeQuery.exec(request.url)?.[0] === beforeQuery.exec(url)?.[0]) return false
  const asked = urlOf(request)
  if (asked === undefined || !URL.canParse(url)) return false
  const answered = new URL(url)
  return asked.origin !== answered.origin || asked.pathname !== answered.pathname
}

/**
 * How the body of a request is guarded.
 *
 * - `given`: the request for the client.
 * - `holds`: whether the body that the client is about to send has the bytes of the request.
 */
export interface BodyGuard {
  readonly given: Request
  readonly holds: (leaving: HttpBody.HttpBody) => boolean
}

/** The part of the guard that its {@link BodyGuard} needs. */
export interface Watch {
  /** Whether the sends of this client have been observed before. */
  readonly isSeen: boolean
  /** Keeps the first error, which takes precedence over the result of the client. */
  readonly refuse: (lost: Lost) => Lost
  /** The body is read a second time. */
  readonly readAgain: (sendsBefore: number) => Lost
  readonly sends: () => number
}

/** Thrown to stop a send in a predicate of the HTTP client, which cannot fail in another way. */
class Stop extends Error {
  override readonly name = "Stop"
}

class Guard implements Watch {
  readonly #ours: Request
  readonly #body: BodyGuard
  readonly isSeen: boolean
  #sends = 0
  #first: Request | undefined
  #leavesAsStream = false
  refusal: Lost | undefined

  constructor(ours: Request, isSeen: boolean, guardBody: (ours: Request, watch: Watch) => BodyGuard) {
    this.#ours = ours
    this.isSeen = isSeen
    this.#body = guardBody(ours, this)
  }

  get given(): Request {
    return this.#body.given
  }

  readonly sends = () => this.#sends

  readonly refuse = (lost: Lost): Lost => (this.refusal ??= lost)

  readonly readAgain = (sendsBefore: number): Lost =>
    this.refuse(sendsBefore === 0 && this.#leavesAsStream ? readTwice : repeated)

  #objection(leaving: Request): Lost | undefined {
    const { method } = this.#ours
    if (this.#first === undefined) {
      const found = change(this.given, leaving)
      return found ?? (this.#body.holds(leaving.body) ? undefined : new Lost({ ...changed, sent: "no" }))
    }
    if (!isSameUrl(leaving, this.#first, isSentAlike) || leaving.method !== method) return followed
    const isRead = method === "GET" || method === "HEAD"
    return isRead && change(this.given, leaving) === undefined ? undefined : repeated
  }

  onSend(leaving: Request): void {
    const found = this.refusal ?? this.#objection(leaving)
    if (found !== undefined) {
      this.refuse(found)
      throw new Stop(found.description)
    }
    this.#sends++
    this.#first ??= leaving
    this.#leavesAsStream = leaving.body._tag === "Stream"
  }

  onResponse(response: Response): void {
    if (isAnsweredElsewhere(response)) this.refuse(answeredElsewhere)
    // If no send was observed, the request that belongs to the response is checked instead.
    const hidden = this.#sends === 0 ? change(this.given, response.request) : undefined
    if (hidden !== undefined) this.refuse(new Lost({ ...hidden, sent: "maybe" }))
  }
}

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
const rules = (redirect: RequestRedirect, onSend: (leaving: Request) => void) =>
  Context.make(HttpClient.TracerDisabledWhen, (leaving: Request) => {
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
): Effect.Effect<Response, Lost> => {
  const found = Cause.findError(cause)
  if (Result.isSuccess(found)) {
    // A wrapper in a JavaScript program may fail with any value.
    if (!HttpClientError.isHttpClientError(found.success)) {
      const sent = circumstances.isSeen && circumstances.sends === 0 ? "no" : "maybe"
      return Effect.fail(new Lost({ description: "the HTTP client failed", sent, permanent: false }))
    }
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
 * Sends a request once, to its own origin and with its own body, in a scope that frees its connection. Any status is a
 * response, even if the client treats it as a failure. If the client returns a response although the guard stopped a
 * send, that response is ignored. The span of the HTTP client is off, because it would record the URL, which may be
 * signed or a capability.
 */
export const exchange = (
  http: HttpClient.HttpClient,
  ours: Request,
  redirect: RequestRedirect,
  guardBody: (ours: Request, watch: Watch) => BodyGuard
): Effect.Effect<Response, Lost, Scope.Scope> =>
  Effect.suspend(() => {
    const known = knownOf(http)
    const guard = new Guard(ours, known.isSeen, guardBody)
    const url = urlOf(ours)
    const host = url?.host ?? ""
    // A client that has responded although none of its sends was observed gets the redirect mode before it sends.
    const hides = !known.isSeen && known.hosts.size > 0
    const onSend = (leaving: Request) => {
      known.isSeen = true
      guard.onSend(leaving)
    }

    return HttpClient.withScope(http)
      .execute(guard.given)
      .pipe(
        Effect.updateContext((context: Context.Context<Scope.Scope>) =>
          Context.merge(hides ? withRedirect(context, redirect) : context, rules(redirect, onSend))
        ),
        Effect.catchCause((cause): Effect.Effect<Response, Lost> =>
          guard.refusal === undefined || Cause.hasInterrupts(cause)
            ? settle(cause, {
                sends: guard.sends(),
                isSeen: known.isSeen,
                knowsHost: known.hosts.has(host),
                url
              })
            : Effect.fail(guard.refusal)
        ),
        Effect.flatMap((response) => {
          guard.onResponse(response)
          if (guard.refusal !== undefined) return Effect.fail(guard.refusal)
          known.hosts.add(host)
          return Effect.succeed(response)
        })
      )
  })
