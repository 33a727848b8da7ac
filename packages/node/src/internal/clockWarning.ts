import { skewed } from "@assembly-effect/api/unstable/ErrorDetails"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Logs each new correction of the clock with which requests are signed. If these requests succeed, only this log shows
 * that the clock is wrong. The Layer is fresh: the Authenticators of two accounts in one program are two.
 */
export const layer: Layer.Layer<Authenticator.Authenticator, never, Authenticator.Authenticator> = Layer.fresh(
  Layer.effect(
    Authenticator.Authenticator,
    Effect.map(Authenticator.Authenticator, (own) => {
      let told = 0
      return Authenticator.Authenticator.of({
        ...own,
        authenticate: (request) => {
          const { clockSkew = Duration.zero } = request
          const millis = Duration.toMillis(clockSkew)
          const isNew = millis !== 0 && millis !== told
          told = millis
          return isNew
            ? Effect.andThen(
                Effect.logWarning(`${skewed(millis)}; signing with the corrected time`),
                own.authenticate(request)
              )
            : own.authenticate(request)
        }
      })
    })
  )
)
