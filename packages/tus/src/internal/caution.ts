/**
 * Limits the size of the next body after two bodies that start at the same offset were cut off. If a server refuses a
 * request and closes the connection while the body is being sent, the client may not get the response, because `fetch`
 * on Node mostly reports the closed connection instead. A second request with the same body would fail in the same way.
 * A small body is sent completely before the connection closes, so the client gets the response with the reason.
 */

/** A body of this size in bytes is sent completely before the server can close the connection. */
const least = 16n * 1024n

/** A single cut may come from the network. After a second cut at the same offset, the size of the body is limited. */
const patience = 2

/** Limits the size of the request bodies of one upload, or of one part, after connections were cut repeatedly. */
export class Caution {
  #start = -1n
  #cuts = 0
  /** The size in bytes of the largest body whose `cut` set the limit. */
  #largest = 0n
  #most: bigint | undefined

  /** The maximum size of the next body in bytes; undefined without a limit. */
  get most(): bigint | undefined {
    return this.#most
  }

  /**
   * Call this method when a body with the bytes from `start` to `end` was cut off. If the previous cut had the same
   * `start`, the server has stored no byte since then.
   */
  cut(start: bigint, end: bigint): void {
    this.#cuts = start === this.#start ? this.#cuts + 1 : 1
    this.#start = start
    if (this.#cuts < patience && this.#most === undefined) return
    if (end - start > this.#largest) this.#largest = end - start
    this.#most = least
  }

  /**
   * Call this method when the server has stored a whole body. Doubles the size limit of the next body, and removes the
   * limit when it reaches the size of the largest body whose `cut` set the limit.
   */
  arrived(): void {
    if (this.#most === undefined) return
    this.#most *= 2n
    if (this.#most >= this.#largest) this.#most = undefined
  }
}
