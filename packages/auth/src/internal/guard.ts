/**
 * Sends a request with a client that this library does not know. The guard observes each send, through every wrapper of
 * the client. It stops a send to another origin, a send with another body, a followed redirect, and the repetition of a
 * request that is not a GET or HEAD.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { RequestInit as Options } from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse as Response } from "effect/http/HttpClientResponse"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Diagnosis from "../unstable/Diagnosis.ts"
import { Lost } from "../unstable/Outcome.ts"

type Request = HttpClientRequest.HttpClientRequest

const refusal = (code: string, description: string, permanent = true): Lost =>
  new Lost({ code, description: `the ${description}`, sent: "maybe", permanent })

// The first send may have arrived.
export const repeated = refusal("REQUEST_REPEATED", "HTTP client would have sent the request a second time", false)
export const readTwice = refusal("BODY_READ_TWICE", "HTTP client read the request body twice")
export const changed = refusal("BODY_CHANGED", "HTTP client changed the request body")
const followed = refusal("REQUEST_REDIRECTED", "HTTP client would have followed a redirect")
const elsewhere = refusal("REQUEST_REDIRECTED", "HTTP client would have sent the request to another origin")
export const unsendable = refusal("ERR_INVALID_ARG_TYPE", "HTTP client refuses the request")
export const answeredElsewhere = refusal("REQUEST_REDIRECTED", "response came from another URL than the requested one")

const urlOf = (request: Request): URL | undefined => Option.getOrUndefined(HttpClientRequest.toUrl(request))

const lengthOf = (body: Request["body"]): number | undefined => (body._tag === "Empty" ? 0 : body.contentLength)

/** The error if a request that is sent has another origin, or declares another length or encoding, than ours. */
const change = (ours: Request, leaving: Request): Lost | undefined => {
  if (leaving.url !== ours.url && urlOf(leaving)?.origin !== urlOf(ours)?.origin) return elsewhere
  const length = lengthOf(ours.body)
  const declared = [lengthOf(leaving.body), leaving.headers["content-length"]]
  const hasLength = declared.every((one) => length === undefined || Number(one ?? length) === length)
  const hasEncoding = leaving.headers["content-encoding"] === ours.headers["content-encoding"]
  return hasLength && hasEncoding ? undefined : changed
}

/** Whether a response came from another origin or path than those that were asked. The queries are not compared. */
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
 */
export interface BodyGuard {
  readonly given: Request
  readonly holds: (leaving: Request["body"]) => boolean
}

/**
 * What the guard has observed. `sends` is undefined as long as no send of this client was ever observed. `refusal` is the
 * first error, which takes precedence over the result of the client.
 */
export interface Watch {
  sends: number | undefined
  refusal: Lost | undefined
}

/**
 * Facts about a client: the hosts that have responded to it, and whether its sends can be observed. These facts are
 * kept until the client is garbage-collected.
 */
const clients = new WeakMap<HttpClient.HttpClient, { readonly hosts: Set<string | undefined>; isSeen: boolean }>()

/** `Options` are the application's options of `fetch`, such as its `dispatcher` or `credentials`. */
const withRedirect = <R>(context: Context.Context<R>, redirect: RequestRedirect): Context.Context<R> =>
  Context.add(context, Options, { ...Context.getOrUndefined(context, Options), redirect })

/**
 * Sends a request once, to its own origin and with its own body, in a scope that frees its connection. Any status is a
 * response, even if the client treats it as a failure. If the client returns a response although the guard stopped a
 * send, that response is ignored. The span of the HTTP client is off, because it would record the URL, which may be
 * signed or a capability.
 */
export const send = (
  http: HttpClient.HttpClient,
  ours: Request,
  redirect: RequestRedirect,
  guardBody: (ours: Request, watch: Watch) => BodyGuard
): Effect.Effect<Response, Lost, Scope.Scope> =>
  Effect.suspend(() => {
    const known = clients.get(http) ?? { hosts: new Set(), isSeen: false }
    clients.set(http, known)
    const watch: Watch = { sends: known.isSeen ? 0 : undefined, refusal: undefined }
    const { given, holds } = guardBody(ours, watch)
    const url = urlOf(ours)
    let first: Request | undefined

    const objection = (leaving: Request): Lost | undefined => {
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
      if (found !== undefined) watch.refusal ??= new Lost({ ...found, sent: first === undefined ? "no" : "maybe" })
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
      Effect.catchCause((cause): Effect.Effect<Response, Lost> => {
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
