import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import { randomFillSync } from "node:crypto"

const pool = new Uint8Array(4096)
let used = pool.length

/** Random bytes in batches: for the 16 bytes of a nonce, a call of the system costs as much as the signature. */
export const layer: Layer.Layer<SecureRandom.SecureRandom> = Layer.sync(SecureRandom.SecureRandom, () =>
  SecureRandom.make((size) => {
    if (size > pool.length) return randomFillSync(new Uint8Array(size))
    if (used + size > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    return pool.slice(used, (used += size))
  })
)
