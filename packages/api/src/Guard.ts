/**
 * What stands in front of the HttpClient: a rate limiter and a circuit breaker, each one Layer.
 *
 * Both are Effect's own. They serve `api` and `tus` alike, count by origin, and add nothing to an error channel: a
 * request that they do not let through is a `TransportFailure` that says so.
 *
 * Not part of the index: `import * as Guard from "@assembly-effect/api/Guard"`.
 */
import * as Transport from "@assembly-effect/auth/Transport"
import * as Wait from "@assembly-effect/auth/Wait"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"

const origin = ({ url }: HttpClientRequest.HttpClientRequest): string => new URL(url).origin

/** No answer about a rate limit is larger than a few hundred bytes. */
const maxBytes = 64 * 1024

/**
 * A 429 whose body names the wait (`retryIn`) says it in `Retry-After` as well, which is all that the limiter reads. A
 * body that breaks off, hangs or is too large costs its words only: status and headers stand.
 */
const withRetryAfter = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status !== 429) return response
  const { headers, request, status } = response
  const { text } = yield* Transport.readError(response, { maxBytes })
  const wait = yield* Wait.named(headers, Option.getOrUndefined(Transport.parseJson(text)))
  const told = Option.match(wait, {
    onNone: () => headers,
    onSome: (duration) => Headers.set(headers, "retry-after", String(Math.ceil(Duration.toSeconds(duration))))
  })
  return HttpClientResponse.fromWeb(request, new Response(text, { status, headers: { ...told } }))
})

/** The client behind a guard, with what the guard fails with as an error of a client. */
const guard = <E>(
  client: HttpClient.HttpClient,
  guarded: HttpClient.HttpClient.With<HttpClientError.HttpClientError | E>,
  description: string
): HttpClient.HttpClient =>
  HttpClient.makeWith(
    Effect.flatMap((request: HttpClientRequest.HttpClientRequest) =>
      Effect.mapError(guarded.postprocess(Effect.succeed(request)), (error) =>
        error instanceof HttpClientError.HttpClientError
          ? error
          : new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, description })
            })
      )
    ),
    client.preprocess
  )

/**
 * At most `limit` requests to one origin in each `window`; by a token bucket where `algorithm` says so.
 */
export interface RateLimit {
  readonly limit: number
  readonly window: Duration.Input
  readonly algorithm?: "fixed-window" | "token-bucket" | undefined
}

/**
 * {@link layerRateLimiter} with the limiter of the context, which several processes may share.
 */
export const layerRateLimiterNoDeps = (
  options: RateLimit
): Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient | RateLimiter.RateLimiter> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const client = HttpClient.transformResponse(
        yield* HttpClient.HttpClient,
        Effect.flatMap((response) => withRetryAfter(response))
      )
      const limiter = yield* RateLimiter.RateLimiter
      // Retries are the business of the RetryPolicy, which signs each attempt anew.
      const limited = HttpClient.withRateLimiter(client, {
        ...options,
        limiter,
        key: origin,
        times: 0
      })
      return guard(client, limited, "the rate limiter does not work")
    })
  )

/**
 * Delays requests so that an origin gets no more than its limit. After a 429 that names a wait, by `Retry-After` or by
 * `retryIn` in its body, every request to that origin waits, whoever sent the first one.
 *
 * The delay counts towards the `requestTimeout` of the client, since the signature ages meanwhile.
 *
 * @example
 * AssemblyClient.layer({ baseUrl }).pipe(
 *   Layer.provide(Guard.layerRateLimiter({ limit: 10, window: "1 second" })),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 */
export const layerRateLimiter = (
  options: RateLimit
): Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  layerRateLimiterNoDeps(options).pipe(
    Layer.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)))
  )

/**
 * {@link layerCircuitBreaker} with the breaker of the context.
 */
export const layerCircuitBreakerNoDeps: Layer.Layer<
  HttpClient.HttpClient,
  never,
  HttpClient.HttpClient | CircuitBreaker.CircuitBreaker
> = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const breaker = yield* CircuitBreaker.CircuitBreaker
    const guarded = HttpClient.withCircuitBreaker(client, { breaker, key: origin })
    return guard(client, guarded, "the circuit is open: the service has not been well")
  })
)

/**
 * Sends nothing to an origin for `openFor` (30 seconds by default) after `failures` failed requests in a row (5 by
 * default): lost connections and answers that say the service is not well.
 */
export const layerCircuitBreaker = (options?: {
  readonly failures?: number | undefined
  readonly openFor?: Duration.Input | undefined
}): Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  layerCircuitBreakerNoDeps.pipe(
    Layer.provide(
      CircuitBreaker.layer({
        tripPolicy: CircuitBreaker.consecutive(options?.failures ?? 5),
        openDuration: options?.openFor ?? "30 seconds"
      }).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))
    )
  )
