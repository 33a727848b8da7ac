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

/** The maximum number of bytes that are remembered for a client of which no send has been observed. */
const mostUnseen = 8 * 1024 * 1024

/**
 * The given bytes that have not been seen in the sent body yet, in their order. A piece that is remembered needs no
 * additional memory as long as the client holds the piece as well.
 */
const unseenBytes = (watch: Guard.Watch) => {
  let pieces: Array<Uint8Array> = []
  let size = 0
  return {
    isEmpty: () => size === 0,
    give: (piece: Uint8Array): void => {
      if (piece.length === 0) return
      size += piece.length
      // Above the limit no piece is remembered, so every further comparison fails.
      if (watch.isSeen || size <= mostUnseen) pieces.push(piece)
      else pieces = []
    },
    /** Whether a sent piece has the next given bytes. */
    sees: (piece: Uint8Array): boolean => {
      let left = piece
      while (left.length > 0) {
        const [next] = pieces
        if (next === undefined) return false
        const length = Math.min(next.length, left.length)
        if (!Bytes.equal(next.subarray(0, length), left.subarray(0, length))) return false
        left = left.subarray(length)
        size -= length
        if (length < next.length) pieces[0] = next.subarray(length)
        else pieces.shift()
      }
      return true
    }
  }
}

/** Guards a streamed body, which is read once. */
export const guard = (ours: HttpClientRequest.HttpClientRequest, watch: Guard.Watch): Guard.BodyGuard => {
  const { body } = ours
  if (body._tag !== "Stream") return { given: ours, holds: (leaving) => leaving === body }
  const unseen = unseenBytes(watch)
  const refuse = (lost: Lost): Effect.Effect<never, Lost> => Effect.suspend(() => Effect.fail((watch.refusal ??= lost)))
  let isRead = false
  /** Whether the client sends the given stream itself, so that no comparison is needed. */
  let isOurs = false

  const once: Stream.Stream<Uint8Array, unknown> = Stream.suspend(() => {
    if (isRead) return Stream.fromEffect(refuse(watch.isStreamed ? Guard.readTwice : Guard.repeated))
    isRead = true
    return isOurs
      ? body.stream
      : mapPieces(body.stream, (piece) => {
          unseen.give(piece)
          return Effect.succeed([piece])
        })
  })

  /** Fails before the first byte that was not given, and at the end if given bytes are missing. */
  const compared = (stream: Stream.Stream<Uint8Array, unknown>): Stream.Stream<Uint8Array, unknown> => {
    let seen = 0
    const isWhole = () => unseen.isEmpty() && (body.contentLength === undefined || seen === body.contentLength)
    return mapPieces(
      stream,
      (piece) => {
        seen += piece.length
        return unseen.sees(piece) ? Effect.succeed([piece]) : refuse(Guard.changed)
      },
      Effect.suspend(() => (isWhole() ? Effect.void : refuse(Guard.changed)))
    )
  }

  const given = HttpBody.stream(once, body.contentType, body.contentLength)
  return {
    given: HttpClientRequest.setBody(ours, given),
    holds: (leaving) => {
      if (leaving._tag === "Uint8Array") return unseen.sees(leaving.body) && unseen.isEmpty()
      if (leaving._tag !== "Stream") return false
      if (leaving.stream === given.stream) isOurs = true
      // A predicate of the HTTP client cannot replace the request, so the stream of its body is replaced.
      else Object.defineProperty(leaving, "stream", { value: compared(leaving.stream) })
      return true
    }
  }
}
