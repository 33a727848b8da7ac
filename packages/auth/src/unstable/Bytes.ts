/**
 * Bytes in pieces, and bytes of other realms.
 */
import * as Bytes from "effect/Bytes"

/**
 * The same bytes as a `Uint8Array` of this realm and of its own memory. The result is undefined if the value is not an
 * array of bytes, or if its memory was transferred, because the array is then empty. HTTP clients and Effect recognise bytes with `instanceof`, which is false for an array of another
 * realm, such as another frame of a page, `node:vm` or jsdom; and `fetch` refuses shared memory. Such bytes are copied.
 *
 * @since 0.1.0
 * @category utilities
 */
export const own = (value: unknown): Uint8Array | undefined => {
  if (!ArrayBuffer.isView(value) || ("detached" in value.buffer && value.buffer.detached)) return undefined
  if (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer) return value
  return "BYTES_PER_ELEMENT" in value && value.BYTES_PER_ELEMENT === 1 ? new Uint8Array(value as Uint8Array) : undefined
}

/**
 * The bytes of all pieces in their order. A single piece is returned without a copy.
 *
 * @since 0.1.0
 * @category utilities
 */
export const join = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Bytes.concat(pieces)
}

/**
 * Whether two arrays have the same bytes.
 *
 * @since 0.1.0
 * @category predicates
 */
export const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
