/**
 * One HTTP exchange under the rules that hold for every request to the service, whoever makes it.
 */
import * as Json from "@assembly-effect/schema/Json"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Diagnosis from "../internal/diagnosis.ts"
import type { Lost } from "../internal/lost.ts"
import * as SendGuard from "../internal/sendGuard.ts"

export { Lost } from "../internal/lost.ts"
export { ends, readError, readText, UnreadableBody, withLimit } from "../internal/readBody.ts"
export type { ErrorText } from "../internal/readBody.ts"

/**
 * What an error of an HTTP client says about a request, such as one in the middle of an answer. The error itself holds
 * the request with its credential: let it go no further.
 *
 * @since 0.1.0
 * @category utilities
 */
export const toLost = (error: HttpClientError.HttpClientError): Lost => Diagnosis.diagnose(error)

/**
 * What is known of a client: the hosts that have answered it, and whether it lets its sends be seen. Kept for as long
 * as the client.
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

const hostOf = (request: HttpClientRequest.HttpClientRequest): string =>
  Option.match(HttpClientRequest.toUrl(request), { onNone: () => "", onSome: ({ host }) => host })

/** The rules of one request. Each reference is set here, so that none of the application's switches the guard off. */
const rules = (redirect: RequestRedirect, onSend: (leaving: HttpClientRequest.HttpClientRequest) => void) =>
  Context.make(FetchHttpClient.RequestInit, { redirect }).pipe(
    Context.add(HttpClient.TracerDisabledWhen, (leaving: HttpClientRequest.HttpClientRequest) => {
      onSend(leaving)
      return true
    }),
    Context.add(Tracer.DisablePropagation, false)
  )

/** Why a client gave no answer, or the answer that it took for a failure. */
const settle = (
  cause: Cause.Cause<HttpClientError.HttpClientError>,
  { body }: HttpClientRequest.HttpClientRequest,
  circumstances: Diagnosis.Circumstances
): Effect.Effect<HttpClientResponse.HttpClientResponse, Lost> => {
  const found = Cause.findError(cause)
  if (Result.isSuccess(found)) {
    const { reason } = found.success
    return reason._tag === "StatusCodeError"
      ? Effect.succeed(reason.response)
      : Effect.fail(Diagnosis.diagnose(found.success, circumstances))
  }
  const defect = body._tag === "Raw" ? Result.getOrUndefined(Cause.findDefect(cause)) : undefined
  const unsupported = Diagnosis.unsupported(defect)
  // Any other defect, and an interruption, is not about the request.
  return unsupported === undefined ? Effect.failCause(found.failure) : Effect.fail(unsupported)
}

/**
 * Sends a request, in a scope that frees its connection.
 *
 * **Details**
 *
 * - The request leaves once, as it is. A second send of it (but for a GET or HEAD to the same URL), another origin,
 *   another length of the body, a `content-encoding` that it did not have, or other bytes than were given are stopped
 *   before they leave, through any wrapper of the client: `HttpClient.retryTransient`, `followRedirects`, `mapRequest`.
 *   What the client answers after that does not count. The body of a streamed request can be read once.
 * - A redirect is not followed: it would take the credential or the bytes elsewhere. `streaming` requests fail at one,
 *   which also keeps `fetch` from holding a copy of the body; others see its status.
 * - The HTTP client's own span is off, since it would record the signed URL or the capability.
 * - A status is an answer, also where the client takes it for a failure (`HttpClient.filterStatusOk`).
 *
 * **Gotchas**
 *
 * The guard sees what passes through Effect's `HttpClient.make`. It does not see a send below that: a `Dispatcher` or a
 * `fetch` function that repeats a request by itself, whose body is no stream, sends it again unseen (undici's
 * `RetryAgent` does so for PUT, DELETE and reads, and for others where its `methods` say so). A wrapper that sets
 * `HttpClient.TracerDisabledWhen` or `Tracer.DisablePropagation` inside of the client hides the sends as well: then the
 * origin, the length and the encoding are checked when the answer is there. Where a request was stopped for a second
 * send the first one may have been carried out, so `sent` is `maybe` then.
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
    const guard = SendGuard.make(request, known)
    const host = hostOf(request)
    const onSend = (leaving: HttpClientRequest.HttpClientRequest) => {
      known.isSeen = true
      guard.onSend(leaving)
    }

    return HttpClient.withScope(http)
      .execute(guard.request)
      .pipe(
        Effect.provideContext(rules(options?.streaming === true ? "error" : "manual", onSend)),
        Effect.catchCause((cause): Effect.Effect<HttpClientResponse.HttpClientResponse, Lost> => {
          const refusal = guard.refusal()
          return refusal === undefined || Cause.hasInterrupts(cause)
            ? settle(cause, request, {
                sends: guard.sends(),
                isSeen: known.isSeen,
                knowsHost: known.hosts.has(host)
              })
            : Effect.fail(refusal)
        }),
        Effect.flatMap((response) => {
          guard.onAnswer(response)
          // Whatever the client made of a refusal is no answer.
          const refusal = guard.refusal()
          if (refusal !== undefined) return Effect.fail(refusal)
          known.hosts.add(host)
          return Effect.succeed(response)
        })
      )
  })

/**
 * Gives an exchange a scope that is closed when it fails or is interrupted: that cuts the connection. An answer that was
 * read to its end has none to cut, the next request takes the connection, and aborting it all the same costs as much as
 * signing it.
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
 * Whether a status is a redirect. 0 is how a browser shows one that it did not follow.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/**
 * Whether a status is a success: any 2xx, since the specification shows none (spec.md, "Endpoints").
 *
 * @since 0.1.0
 * @category predicates
 */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Statuses below 500 that leave open whether the request was carried out. */
const openBelow500: ReadonlySet<number> = new Set([408, 409, 423, 425, 429, 499])

/**
 * Whether a status says for sure that a request was not carried out: 501, and every 4xx except 408, 409, 423, 425, 429
 * and 499. Any other failure leaves it open, whatever its body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRefusal = (status: number): boolean =>
  status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))

/**
 * The value of a JSON text; none where it is not JSON, or nested deeper than `Json.maxDepth`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseJson = (text: string): Option.Option<unknown> => Result.getSuccess(Json.parse(text))
