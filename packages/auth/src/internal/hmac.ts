import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { CryptoUnavailable } from "../AuthError.ts"

/**
 * The hash functions that the service accepts. An Auth Key may require one of these functions.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Algorithm = Schema.Literals(["sha384", "sha256", "sha1"])
/**
 * @since 0.1.0
 * @category models
 */
export type Algorithm = typeof Algorithm.Type

const algorithms: { readonly [A in Algorithm]: Mac.Algorithm } = {
  sha384: Mac.hmacSha384,
  sha256: Mac.hmacSha256,
  sha1: Mac.hmacSha1
}

/**
 * The key of a secret; an empty secret is a defect. The bytes are copied, because Effect refuses bytes of another realm, and in jsdom the result of
 * `TextEncoder` is such an array.
 */
export const key = (algorithm: Algorithm, secret: Redacted.Redacted) =>
  Effect.orDie(Mac.key(algorithms[algorithm], new Uint8Array(new TextEncoder().encode(Redacted.value(secret)))))

/**
 * Fails if `crypto.subtle` is missing. Without this check, the crypto modules of Effect would die when they are first
 * used.
 */
export const subtle: Layer.Layer<never, CryptoUnavailable> = Layer.effectDiscard(
  WebCrypto.use((crypto: Crypto | undefined) =>
    crypto?.subtle === undefined ? Effect.fail(new CryptoUnavailable()) : Effect.void
  )
)

/** Computes HMAC with WebCrypto, which edge runtimes and workers support too. */
export const layer = Mac.layerWebCrypto.pipe(Layer.provide([SecureRandom.layerWebCrypto, subtle]))
