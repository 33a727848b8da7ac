/**
 * The guard of one request. The guard observes each send. It stops a send to another origin, a send with another body,
 * a followed redirect, and the repetition of a request that is not a GET or HEAD.
 */
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Lost } from "../unstable/Failure.ts"
import { mapPieces } from "./pieces.ts"
import { SameBytes } from "./sameBytes.ts"

const other = {
  repeated: new Lost({
    description: "the HTTP client would have sent the request a second time",
    code: "REQUEST_REPEATED",
    sent: "maybe",
    permanent: false
  }),
  // `sent` is `maybe`, because the service may have carried out the request before it responded with a redirect. A 303
  // even means that the service has carried out the request. An earlier send whose response was lost may have arrived
  // too.
  followed: new Lost({
    description: "the HTTP client would have followed a redirect",
    code: "REQUEST_REDIRECTED",
    sent: "maybe",
    permanent: true
  }),
  elsewhere: new Lost({
    description: "the HTTP client would have sent the request to another origin",
    code: "REQUEST_REDIRECTED",
    sent: "no",
    permanent: true
  }),
  answeredElsewhere: new Lost({
    description: "the response came from another URL than the requested one",
    code: "REQUEST_REDIRECTED",
    sent: "maybe",
    permanent: true
  }),
  resized: new Lost({
    description: "the HTTP client would have changed the length of the request body",
    code: "BODY_CHANGED",
    sent: "no",
    permanent: true
  }),
  encoded: new Lost({
    description: "the HTTP client would have encoded the request body (content-encoding)",
    code: "BODY_CHANGED",
    sent: "no",
    permanent: true
  }),
  changed: new Lost({
    description: "the HTTP client changed the request body",
    code: "BODY_CHANGED",
    sent: "maybe",
    permanent: true
  }),
  readTwice: new Lost({
    description: "the HTTP client read the request body twice",
    code: "BODY_READ_TWICE",
    sent: "maybe",
    permanent: true
  })
}

const urlOf = (request: HttpClientRequest.HttpClientRequest): URL | undefined =>
  Option.getOrUndefined(HttpClientRequest.toUrl(request))

/**
 * Whether the URL parts of two requests are equal. If these parts are equal, the URLs need not be built and compared.
 */
const hasPartsOf = (a: HttpClientRequest.HttpClientRequest, b: HttpClientRequest.HttpClientRequest): boolean =>
  a.url === b.url && a.urlParams === b.urlParams && a.hash === b.hash

const isSameUrl = (
  a: HttpClientRequest.HttpClientRequest,
  b: HttpClientRequest.HttpClientRequest,
  same: (a: URL, b: URL) => boolean
): boolean => {
  if (hasPartsOf(a, b)) return true
  const [first, second] = [urlOf(a), urlOf(b)]
  return first === undefined || second === undefined ? first === second : same(first, second)
}

const isSameOrigin = (a: URL, b: URL): boolean => a.origin === b.origin

/** Whether two URLs are equal except for their fragments, which are not sent. */
const isSentAlike = (a: URL, b: URL): boolean =>
  isSameOrigin(a, b) && a.pathname === b.pathname && a.search === b.search

/** The length of a body in bytes, if known. */
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

/**
 * The error if the request that the client is about to send (`leaving`) differs from the given request (`ours`) in a
 * way that is not permitted.
 */
const change = (
  ours: HttpClientRequest.HttpClientRequest,
  leaving: HttpClientRequest.HttpClientRequest
): Lost | undefined => {
  if (!isSameUrl(leaving, ours, isSameOrigin)) return other.elsewhere
  if (leaving.headers["content-encoding"] !== ours.headers["content-encoding"]) return other.encoded
  return isResized(ours, leaving) ? other.resized : undefined
}

const beforeQuery = /^[^?#]*/

/** Whether the response came from another origin or path than those of the request. The queries are not compared. */
const isAnsweredElsewhere = ({ request, url }: HttpClientResponse.HttpClientResponse): boolean => {
  // For most responses this comparison is enough, so no URL is parsed.
  if (beforeQuery.exec(request.url)?.[0] === beforeQuery.exec(url)?.[0]) return false
  const asked = urlOf(request)
  if (asked === undefined || !URL.canParse(url)) return false
  const answered = new URL(url)
  return asked.origin !== answered.origin || asked.pathname !== answered.pathname
}

/** Whether a request may be repeated, because its method changes nothing. */
const isRead = (method: string): boolean => method === "GET" || method === "HEAD"

/**
 * - `request`: the request to give to the client. If its body is a stream, the body can be read only once.
 * - `onSend`: called with each request before it is sent. `onSend` throws to stop a send: it runs in a predicate of the
 *   HTTP client, and a predicate cannot fail in another way.
 * - `onAnswer`: checks that the response came from the origin and the path of the request. If no send was observed,
 *   `onAnswer` also checks the request that belongs to the response.
 * - `refusal`: the error of a stopped send or of a refused response, if any. This error takes precedence over the
 *   result of the client.
 * - `sends`: the number of sends so far, without the stopped sends.
 */
export interface SendGuard {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly onSend: (leaving: HttpClientRequest.HttpClientRequest) => void
  readonly onAnswer: (response: HttpClientResponse.HttpClientResponse) => void
  readonly refusal: () => Lost | undefined
  readonly sends: () => number
}

/** Thrown to stop a send. This exception never leaves `Transport.send`. */
class Stop extends Error {
  override readonly name = "Stop"
}

/** The maximum number of bytes that are remembered for a client of which no send was observed before. */
const mostUnseen = 8 * 1024 * 1024

/** Makes the guard of one request. `isSeen`: whether a send of the client was observed before. */
export const make = (
  ours: HttpClientRequest.HttpClientRequest,
  { isSeen }: { readonly isSeen: boolean } = { isSeen: true }
): SendGuard => {
  let sends = 0
  let first: HttpClientRequest.HttpClientRequest | undefined
  let refusal: Lost | undefined
  /** Whether the latest body is sent as a stream, which is read during the send. */
  let leavesAsStream = false
  /** The number of sends before the first read of the body. */
  let readAt: number | undefined

  const refuse = (lost: Lost): Lost => (refusal ??= lost)

  const bytes = new SameBytes(isSeen ? Infinity : mostUnseen)
  /** Whether the client sends the given stream itself, so that no comparison is needed. */
  let isOurs = false

  const once = <E>(stream: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | Lost> =>
    Stream.suspend((): Stream.Stream<Uint8Array, E | Lost> => {
      if (readAt === undefined) {
        readAt = sends
        if (isOurs) return stream
        return mapPieces(stream, (piece) => {
          bytes.give(piece)
          return Effect.succeed([piece])
        })
      }
      return Stream.fail(refuse(readAt === 0 && leavesAsStream ? other.readTwice : other.repeated))
    })

  const { body } = ours
  const request =
    body._tag === "Stream"
      ? HttpClientRequest.setBody(ours, HttpBody.stream(once(body.stream), body.contentType, body.contentLength))
      : ours

  /**
   * Whether the body that the client is about to send (`leaving`) has the given bytes. A stream is compared while it is
   * sent.
   */
  const holdsOurs = (leaving: HttpBody.HttpBody): boolean => {
    const given = request.body
    switch (given._tag) {
      case "Raw":
        return leaving._tag === "Raw" && leaving.body === given.body
      case "FormData":
        return leaving._tag === "FormData" && leaving.formData === given.formData
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
    // This code runs in a predicate of the HTTP client (see `onSend`), which cannot replace the request. So the
    // `stream` of the body is replaced by a stream that compares its bytes with the given bytes while they are sent.
    Object.defineProperty(leaving, "stream", {
      value: bytes.only(leaving.stream, { length: lengthOf(given), refuse: () => refuse(other.changed) })
    })
    return true
  }

  const objection = (leaving: HttpClientRequest.HttpClientRequest): Lost | undefined => {
    if (first === undefined) {
      return (
        change(request, leaving) ?? (holdsOurs(leaving.body) ? undefined : new Lost({ ...other.changed, sent: "no" }))
      )
    }
    // From here on, `leaving` is a second or later send of the request.
    if (!isSameUrl(leaving, first, isSentAlike) || leaving.method !== ours.method) return other.followed
    if (!isRead(ours.method)) return other.repeated
    return change(request, leaving) === undefined ? undefined : other.repeated
  }

  return {
    request,
    onSend: (leaving) => {
      const found = refusal ?? objection(leaving)
      if (found !== undefined) {
        refuse(found)
        throw new Stop(found.description)
      }
      sends++
      first ??= leaving
      leavesAsStream = leaving.body._tag === "Stream"
    },
    onAnswer: (response) => {
      if (isAnsweredElsewhere(response)) refuse(other.answeredElsewhere)
      // If no send was observed, the request that belongs to the response is checked instead.
      const hidden = sends === 0 ? change(request, response.request) : undefined
      if (hidden !== undefined) refuse(new Lost({ ...hidden, sent: "maybe" }))
    },
    refusal: () => refusal,
    sends: () => sends
  }
}
