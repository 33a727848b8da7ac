/**
 * Digests of bytes, which WebCrypto computes.
 */
import * as Digest from "effect/crypto/Digest"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"

/**
 * Whether this runtime can compute a digest: a page has `crypto.subtle` only on https, on `localhost` and on the
 * addresses of loopback.
 *
 * @since 0.1.0
 * @category guards
 */
export const isAvailable: Effect.Effect<boolean> = WebCrypto.useSync(
  (crypto: Crypto | undefined) => crypto?.subtle !== undefined
)

/**
 * The text of an error when this runtime cannot compute a digest.
 *
 * @since 0.1.0
 * @category guards
 */
export const unavailable = "crypto.subtle is unavailable; serve the page over https or from localhost"

/**
 * The digest of bytes.
 *
 * @since 0.1.0
 * @category utilities
 */
export const digest = (algorithm: Digest.Algorithm, bytes: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.provide(
    Digest.Digest.use((service) => service.digest(algorithm, bytes)),
    Digest.layerWebCrypto
  )

/**
 * The SHA-256 of bytes or of a text, in hexadecimal digits.
 *
 * @since 0.1.0
 * @category utilities
 */
export const sha256 = (content: Uint8Array | string): Effect.Effect<string> =>
  Effect.map(
    digest(Digest.sha256, typeof content === "string" ? new TextEncoder().encode(content) : content),
    Hex.encode
  )
