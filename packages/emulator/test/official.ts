/** Tests with the unmodified official client `@transloadit/node`. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { Transloadit } from "@transloadit/node"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** The client of the emulator in the context. */
export const official = Effect.map(
  Emulator.Emulator,
  ({ baseUrl, credentials }) =>
    new Transloadit({
      endpoint: baseUrl,
      authKey: credentials.key,
      authSecret: Redacted.value(credentials.secret),
      validateResponses: true,
      maxRetries: 0
    })
)
