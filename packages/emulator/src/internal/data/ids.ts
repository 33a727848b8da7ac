import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"

const bytes = SecureRandom.SecureRandom.use((random) => random.randomBytes(16))

/** Generates an id of 32 hexadecimal digits, for example for an Assembly, an upload or a file. */
export const hex = Effect.map(bytes, Hex.encode)

/**
 * Generates an identifier as in spec.md, "DAM asset". The base64url text of 16 bytes has four unused zero bits, so the
 * identifier ends with A, Q, g or w.
 */
export const identifier = Effect.map(bytes, Base64Url.encode)
