import * as Admission from "@assembly-effect/auth/unstable/Admission"
import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import { withLimit } from "@assembly-effect/auth/unstable/Transport"
import type { SecureUrl } from "@assembly-effect/schema/SecureUrl"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as Transport from "../unstable/Transport.ts"
import * as AuthError from "./authError.ts"
import * as Request from "./request.ts"
import * as Response from "./response.ts"

/** The dependencies that all attempts of a client share. */
export interface Environment {
  readonly baseUrl: SecureUrl
  readonly authenticator: Authenticator.Authenticator["Service"]
  readonly http: HttpClient.HttpClient
  readonly maxBytes: number
}

/**
 * The time limits and the clock skew that apply to one attempt of an operation. Times are in milliseconds.
 *
 * - `requestTimeout`: the time limit of each request, measured from the moment it is sent.
 * - `until`: the time when the operation must have ended, pauses included.
 * - `clockSkew`: the difference of the clocks by which the expiry of the signature is corrected.
 * - `accepted`: called with each response to an authenticated request, unless the response reports an expired
 *   signature.
 */
export interface Conditions {
  readonly requestTimeout: number
  readonly until: number
  readonly clockSkew: number
  readonly gate: Admission.Gate
  readonly accepted: (response: HttpClientResponse) => Effect.Effect<void>
}

const timeLeft = ({ until }: Conditions): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, until - now))

/** Fails after `limit`, or at the deadline of the operation. */
const inTime =
  (subject: Transport.Subject, conditions: Conditions, limit: number) =>
  <A, R>(effect: Effect.Effect<A, Response.Failed, R>): Effect.Effect<A, Response.Failed, R> =>
    Effect.flatMap(timeLeft(conditions), (left) => {
      const after = Duration.millis(Math.min(left, limit))
      const timedOut = Effect.suspend(() =>
        Effect.fail(Response.withoutWait(new ApiError.TimedOut({ ...subject, after })))
      )
      return withLimit(effect, Effect.andThen(Effect.sleep(after), timedOut))
    })

const isAboutExpiry = ({ error }: Response.Failed): boolean =>
  error instanceof ApiError.AuthenticationFailed && error.code === "AUTH_EXPIRED"

/**
 * Makes the function that sends one request and reads its complete response. The `Authenticator` makes the proof of
 * each attempt: a signature with a fresh nonce and expiry, or a token. If the service refuses the proof, and the
 * `Authenticator` may have another proof, the request is sent once more with the other proof.
 */
export const compile = (operation: Operation.Any, { authenticator, baseUrl, http, maxBytes }: Environment) => {
  const decode = Response.decoder(operation, { maxBytes })
  const isSigned = operation.auth === "signed"

  const authenticate = (encoded: Request.Encoded, conditions: Conditions) =>
    authenticator
      .authenticate({
        baseUrl,
        params: encoded.params,
        nonceIn: operation.nonceIn,
        scope: operation.scope,
        clockSkew: Duration.millis(conditions.clockSkew)
      })
      .pipe(
        Effect.mapError((error) => AuthError.toFailed(encoded.subject, error)),
        inTime(encoded.subject, conditions, Infinity)
      )

  /** Waits until a request is admitted, and returns the duration of the wait. */
  const admit = (encoded: Request.Encoded, conditions: Conditions) =>
    Effect.flatMap(timeLeft(conditions), (left) =>
      Transport.admit(conditions.gate, encoded.url, encoded.subject, Duration.millis(left)).pipe(
        Effect.mapError(Response.unsent)
      )
    )

  const receive = (
    request: HttpClientRequest.HttpClientRequest,
    asked: Response.Asked,
    { accepted }: Conditions
  ): Effect.Effect<unknown, Response.Failed> =>
    Transport.execute(http, request, asked.subject).pipe(
      Effect.mapError(Response.withoutWait),
      Effect.flatMap((response) =>
        decode(response, asked).pipe(
          Effect.tap(() => (isSigned ? accepted(response) : Effect.void)),
          Effect.tapError((failed) => (isSigned && !isAboutExpiry(failed) ? accepted(response) : Effect.void))
        )
      ),
      Transport.scopedToFailure
    )

  /**
   * Sends an admitted request. If the response is a rate limit that requests a pause, all requests to this origin that
   * pass the same gate (rate limiter) pause.
   */
  const exchange = (encoded: Request.Encoded, conditions: Conditions, proof: Authenticator.Proof | undefined) =>
    receive(
      Request.toHttp(operation, encoded, proof),
      { subject: encoded.subject, secrets: [...encoded.secrets, ...Request.secretsOf(proof)] },
      conditions
    ).pipe(
      inTime(encoded.subject, conditions, conditions.requestTimeout),
      Effect.tapError(({ error }) =>
        error instanceof ApiError.RateLimited
          ? Admission.pause(conditions.gate, encoded.url, error.retryAfter)
          : Effect.void
      )
    )

  const replace = (proof: Authenticator.Proof, failed: Response.Failed) => {
    const refusal = AuthError.refusal(failed.error)
    return refusal === undefined ? Effect.succeed("final" as const) : authenticator.refused(proof, refusal)
  }

  /**
   * Makes the proof of a request, and waits until the request is admitted. After a wait, makes another proof, because
   * the expiry of the first proof may be too early.
   */
  const prove = Effect.fnUntraced(function* (encoded: Request.Encoded, conditions: Conditions) {
    const proof = yield* authenticate(encoded, conditions)
    const waited = yield* admit(encoded, conditions)
    return Duration.isZero(waited) ? proof : yield* authenticate(encoded, conditions)
  })

  const proven = Effect.fnUntraced(function* (encoded: Request.Encoded, conditions: Conditions) {
    const proof = yield* prove(encoded, conditions)
    return yield* exchange(encoded, conditions, proof).pipe(
      Effect.catch((failed) =>
        Effect.flatMap(replace(proof, failed), (verdict) =>
          verdict === "final"
            ? Effect.fail(failed)
            : Effect.flatMap(prove(encoded, conditions), (another) => exchange(encoded, conditions, another))
        )
      )
    )
  })

  return (encoded: Request.Encoded, conditions: Conditions): Effect.Effect<unknown, Response.Failed> =>
    isSigned
      ? proven(encoded, conditions)
      : Effect.andThen(admit(encoded, conditions), exchange(encoded, conditions, undefined))
}
