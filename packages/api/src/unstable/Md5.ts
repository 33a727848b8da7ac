/**
 * The MD5 of bytes that arrive in pieces. `effect/crypto` computes a digest only if all bytes are in memory at once.
 *
 * MD5 protects against damage, not against an attacker, who can make two files with the same MD5.
 */
import { md5 } from "@noble/hashes/legacy.js"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import { Hashing, type Md5 } from "./Hashing.ts"

export type { Md5 }

/** An MD5 in JavaScript, which works on every platform. */
const portable = (): Md5 => {
  const hash = md5.create()
  return {
    add: (bytes) => {
      hash.update(bytes)
    },
    hex: () => Hex.encode(hash.clone().digest())
  }
}

/**
 * Makes an `Md5` to which no bytes have been added.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Md5> = Effect.map(Effect.serviceOption(Hashing), (found) =>
  Option.getOrElse(found, () => portable)()
)

/**
 * The MD5 of a file in a Status, in lowercase. The result is undefined if the Status has no MD5 for the file, or if the
 * value is not an MD5.
 *
 * @since 0.1.0
 * @category utilities
 */
export const ofFile = ({ md5hash }: { readonly md5hash?: string | null | undefined }): string | undefined =>
  typeof md5hash === "string" && /^[a-f0-9]{32}$/i.test(md5hash) ? md5hash.toLowerCase() : undefined
