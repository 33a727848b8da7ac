import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as SqlClient from "effect/sql/SqlClient"
import { createHash } from "node:crypto"
import * as Statement from "./statement.ts"

const generator = (encode: (bytes: Uint8Array) => string) =>
  Effect.map(SecureRandom.SecureRandom, (random) => Effect.map(random.randomBytes(16), encode))

/** Makes the generator of ids of 32 hexadecimal digits, for example for an Assembly, an upload or a file. */
export const hex = generator(Hex.encode)

/**
 * Makes the generator of identifiers as in spec.md, "DAM asset". The base64url text of 16 bytes has four unused zero
 * bits, so an identifier ends with A, Q, g or w.
 */
export const identifier = generator(Base64Url.encode)

/**
 * Returns a function that reads the next bytes of a pseudo-random stream: the SHA-256 hashes of the seed with a
 * counter.
 */
const stream = (seed: string) => {
  let counter = 0
  let left: Uint8Array = new Uint8Array()
  return (size: number): Uint8Array => {
    const chunks = [left]
    for (let length = left.length; length < size; length += 32) {
      chunks.push(createHash("sha256").update(`${seed}/${counter++}`).digest())
    }
    const bytes = Buffer.concat(chunks)
    left = bytes.subarray(size)
    return new Uint8Array(bytes.subarray(0, size))
  }
}

const seeded = (seed: string) =>
  Layer.effect(
    SecureRandom.SecureRandom,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = yield* Statement.count(sql`UPDATE starts SET count = count + 1 RETURNING count - 1`)
      return SecureRandom.make(stream(`${seed}/${before}`))
    })
  )

/**
 * The source of random ids. The `key` and the secret of an Auth Key never come from this source. With a seed, emulators
 * with new databases generate the same ids in the same order. A restart with the same database generates other ids, so
 * that no id repeats.
 */
export const layer = (seed: string | undefined) => (seed === undefined ? SecureRandom.layerWebCrypto : seeded(seed))
