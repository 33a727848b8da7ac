/**
 * A rate limiter and a circuit breaker between a program and the service, each as a Layer.
 *
 * Both Layers use Effect's own modules, keep separate counters for each origin, and work for `api`, `auth` and `tus`.
 * The Layers add no error type: a request that the limiter does not admit in time fails with `RateLimited`, and a
 * request that the breaker refuses fails with a `TransportFailure` whose `problem` names the circuit breaker. `Tokens`
 * itself fails with `TokenRateLimited` or `TokenUnavailable` instead.
 *
 * The index does not export this module: `import * as Guard from "@assembly-effect/api/Guard"`.
 */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Schema from "effect/Schema"
import * as Lanes from "./internal/lanes.ts"

const origin = ({ url }: HttpClientRequest.HttpClientRequest): string => new URL(url).origin

/** Wraps a client with a guard, such as the circuit breaker. An error of the guard becomes an `HttpClientError`. */
const guard = <E>(
  client: HttpClient.HttpClient,
  guarded: HttpClient.HttpClient.With<HttpClientError.HttpClientError | E>,
  describe: (error: E) => string
): HttpClient.HttpClient =>
  HttpClient.makeWith(
    Effect.flatMap((request: HttpClientRequest.HttpClientRequest) =>
      Effect.mapError(guarded.postprocess(Effect.succeed(request)), (error) =>
        HttpClientError.isHttpClientError(error)
          ? error
          : new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, description: describe(error) })
            })
      )
    ),
    client.preprocess
  )

/**
 * The limit of requests to each origin.
 *
 * With the default `algorithm`, a fixed window, at most `limit` requests are sent in one window. The duration of a
 * window is `window / limit` times the number of its requests, so a window with `limit` requests lasts `window`. With a
 * token bucket, up to `limit` requests are sent at once, and then one request in each `window / limit`. `maxPause` is
 * the longest pause after a rate limit of the service: 1 hour by default. A longer `maxPause` counts as 1 hour.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RateLimit = Schema.Struct({
  limit: Rules.whole(1),
  window: Rules.duration,
  algorithm: Schema.optional(Schema.Literals(["fixed-window", "token-bucket"])),
  maxPause: Schema.optional(Rules.duration)
})

/**
 * The encoded {@link RateLimit}.
 *
 * @since 0.1.0
 * @category models
 */
export type RateLimit = Schema.Codec.Encoded<typeof RateLimit>

const decode = Rules.decoder("Guard.layerRateLimiter", RateLimit)

/**
 * Does the same as {@link layerRateLimiter}, but with the `RateLimiter` in the context. Several processes may share the
 * store of this `RateLimiter`. Each process keeps the order of its own requests, but the requests of different
 * processes have no order.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerRateLimiterNoDeps = (
  options: RateLimit
): Layer.Layer<never, InvalidRequest, RateLimiter.RateLimiter> =>
  Layer.effect(
    Admission.Admission,
    Effect.gen(function* () {
      const { algorithm = "fixed-window", limit, maxPause = Lanes.longestPause, window } = yield* decode(options)
      return Lanes.make(yield* RateLimiter.RateLimiter, {
        limit,
        window,
        algorithm,
        maxPause: Duration.min(maxPause, Lanes.longestPause)
      })
    })
  )

/**
 * Delays requests, so that each origin receives no more requests than the {@link RateLimit} permits. If the service
 * responds with a rate limit that requests a pause (with `Retry-After`, or with `retryIn` in the body), all requests to
 * that origin wait for this pause, at most for `maxPause`.
 *
 * **Details**
 *
 * A request waits before its `requestTimeout` or `stallTimeout` starts. After the wait, an operation makes a new
 * signature or gets its token again. Requests to one origin get their permits in the order of their arrival. As soon as
 * the estimated time of a permit is later than the `deadline` of its operation, the operation fails with `RateLimited`,
 * which contains the estimated wait. A request that fails or is interrupted while it waits uses no permit.
 *
 * Each Layer counts its own requests. A Layer limits the requests of the code to which it is provided: a client, its
 * `Tokens`, uploads, or the whole program. The requests of `Results` and of `WebSource.fromUrl` are not limited.
 *
 * @example
 * AssemblyClient.layer({ baseUrl }).pipe(
 *   Layer.provideMerge(Guard.layerRateLimiter({ limit: 10, window: "1 second" })),
 *   Layer.provideMerge(FetchHttpClient.layer)
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerRateLimiter = (options: RateLimit): Layer.Layer<never, InvalidRequest> =>
  Layer.unwrap(
    // `layerStoreMemory` is one memoized Layer, so without `fresh` all limiters of a program would share one store of
    // counters.
    Effect.sync(() =>
      layerRateLimiterNoDeps(options).pipe(
        Layer.provide(Layer.fresh(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))))
      )
    )
  )

/**
 * Does the same as {@link layerCircuitBreaker}, but with the `CircuitBreaker` in the context.
 *
 * @since 0.1.0
 * @category layers
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
    return guard(client, guarded, ({ reason }) =>
      reason._tag === "CircuitBreakerStoreError"
        ? "the store of the circuit breaker failed"
        : "the circuit breaker is open after repeated failures"
    )
  })
)

/**
 * Sends nothing to an origin for `openFor` (30 seconds by default) after `failures` consecutive failures (5 by
 * default). Failures are errors of the connection, and responses with the status 408, 500, 502, 503 or 504. If the last
 * of these responses has a longer `Retry-After` than `openFor`, nothing is sent for that time, up to 1 hour.
 *
 * @since 0.1.0
 * @category layers
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
