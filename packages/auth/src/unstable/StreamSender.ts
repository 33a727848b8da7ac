/**
 * Sends requests with streamed bodies, under the same rules as a `Sender`: exactly the bytes of the stream are sent, even
 * if the client wraps the body of the request. If the client compresses, drops, repeats or changes bytes, the send fails.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Guard from "../internal/guard.ts"
import * as Bytes from "./Bytes.ts"
import type { Gathered, Lost } from "./Outcome.ts"
import * as Gathering from "./Gathering.ts"
import { mapPieces } from "./Pieces.ts"
import type { Outgoing } from "./Sender.ts"

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
const guardStream = (ours: HttpClientRequest.HttpClientRequest, watch: Guard.Watch): Guard.BodyGuard => {
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

/**
 * The redirect mode of `fetch`, `manual` or `error`. A redirect is not followed in either mode. With `error`, `fetch`
 * does not keep a copy of a streamed body. Some runtimes, such as workerd, do not support `error`. In such a runtime, a
 * streamed request gets the status of the redirect, as other requests do.
 */
const redirectMode = (): RequestRedirect =>
  Result.getOrElse(
    Result.try(() => new Request("https://example.com", { redirect: "error" }).redirect),
    () => "manual"
  )

/**
 * Whether a request declared the length of its streamed body (`content-length`). `fetch` sends a stream without its
 * length, although the request has the header.
 */
const declaresLength = (response: HttpClientResponse.HttpClientResponse): boolean =>
  response.request.headers["content-length"] !== undefined && Option.isNone(HttpClientResponse.toWeb(response))

/**
 * The limits of a form with files. `millis` is the time without progress, `left` the time of the whole exchange.
 *
 * @since 0.1.0
 * @category models
 */
export interface FormLimits extends Gathering.Limits {
  readonly left: number
}

/**
 * Sends a multipart form with files. `request` has no body yet. `fields` are the other fields of the form, which come first.
 *
 * @since 0.1.0
 * @category models
 */
export interface FormSender {
  (
    http: HttpClient.HttpClient,
    request: Outgoing,
    fields: Readonly<Record<string, string>>,
    limits: FormLimits
  ): Effect.Effect<Gathered, Lost | Gathering.Late>
}

/**
 * A response that was read after its status, and whether its request declared the length of the body.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sent {
  readonly answer: Gathered
  readonly declaresLength: boolean
}

/**
 * Sends a request with a streamed body, and gathers the response. The status decides the outcome: after it, the body may
 * take `Outcome.restMillis`. `late` fails when the time until the status is over.
 *
 * @since 0.1.0
 * @category utilities
 */
export const send = <E = never>(
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  maxBytes: number,
  late?: Effect.Effect<never, E>
): Effect.Effect<Sent, Lost | E> =>
  Effect.suspend(() => {
    let isDeclared = false
    let hasStatus = false
    const gathered = Gathering.gather({ maxBytes, millis: Infinity, isDecidedByStatus: true }, (gathering) =>
      Effect.flatMap(Guard.send(http, request, redirectMode(), guardStream), (response) => {
        isDeclared = declaresLength(response)
        hasStatus = true
        return Gathering.into(response, gathering)
      })
    ).pipe(
      Effect.catch((error) => (error._tag === "Late" ? Effect.die(error) : Effect.fail(error))),
      Effect.map((answer) => ({ answer, declaresLength: isDeclared }))
    )
    if (late === undefined) return gathered
    return Effect.raceFirst(
      gathered,
      late.pipe(Effect.catch((error) => (hasStatus ? Effect.never : Effect.fail(error))))
    )
  })
