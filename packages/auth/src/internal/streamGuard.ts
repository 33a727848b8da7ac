/**
 * Checks that a client sends exactly the bytes of a stream, even if the client wraps the body of the request. If the
 * client compresses, drops, repeats or changes bytes, the send fails.
 */
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import * as Bytes from "../unstable/Bytes.ts"
import type { Lost } from "../unstable/Outcome.ts"
import { mapPieces } from "../unstable/Pieces.ts"
import * as Guard from "./guard.ts"

/** The maximum number of bytes that are remembered for a client of which no send was observed before. */
const mostUnseen = 8 * 1024 * 1024

/** The given bytes that have not been seen in the sent body yet, in their order, up to `limit` bytes. */
class Unseen {
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

  /** Whether a sent piece has the next given bytes. */
  sees(piece: Uint8Array): boolean {
    let left = piece
    while (left.length > 0) {
      const [next] = this.#given
      if (next === undefined) return false
      const expected = this.#at === 0 ? next : next.subarray(this.#at)
      const size = Math.min(expected.length, left.length)
      if (!Bytes.equal(expected.subarray(0, size), left.subarray(0, size))) return false
      left = left.subarray(size)
      this.#at += size
      this.#size -= size
      if (this.#at < next.length) continue
      this.#given.shift()
      this.#at = 0
    }
    return true
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }
}

/** Guards a streamed body, which is read once. */
export const guard = (ours: HttpClientRequest.HttpClientRequest, watch: Guard.Watch): Guard.BodyGuard => {
  const { body } = ours
  if (body._tag !== "Stream") return { given: ours, holds: (leaving) => leaving === body }
  const unseen = new Unseen(watch.isSeen ? Infinity : mostUnseen)
  let readAt: number | undefined
  /** Whether the client sends the given stream itself, so that no comparison is needed. */
  let isOurs = false

  const once: Stream.Stream<Uint8Array, unknown> = Stream.suspend(() => {
    if (readAt !== undefined) return Stream.fail(watch.readAgain(readAt))
    readAt = watch.sends()
    if (isOurs) return body.stream
    return mapPieces(body.stream, (piece) => {
      unseen.give(piece)
      return Effect.succeed([piece])
    })
  })

  /** Fails before the first byte that was not given, and at the end if given bytes are missing. */
  const compared = (stream: Stream.Stream<Uint8Array, unknown>): Stream.Stream<Uint8Array, unknown> => {
    let seen = 0
    const refused: Effect.Effect<never, Lost> = Effect.suspend(() => Effect.fail(watch.refuse(Guard.changed)))
    return mapPieces(
      stream,
      (piece) => {
        seen += piece.length
        return unseen.sees(piece) ? Effect.succeed([piece]) : refused
      },
      Effect.suspend(() =>
        unseen.isEmpty && (body.contentLength === undefined || seen === body.contentLength) ? Effect.void : refused
      )
    )
  }

  const given = HttpBody.stream(once, body.contentType, body.contentLength)
  return {
    given: HttpClientRequest.setBody(ours, given),
    holds: (leaving) => {
      if (leaving._tag === "Uint8Array") return unseen.sees(leaving.body) && unseen.isEmpty
      if (leaving._tag !== "Stream") return false
      if (leaving.stream === given.stream) isOurs = true
      // A predicate of the HTTP client cannot replace the request, so the stream of its body is replaced.
      else Object.defineProperty(leaving, "stream", { value: compared(leaving.stream) })
      return true
    }
  }
}
