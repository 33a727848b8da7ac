import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"

const bytes = SecureRandom.SecureRandom.use((random) => random.randomBytes(16))

/** 32 hexadecimal digits: the id of an Assembly, an upload or a file. */
export const hex = Effect.map(bytes, Hex.encode)

/** The identifier format of spec.md, "DAM asset": 16 bytes leave four zero bits, so it ends in A, Q, g or w. */
export const identifier = Effect.map(bytes, Base64Url.encode)
