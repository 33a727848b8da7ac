/**
 * The bytes that every runtime sends. Each runtime generates the bytes itself; Node computes their SHA-256 once.
 */

/** The size of a block in bytes. */
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

/** The first `blocks` blocks in one array. */
export const whole = (blocks: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(blocks * blockSize)
  for (let index = 0; index < blocks; index++) bytes.set(block(index), index * blockSize)
  return bytes
}
