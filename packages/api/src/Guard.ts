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
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Schema from "effect/Schema"

const Breaker = Schema.Struct({ failures: Schema.optional(Rules.whole(1)), openFor: Schema.optional(Rules.duration) })

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
  options: Schema.Codec.Encoded<typeof Breaker> = {}
): Layer.Layer<HttpClient.HttpClient, InvalidRequest, HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const { failures = 5, openFor = "30 seconds" } = yield* decodeBreaker(options)
      const client = yield* HttpClient.HttpClient
      const tripPolicy = CircuitBreaker.consecutive(failures)
      const breaker = yield* CircuitBreaker.make({ tripPolicy, openDuration: openFor })
      const description = "the circuit breaker is open after repeated failures"
      return HttpClient.transform(client, (sent, request) =>
        breaker.execute(sent, { key: new URL(request.url).origin, classify: HttpClient.circuitBreakerClassifier }).pipe(
          Effect.catchTag("CircuitBreakerError", () => {
            const reason = new HttpClientError.TransportError({ request, description })
            return Effect.fail(new HttpClientError.HttpClientError({ reason }))
          })
        )
      )
    })
  ).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))
