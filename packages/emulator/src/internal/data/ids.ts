import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"

const generator = (encode: (bytes: Uint8Array) => string) =>
  Effect.map(SecureRandom.SecureRandom, (random) => Effect.map(random.randomBytes(16), encode))

/** Makes the generator of ids of 32 hexadecimal digits, for example for an Assembly, an upload or a file. */
export const hex = generator(Hex.encode)

/**
 * Makes the generator of identifiers as in spec.md, "DAM asset". The base64url text of 16 bytes has four unused zero
 * bits, so an identifier ends with A, Q, g or w.
 */
export const identifier = generator(Base64Url.encode)
