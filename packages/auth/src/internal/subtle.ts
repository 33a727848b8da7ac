import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CryptoUnavailable } from "../AuthError.ts"

/** Builds nothing; fails where the crypto modules of Effect would die at their first use. */
export const required: Layer.Layer<never, CryptoUnavailable> = Layer.effectDiscard(
  WebCrypto.use((crypto: Crypto | undefined) =>
    crypto?.subtle === undefined ? Effect.fail(new CryptoUnavailable()) : Effect.void
  )
)
