/**
 * A circuit breaker between a program and the service, as a Layer that uses Effect's own module. It keeps separate counters
 * for each origin, and works for `api`, `auth` and `tus`.
 *
 * The Layer adds no error type: a request that it refuses fails with a `TransportFailure` whose `description` names the
 * circuit breaker. `Tokens` itself fails with `TokenUnavailable` instead. A rate limit (413, 429) is no failure: for the
 * quotas of an account, see `Budget`.
 *
 * The index does not export this module: `import * as Guard from "@assembly-effect/api/Guard"`.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Schema from "effect/Schema"

const origin = ({ url }: HttpClientRequest.HttpClientRequest): string => new URL(url).origin

const refused = (request: HttpClientRequest.HttpClientRequest, { reason }: CircuitBreaker.CircuitBreakerError) => {
  const description =
    reason._tag === "CircuitBreakerStoreError"
      ? "the store of the circuit breaker failed"
      : "the circuit breaker is open after repeated failures"
  return new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, description }) })
}

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
    return HttpClient.makeWith(
      Effect.flatMap((request: HttpClientRequest.HttpClientRequest) =>
        Effect.mapError(guarded.postprocess(Effect.succeed(request)), (error) =>
          HttpClientError.isHttpClientError(error) ? error : refused(request, error)
        )
      ),
      client.preprocess
    )
  })
)

/**
 * The options of {@link layerCircuitBreaker}: the number of consecutive `failures` that open the circuit, 5 by default,
 * and how long the circuit is open, 30 seconds by default.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Breaker = Schema.Struct({
  failures: Rules.whole(1).pipe(Schema.withDecodingDefault(Effect.succeed(5))),
  openFor: Rules.duration.pipe(Schema.withDecodingDefault(Effect.succeed("30 seconds")))
})

/**
 * The encoded {@link Breaker}.
 *
 * @since 0.1.0
 * @category models
 */
export type Breaker = Schema.Codec.Encoded<typeof Breaker>

const decodeBreaker = Rules.decoder("Guard.layerCircuitBreaker", Breaker)

/**
 * Sends nothing to an origin for `openFor` (30 seconds by default) after `failures` consecutive failures (5 by
 * default). Failures are errors of the connection, and responses with the status 408, 500, 502, 503 or 504. If the last
 * of these responses has a longer `Retry-After` than `openFor`, nothing is sent for that time, up to 1 hour.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCircuitBreaker = (
  options: Breaker = {}
): Layer.Layer<HttpClient.HttpClient, InvalidRequest, HttpClient.HttpClient> =>
  Layer.unwrap(
    Effect.map(decodeBreaker(options), ({ failures, openFor }) =>
      layerCircuitBreakerNoDeps.pipe(
        Layer.provide(
          CircuitBreaker.layer({ tripPolicy: CircuitBreaker.consecutive(failures), openDuration: openFor }).pipe(
            Layer.provide(CircuitBreaker.layerStoreMemory())
          )
        )
      )
    )
  )
