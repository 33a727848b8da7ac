/**
 * How much goes out at once after a body was cut off. A server that refuses a request while its body is on the way, and
 * closes the connection, may be heard or not: with `fetch` on Node the connection's end mostly wins, and its answer is
 * lost. The same body again would meet the same end; a small one arrives before the answer, which then tells why.
 */

/** Small enough to be on its way as a whole before the other side can close the connection, in bytes. */
const least = 16n * 1024n

/** One cut may be the network's; the second of bytes at the same offset is held against the body. */
const patience = 2

/** What one upload, or one part of it, has learned of the bodies that arrive. */
export class Caution {
  #start = -1n
  #cuts = 0
  /** The largest body that was cut off. */
  #largest = 0n
  #most: bigint | undefined

  /** The most that the next body may have, in bytes; undefined where nothing speaks against it. */
  get most(): bigint | undefined {
    return this.#most
  }

  /**
   * The bytes from `start` up to `end` were cut off. Where an earlier cut is known by `start`, none of them arrived.
   */
  cut(start: bigint, end: bigint): void {
    this.#cuts = start === this.#start ? this.#cuts + 1 : 1
    this.#start = start
    if (this.#cuts < patience && this.#most === undefined) return
    if (end - start > this.#largest) this.#largest = end - start
    this.#most = least
  }

  /**
   * Called when a body was sent completely. Doubles the size limit of the next body, and removes it at the size of
   * the largest body that was cut off.
   */
  arrived(): void {
    if (this.#most === undefined) return
    this.#most *= 2n
    if (this.#most >= this.#largest) this.#most = undefined
  }
}
