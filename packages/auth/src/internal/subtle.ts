import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CryptoUnavailable } from "../AuthError.ts"

/**
 * Fails if `crypto.subtle` is missing. Without this check, the crypto modules of Effect would die when they are first
 * used.
 */
export const required: Layer.Layer<never, CryptoUnavailable> = Layer.effectDiscard(
  WebCrypto.use((crypto: Crypto | undefined) =>
    crypto?.subtle === undefined ? Effect.fail(new CryptoUnavailable()) : Effect.void
  )
)
