import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as Transport from "../Transport.ts"
import * as Request from "./request.ts"
import * as Response from "./response.ts"

/** What the attempts of a client share. */
export interface Environment {
  readonly authenticator: Authenticator.Authenticator["Service"]
  readonly http: HttpClient.HttpClient
  readonly maxBytes: number
}

/** What one attempt may differ in: how long it may take, and how far the clock is off, in milliseconds. */
export interface Conditions {
  readonly timeout: Duration.Duration
  readonly clockSkew: number
}

/**
 * One request with its whole answer. It is authenticated anew, so each attempt carries a fresh nonce and expiry.
 */
export const compile = (operation: Operation.Any, { authenticator, http, maxBytes }: Environment) => {
  const decode = Response.decoder(operation, { maxBytes })

  return (encoded: Request.Encoded, { timeout }: Conditions) =>
    Effect.gen(function* () {
      const proof =
        operation.auth === "none"
          ? undefined
          : yield* authenticator.authenticate({
              params: encoded.params,
              nonceIn: operation.nonceIn,
              scope: operation.scope
            })
      const response = yield* Effect.mapError(
        Transport.execute(http, Request.toHttp(operation, encoded, proof), encoded.subject),
        Response.withoutWait
      )
      return yield* decode(response, { subject: encoded.subject, secrets: Request.secretsOf(proof) })
    }).pipe(
      Effect.scoped,
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(Response.withoutWait(new ApiError.TimedOut({ ...encoded.subject, after: timeout })))
      })
    )
}
