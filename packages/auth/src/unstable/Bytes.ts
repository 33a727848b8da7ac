/**
 * Bytes in pieces.
 */

/**
 * The bytes of all pieces in their order. A single piece is returned without a copy.
 *
 * @since 0.1.0
 * @category utilities
 */
export const join = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0))
  let filled = 0
  for (const piece of pieces) {
    bytes.set(piece, filled)
    filled += piece.length
  }
  return bytes
}
