/**
 * Bytes in pieces, and bytes of other realms.
 */
import * as Bytes from "effect/Bytes"

/** The accessors of the slots of a typed array, which read an array of any realm and class. */
const slots: object = Object.getPrototypeOf(Uint8Array.prototype)

/**
 * A view of the same bytes that is a plain `Uint8Array` of this realm. The result is undefined if the value is not an
 * array of bytes, or if its memory was transferred, because the array is then empty.
 *
 * HTTP clients and Effect recognise bytes with `instanceof`, which is false for an array of another realm, such as
 * another frame of a page, `node:vm` or jsdom; and `fetch` refuses shared memory. Such bytes are copied. An array with
 * accessors of its own, or of its class, may say something else than its slots.
 *
 * @since 0.1.0
 * @category utilities
 */
export const own = (value: unknown): Uint8Array | undefined => {
  // Uint8Array, Uint8ClampedArray and Int8Array.
  if (!/nt8/.test(Reflect.get(slots, Symbol.toStringTag, value))) return undefined
  const memory: ArrayBufferLike & { readonly detached?: boolean } = Reflect.get(slots, "buffer", value)
  if (memory.detached) return undefined
  const view = new Uint8Array(memory, Reflect.get(slots, "byteOffset", value), Reflect.get(slots, "byteLength", value))
  return memory instanceof ArrayBuffer ? view : view.slice()
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

/**
 * Cuts bytes into arrays of at most `size` bytes. No byte is copied.
 *
 * @since 0.1.0
 * @category utilities
 */
export const cut = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
