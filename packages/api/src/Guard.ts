/**
 * What stands between a program and the service: a rate limiter and a circuit breaker, each one Layer.
 *
 * Both count by Effect's own modules and by origin, serve `api`, `auth` and `tus` alike, and add nothing to an error
 * channel: what the limiter does not let through in time is `RateLimited`, what the breaker does not is a
 * `TransportFailure` that says so.
 *
 * Not part of the index: `import * as Guard from "@assembly-effect/api/Guard"`.
 */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Settings from "@assembly-effect/auth/unstable/Settings"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as ApiError from "./ApiError.ts"
import * as Lanes from "./internal/lanes.ts"

const origin = ({ url }: HttpClientRequest.HttpClientRequest): string => new URL(url).origin

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
 * At most `limit` requests to one origin in each `window`; by a token bucket where `algorithm` says so. `maxPause` is the
 * longest pause that a rate limit of the service makes, 1 hour by default and at most.
 *
 * @since 0.1.0
 * @category models
 */
export interface RateLimit {
  readonly limit: number
  readonly window: Duration.Input
  readonly algorithm?: "fixed-window" | "token-bucket" | undefined
  readonly maxPause?: Duration.Input | undefined
}

const check = (options: RateLimit): Effect.Effect<void, ApiError.InvalidRequest> => {
  const issues = Settings.issues({
    limit: Settings.whole(options.limit, 1),
    window: Settings.duration(options.window),
    maxPause: Settings.duration(options.maxPause)
  })
  return issues.length === 0
    ? Effect.void
    : Effect.fail(new ApiError.InvalidRequest({ operation: "Guard.layerRateLimiter", issues }))
}

/**
 * {@link layerRateLimiter} with the limiter of the context, which several processes may share. Each process lets its own
 * requests through in their order; between processes no order is kept.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerRateLimiterNoDeps = (
  options: RateLimit
): Layer.Layer<never, ApiError.InvalidRequest, RateLimiter.RateLimiter> =>
  Layer.effect(
    Admission.Admission,
    Effect.gen(function* () {
      yield* check(options)
      return Lanes.make(yield* RateLimiter.RateLimiter, {
        limit: options.limit,
        window: Duration.fromInputUnsafe(options.window),
        algorithm: options.algorithm ?? "fixed-window",
        maxPause: Duration.min(Duration.fromInputUnsafe(options.maxPause ?? Lanes.longestPause), Lanes.longestPause)
      })
    })
  )

/**
 * Delays requests so that an origin gets no more than its limit. After a 429 that names a wait, by `Retry-After` or by
 * `retryIn` in its body, every request to that origin waits, whoever sent the first one.
 *
 * **Details**
 *
 * A request waits before it is signed and before its `requestTimeout` or `stallTimeout` begins, in the order of arrival.
 * One whose `deadline` comes before its turn fails at once with `RateLimited`, which tells the wait. A permit is used up
 * only by a request that leaves.
 *
 * Each Layer counts for itself. What it is provided to is what it limits: a client, its `Tokens`, uploads, or the whole
 * program.
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
export const layerRateLimiter = (options: RateLimit): Layer.Layer<never, ApiError.InvalidRequest> =>
  Layer.unwrap(
    // `layerStoreMemory` is one value: without `fresh` all limiters of a program would share its counters.
    Effect.sync(() =>
      layerRateLimiterNoDeps(options).pipe(
        Layer.provide(Layer.fresh(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))))
      )
    )
  )

/**
 * {@link layerCircuitBreaker} with the breaker of the context.
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
    return guard(client, guarded, "the circuit is open: the service has not been well")
  })
)

/**
 * Sends nothing to an origin for `openFor` (30 seconds by default) after `failures` failed requests in a row (5 by
 * default): lost connections and answers that say the service is not well.
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
