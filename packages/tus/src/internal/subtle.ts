/**
 * Checks whether `crypto.subtle` is available, because digests need it. A page has `crypto.subtle` only on https,
 * on `localhost` and on the addresses of loopback.
 */
import * as Digest from "effect/crypto/Digest"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"

/** Whether this runtime can compute a digest. */
export const isAvailable: Effect.Effect<boolean> = WebCrypto.useSync(
  (crypto: Crypto | undefined) => crypto?.subtle !== undefined
)

/** The text of an error when `crypto.subtle` is unavailable. */
export const description = "crypto.subtle is unavailable; serve the page over https or from localhost"

/** The digest of bytes. */
export const digest = (algorithm: Digest.Algorithm, bytes: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.provide(
    Digest.Digest.use((service) => service.digest(algorithm, bytes)),
    Digest.layerWebCrypto
  )

/** The SHA-256 of bytes, in hexadecimal digits. */
export const sha256 = (bytes: Uint8Array): Effect.Effect<string> => Effect.map(digest(Digest.sha256, bytes), Hex.encode)
