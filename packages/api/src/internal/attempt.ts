import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import type { SecureUrl } from "@assembly-effect/schema/SecureUrl"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Scope from "effect/Scope"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as Transport from "../Transport.ts"
import * as AuthError from "./authError.ts"
import * as Request from "./request.ts"
import * as Response from "./response.ts"

/** What the attempts of a client share. */
export interface Environment {
  readonly baseUrl: SecureUrl
  readonly authenticator: Authenticator.Authenticator["Service"]
  readonly http: HttpClient.HttpClient
  readonly maxBytes: number
}

/** What one attempt may differ in: how long it may take, and how far the clock is off, both in milliseconds. */
export interface Conditions {
  readonly timeout: number
  readonly clockSkew: number
}

/**
 * Gives an exchange a scope that is closed when it fails or is interrupted: that cuts the connection. An answer that was
 * read to its end has none to cut, and aborting it all the same costs as much as signing it.
 */
const cutUnlessRead = <A, E, R>(exchange: Effect.Effect<A, E, R | Scope.Scope>) =>
  Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    return exchange.pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/**
 * One request with its whole answer. It is authenticated anew, so each attempt carries a fresh nonce and expiry. A
 * proof that the service refuses is replaced once where the Authenticator has another one.
 */
export const compile = (operation: Operation.Any, { authenticator, baseUrl, http, maxBytes }: Environment) => {
  const decode = Response.decoder(operation, { maxBytes })

  const authenticate = (encoded: Request.Encoded, clockSkew: number) =>
    authenticator
      .authenticate({
        baseUrl,
        params: encoded.params,
        nonceIn: operation.nonceIn,
        scope: operation.scope,
        clockSkew: Duration.millis(clockSkew)
      })
      .pipe(Effect.mapError((error) => AuthError.toFailed(encoded.subject, error)))

  const exchange = (encoded: Request.Encoded, proof: Authenticator.Proof | undefined) =>
    Transport.execute(http, Request.toHttp(operation, encoded, proof), encoded.subject).pipe(
      Effect.mapError(Response.withoutWait),
      Effect.flatMap((response) => decode(response, { subject: encoded.subject, secrets: Request.secretsOf(proof) })),
      cutUnlessRead
    )

  const replace = (proof: Authenticator.Proof, failed: Response.Failed) => {
    const refusal = AuthError.refusal(failed.error)
    return refusal === undefined ? Effect.succeed("final" as const) : authenticator.refused(proof, refusal)
  }

  const proven = Effect.fnUntraced(function* (encoded: Request.Encoded, clockSkew: number) {
    const proof = yield* authenticate(encoded, clockSkew)
    return yield* exchange(encoded, proof).pipe(
      Effect.catch((failed) =>
        Effect.flatMap(replace(proof, failed), (verdict) =>
          verdict === "final"
            ? Effect.fail(failed)
            : Effect.flatMap(authenticate(encoded, clockSkew), (another) => exchange(encoded, another))
        )
      )
    )
  })

  return (encoded: Request.Encoded, { clockSkew, timeout }: Conditions) =>
    Transport.withLimit(
      operation.auth === "none" ? exchange(encoded, undefined) : proven(encoded, clockSkew),
      Effect.andThen(
        Effect.sleep(timeout),
        Effect.fail(
          Response.withoutWait(new ApiError.TimedOut({ ...encoded.subject, after: Duration.millis(timeout) }))
        )
      )
    )
}
