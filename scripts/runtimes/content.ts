/**
 * The bytes that every runtime sends. Each makes them itself; their SHA-256 is made once, by Node.
 */

/** How large a block is, in bytes. */
const blockSize = 1024 * 1024

/** One block: the numbers of a xorshift generator that begins with the index of the block. */
export const block = (index: number): Uint8Array<ArrayBuffer> => {
  const words = new Uint32Array(blockSize / 4)
  let state = index + 1
  for (let at = 0; at < words.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return new Uint8Array(words.buffer)
}

/** So many blocks. */
export const whole = (blocks: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(blocks * blockSize)
  for (let index = 0; index < blocks; index++) bytes.set(block(index), index * blockSize)
  return bytes
}
