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

type Body = Stream.Stream<Uint8Array, unknown>

/** The maximum number of bytes that are remembered for a client of which no send has been observed. */
const mostUnseen = 8 * 1024 * 1024

/** The given bytes that have not left yet, in their order. A piece that the client holds too needs no more memory. */
const makeGiven = (watch: Guard.Watch) => {
  let pieces: Array<Uint8Array> = []
  let size = 0
  return {
    add: (piece: Uint8Array): void => {
      size += piece.length
      pieces.push(piece)
      // Without these pieces, every further comparison fails.
      if (watch.sends === undefined && size > mostUnseen) pieces = []
    },
    /** Whether a sent piece has the next given bytes, and whether none is left if it is the last piece. */
    takes: (piece: Uint8Array, isLast: boolean): boolean => {
      let left = piece
      while (left.length > 0) {
        const next = pieces.shift()
        if (next === undefined) return false
        const length = Math.min(next.length, left.length)
        if (!Bytes.equal(next.subarray(0, length), left.subarray(0, length))) return false
        left = left.subarray(length)
        size -= length
        if (length < next.length) pieces.unshift(next.subarray(length))
      }
      return !isLast || size === 0
    }
  }
}

/** Guards a streamed body, which is read once. */
export const guard = (ours: HttpClientRequest.HttpClientRequest, watch: Guard.Watch): Guard.BodyGuard => {
  const { body } = ours
  if (body._tag !== "Stream") return { given: ours, holds: (leaving) => leaving === body }
  const bytes = makeGiven(watch)
  const refuse = (lost: Lost): Effect.Effect<never, Lost> => Effect.suspend(() => Effect.fail((watch.refusal ??= lost)))
  let isRead = false
  let isStreamed = false
  /** Whether the client sends the given stream itself, so that no comparison is needed. */
  let isOurs = false

  const once: Body = Stream.suspend(() => {
    if (isRead) return Stream.fromEffect(refuse(isStreamed ? Guard.readTwice : Guard.repeated))
    isRead = true
    return isOurs
      ? body.stream
      : mapPieces(body.stream, (piece) => {
          bytes.add(piece)
          return Effect.succeed([piece])
        })
  })

  /** Fails before the first byte that was not given, and at the end if given bytes are missing. */
  const compared = (stream: Body): Body => {
    let seen = 0
    return mapPieces(
      stream,
      (piece) => {
        seen += piece.length
        return bytes.takes(piece, false) ? Effect.succeed([piece]) : refuse(Guard.changed)
      },
      Effect.suspend(() =>
        bytes.takes(new Uint8Array(), true) && seen === (body.contentLength ?? seen)
          ? Effect.void
          : refuse(Guard.changed)
      )
    )
  }

  const given = HttpBody.stream(once, body.contentType, body.contentLength)
  return {
    given: HttpClientRequest.setBody(ours, given),
    holds: (leaving) => {
      if (leaving._tag === "Uint8Array") return bytes.takes(leaving.body, true)
      isStreamed = leaving._tag === "Stream"
      if (leaving._tag !== "Stream") return false
      isOurs = leaving.stream === given.stream
      // A predicate of the HTTP client cannot replace the request, so the stream of its body is replaced.
      if (!isOurs) Object.defineProperty(leaving, "stream", { value: compared(leaving.stream) })
      return true
    }
  }
}
