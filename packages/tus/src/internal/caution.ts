/**
 * Limits the size of a body after a body was cut off. If a server refuses a request and closes the connection during
 * the body, the client may lose its response: with `fetch` on Node the closed connection mostly wins. The same body
 * would fail in the same way. A small body is sent before the connection closes, so the client gets the response with
 * the reason.
 */

/** A body of this size in bytes is sent completely before the server can close the connection. */
const least = 16n * 1024n

/** A single cut may come from the network. After a second cut at the same offset, the size of the body is limited. */
const patience = 2

/** The state of one upload, or of one part. */
export class Caution {
  #start = -1n
  #cuts = 0
  /** The size of the largest body that was cut off. */
  #largest = 0n
  #most: bigint | undefined

  /** The maximum size of the next body in bytes; undefined without a limit. */
  get most(): bigint | undefined {
    return this.#most
  }

  /**
   * Call it when the bytes from `start` to `end` were cut off. If the cut before had the same `start`, no byte arrived.
   */
  cut(start: bigint, end: bigint): void {
    this.#cuts = start === this.#start ? this.#cuts + 1 : 1
    this.#start = start
    if (this.#cuts < patience && this.#most === undefined) return
    if (end - start > this.#largest) this.#largest = end - start
    this.#most = least
  }

  /**
   * Call it when a body was sent completely. Doubles the size limit of the next body, and removes the limit when it
   * reaches the size of the largest body that was cut off.
   */
  arrived(): void {
    if (this.#most === undefined) return
    this.#most *= 2n
    if (this.#most >= this.#largest) this.#most = undefined
  }
}
