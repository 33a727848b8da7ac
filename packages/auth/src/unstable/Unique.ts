/**
 * Texts that nobody else has.
 */
import { WebCrypto } from "effect/crypto/WebCrypto"
import type * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"

/**
 * Makes a unique text from 128 random bits: of lower-case hexadecimal digits, and hyphens.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (crypto: (typeof WebCrypto)["Service"]): string =>
  // A page on plain http has no `randomUUID`, which is much faster on Node. `SecureRandom` would add the code for ULIDs
  // to a bundle.
  typeof crypto.randomUUID === "function" ? crypto.randomUUID() : Hex.encode(crypto.getRandomValues(new Uint8Array(16)))

/**
 * A unique text, see {@link make}, from the `WebCrypto` in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const text: Effect.Effect<string> = WebCrypto.useSync(make)
