/**
 * Checks that a client sends exactly the given bytes, even if the client wraps the body of the request. If the client
 * compresses, drops, repeats or changes bytes, the send fails.
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Lost } from "../unstable/Failure.ts"
import { mapPieces } from "./pieces.ts"

const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** The given bytes that have not been seen in the sent body yet, in their order, up to `limit` bytes. */
export class SameBytes {
  readonly #limit: number
  #given: Array<Uint8Array> = []
  /** The number of bytes of the first remembered piece that were seen already. */
  #at = 0
  #size = 0
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Remembers a given piece until its bytes are seen. A remembered piece needs no additional memory as long as the
   * client holds the piece as well.
   */
  give(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.#size += piece.length
    // Above the limit no piece is remembered, so every further comparison fails.
    if (this.#size <= this.#limit) this.#given.push(piece)
    else this.#given = []
  }

  /** Forgets everything, because no comparison is needed. */
  clear(): void {
    this.#given = []
    this.#at = 0
    this.#size = 0
  }

  /** Whether a sent piece has the next given bytes. */
  sees(piece: Uint8Array): boolean {
    let left = piece
    while (left.length > 0) {
      const [next] = this.#given
      if (next === undefined) return false
      const expected = this.#at === 0 ? next : next.subarray(this.#at)
      const size = Math.min(expected.length, left.length)
      if (next !== left && !equal(expected.subarray(0, size), left.subarray(0, size))) return false
      left = left.subarray(size)
      this.#at += size
      this.#size -= size
      if (this.#at < next.length) continue
      this.#given.shift()
      this.#at = 0
    }
    return true
  }

  /** Whether all given bytes were seen. */
  get isEmpty(): boolean {
    return this.#size === 0
  }

  /**
   * Adds a check to a stream. The result fails before the first byte that was not given. The result also fails at its
   * end if given bytes are missing.
   */
  only<E>(
    stream: Stream.Stream<Uint8Array, E>,
    { length, refuse }: { readonly length: number | undefined; readonly refuse: () => Lost }
  ): Stream.Stream<Uint8Array, E | Lost> {
    let seen = 0
    return mapPieces(
      stream,
      (piece) => {
        seen += piece.length
        return this.sees(piece) ? Effect.succeed([piece]) : Effect.fail(refuse())
      },
      Effect.suspend(() =>
        this.isEmpty && (length === undefined || seen === length) ? Effect.void : Effect.fail(refuse())
      )
    )
  }
}
