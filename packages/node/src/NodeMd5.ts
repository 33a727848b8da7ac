/**
 * MD5 with `node:crypto`.
 */
import { Hashing } from "@assembly-effect/api/unstable/Hashing"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"

/**
 * Computes the MD5 of downloads (`Results`) and of verified uploads (`DeliveryProof`) with `node:crypto`, which is
 * about ten times faster than the default implementation in JavaScript. `AssemblyNode` includes this Layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never> = Layer.succeed(Hashing, () => {
  const hash = createHash("md5")
  return {
    add: (bytes) => {
      hash.update(bytes)
    },
    hex: () => hash.copy().digest("hex")
  }
})
