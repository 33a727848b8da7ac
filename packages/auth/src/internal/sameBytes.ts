/**
 * Compares the bytes that an HTTP client is about to send with those that it was given, where it put something around
 * the body: bytes that it compressed, dropped, repeated or changed do not leave.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Lost } from "../unstable/Failure.ts"

const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** The bytes that were given and not seen again yet, in their order; at most `limit` of them. */
export class SameBytes {
  readonly #limit: number
  #given: Array<Uint8Array> = []
  /** How many bytes of the first piece were seen. */
  #at = 0
  #size = 0
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Remembers a piece that was given. It is held until it is seen, as the client holds it. */
  give(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.#size += piece.length
    // What is not remembered is not seen: nothing is taken for the same then.
    if (this.#size <= this.#limit) this.#given.push(piece)
    else this.#given = []
  }

  /** Forgets everything: nothing is compared. */
  clear(): void {
    this.#given = []
    this.#at = 0
    this.#size = 0
  }

  /** Whether a piece continues what was given. */
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

  /** Whether all that was given was seen. */
  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** A stream that fails at the first byte that was not given, before that leaves, and where it ends too early. */
  only<E>(
    stream: Stream.Stream<Uint8Array, E>,
    { length, refuse }: { readonly length: number | undefined; readonly refuse: () => Lost }
  ): Stream.Stream<Uint8Array, E | Lost> {
    let seen = 0
    const isWhole = () => this.isEmpty && (length === undefined || seen === length)
    return Stream.mapEffect(stream, (piece) => {
      seen += piece.length
      return this.sees(piece) ? Effect.succeed(piece) : Effect.fail(refuse())
    }).pipe(Stream.concat(Stream.suspend(() => (isWhole() ? Stream.empty : Stream.fail(refuse())))))
  }
}
