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
        corrected: (clockSkew) => {
          const millis = Duration.toMillis(clockSkew)
          if (millis === told) return Effect.void
          told = millis
          return Effect.logWarning(`${skewed(millis)}; signing with the corrected time`)
        }
      })
    })
  )
)
