/**
 * The guard of one request: it sees each send, and stops the ones that would not be ours.
 */
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Lost } from "../unstable/Failure.ts"
import { SameBytes } from "./sameBytes.ts"

const other = {
  repeated: new Lost({
    problem: "the HTTP client would have sent the request a second time",
    code: "REQUEST_REPEATED",
    sent: "maybe",
    permanent: false
  }),
  // 303 says that the request was carried out, a wrapper that goes elsewhere after a lost answer does not know.
  followed: new Lost({
    problem: "the HTTP client would have followed a redirect",
    code: "REQUEST_REDIRECTED",
    sent: "maybe",
    permanent: true
  }),
  elsewhere: new Lost({
    problem: "the HTTP client would have sent the request to another origin",
    code: "REQUEST_REDIRECTED",
    sent: "no",
    permanent: true
  }),
  answeredElsewhere: new Lost({
    problem: "another URL answered than the one that was asked",
    code: "REQUEST_REDIRECTED",
    sent: "maybe",
    permanent: true
  }),
  resized: new Lost({
    problem: "the HTTP client would have sent a body of another length",
    code: "BODY_CHANGED",
    sent: "no",
    permanent: true
  }),
  encoded: new Lost({
    problem: "the HTTP client would have encoded the body (content-encoding)",
    code: "BODY_CHANGED",
    sent: "no",
    permanent: true
  }),
  changed: new Lost({
    problem: "the HTTP client changed the body of the request",
    code: "BODY_CHANGED",
    sent: "maybe",
    permanent: true
  }),
  readTwice: new Lost({
    problem: "the HTTP client reads the body of a request twice",
    code: "BODY_READ_TWICE",
    sent: "maybe",
    permanent: true
  })
}

const urlOf = (request: HttpClientRequest.HttpClientRequest): URL | undefined =>
  Option.getOrUndefined(HttpClientRequest.toUrl(request))

/** A URL as far as it is sent. */
const sentPart = ({ origin, pathname, search }: URL): string => origin + pathname + search

/** The length of a body in bytes, where that is known. */
const lengthOf = (body: HttpBody.HttpBody): number | undefined => (body._tag === "Empty" ? 0 : body.contentLength)

const isResized = (
  ours: HttpClientRequest.HttpClientRequest,
  { body, headers }: HttpClientRequest.HttpClientRequest
): boolean => {
  const expected = lengthOf(ours.body)
  const length = lengthOf(body)
  const known = expected !== undefined && length !== undefined
  if (known ? expected !== length : (expected === 0) !== (length === 0)) return true
  const header = headers["content-length"]
  return expected !== undefined && header !== undefined && Number(header) !== expected
}

/** The difference between a request as it leaves and as it was given to the client, if it must not be. */
const change = (
  ours: HttpClientRequest.HttpClientRequest,
  leaving: HttpClientRequest.HttpClientRequest
): Lost | undefined => {
  if (urlOf(leaving)?.origin !== urlOf(ours)?.origin) return other.elsewhere
  if (leaving.headers["content-encoding"] !== ours.headers["content-encoding"]) return other.encoded
  return isResized(ours, leaving) ? other.resized : undefined
}

/** Methods that may be sent again: they change nothing. */
const isRead = (method: string): boolean => method === "GET" || method === "HEAD"

/**
 * - `request`: what is to be given to the client. A streamed body in it can be read once.
 * - `onSend`: called with each request that leaves. Throws when it must not: a predicate has no other way to stop it.
 * - `onAnswer`: checks who answered.
 * - `refusal`: why a send was stopped. It holds whatever the client made of it.
 * - `sends`: how many were let through.
 */
export interface SendGuard {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly onSend: (leaving: HttpClientRequest.HttpClientRequest) => void
  readonly onAnswer: (response: HttpClientResponse.HttpClientResponse) => void
  readonly refusal: () => Lost | undefined
  readonly sends: () => number
}

/** Thrown to stop a send; it never leaves `Transport.send`. */
class Stop extends Error {
  override readonly name = "Stop"
}

/** A client whose sends are not seen shows nothing to compare with, in bytes. */
const mostUnseen = 8 * 1024 * 1024

/** `isSeen`: whether the client is known to let its sends be seen. */
export const make = (
  ours: HttpClientRequest.HttpClientRequest,
  { isSeen }: { readonly isSeen: boolean } = { isSeen: true }
): SendGuard => {
  let sends = 0
  let first: string | undefined
  let refusal: Lost | undefined
  /** The body as it left last: where it is a stream, the send itself reads it. */
  let leavesAsStream = false
  /** How many sends there had been when the body was first read. */
  let readAt: number | undefined

  const refuse = (lost: Lost): Lost => (refusal ??= lost)

  const bytes = new SameBytes(isSeen ? Infinity : mostUnseen)
  /** Whether the client sends our stream itself, so that there is nothing to compare. */
  let isOurs = false

  const once = <E>(stream: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | Lost> =>
    Stream.suspend((): Stream.Stream<Uint8Array, E | Lost> => {
      if (readAt === undefined) {
        readAt = sends
        return isOurs ? stream : Stream.tap(stream, (piece) => Effect.sync(() => bytes.give(piece)))
      }
      return Stream.fail(refuse(readAt === 0 && leavesAsStream ? other.readTwice : other.repeated))
    })

  const { body } = ours
  const request =
    body._tag === "Stream"
      ? HttpClientRequest.setBody(ours, HttpBody.stream(once(body.stream), body.contentType, body.contentLength))
      : ours

  /** Whether a body that leaves holds the bytes that we gave; those of a stream are compared while they leave. */
  const holdsOurs = (leaving: HttpBody.HttpBody): boolean => {
    const given = request.body
    switch (given._tag) {
      case "Raw":
        return leaving._tag === "Raw" && leaving.body === given.body
      case "Uint8Array":
        if (leaving._tag === "Uint8Array" && leaving.body === given.body) return true
        bytes.give(given.body)
        break
      case "Stream":
        if (leaving._tag === "Stream" && leaving.stream === given.stream) {
          isOurs = true
          bytes.clear()
          return true
        }
        break
      default:
        return true
    }
    if (leaving._tag === "Uint8Array") return bytes.sees(leaving.body) && bytes.isEmpty
    if (leaving._tag !== "Stream") return false
    // A predicate cannot give another request: the body of this one is made to compare while it is read.
    Object.defineProperty(leaving, "stream", {
      value: bytes.only(leaving.stream, { length: lengthOf(given), refuse: () => refuse(other.changed) })
    })
    return true
  }

  const objection = (leaving: HttpClientRequest.HttpClientRequest, url: string): Lost | undefined => {
    if (first === undefined) {
      return (
        change(request, leaving) ?? (holdsOurs(leaving.body) ? undefined : new Lost({ ...other.changed, sent: "no" }))
      )
    }
    // A second send, to which nothing was changed that matters.
    if (url !== first || leaving.method !== ours.method) return other.followed
    if (!isRead(ours.method)) return other.repeated
    return change(request, leaving) === undefined ? undefined : other.repeated
  }

  return {
    request,
    onSend: (leaving) => {
      const url = urlOf(leaving)
      const target = url === undefined ? "" : sentPart(url)
      const found = refusal ?? objection(leaving, target)
      if (found !== undefined) {
        refuse(found)
        throw new Stop(found.problem)
      }
      sends++
      first ??= target
      leavesAsStream = leaving.body._tag === "Stream"
    },
    onAnswer: (response) => {
      const asked = urlOf(response.request)
      if (asked === undefined || !URL.canParse(response.url)) return
      const answered = new URL(response.url)
      if (asked.origin !== answered.origin || asked.pathname !== answered.pathname) refuse(other.answeredElsewhere)
      // A client that hides its sends is judged by what it says that it has sent.
      const hidden = sends === 0 ? change(request, response.request) : undefined
      if (hidden !== undefined) refuse(new Lost({ ...hidden, sent: "maybe" }))
    },
    refusal: () => refusal,
    sends: () => sends
  }
}
