/**
 * Reads an HTTP resource: by ranges that continue after a lost connection, or once as a whole.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Exchange from "@assembly-effect/api/unstable/Exchange"
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import * as Wait from "@assembly-effect/auth/unstable/Wait"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { retryPolicy } from "./policy.ts"
import { type SourceFailed, sourceFailed } from "./source.ts"
import { limited } from "./requests.ts"

/**
 * Why the resource cannot be read. `temporary` is the input of the retry policy. It is undefined if another request for
 * the remaining bytes cannot help.
 */
interface Failed {
  readonly error: SourceFailed
  readonly temporary?: Pick<RetryPolicy.Failure, "error" | "wait"> | undefined
}

/** A resource: where it is, and how it is requested. */
export interface Resource {
  readonly http: HttpClient.HttpClient
  readonly url: URL
  readonly headers: Headers.Input
}

/**
 * The facts in the first response. `isRanged` is true if ranges can be requested, the size is known, and a strong ETag
 * shows whether the resource has changed.
 */
export interface Described {
  readonly size: bigint | undefined
  readonly etag: string | undefined
  readonly isRanged: boolean
}

type Response = HttpClientResponse.HttpClientResponse

const failed = ({ url }: Resource, kind: "Unreadable" | "Changed", what: string): Failed => ({
  error: sourceFailed(kind, `the resource at ${url.host}: ${what}`)
})

const lost = (resource: Resource, what: string, error: RetryPolicy.Failure["error"]): Failed => ({
  ...failed(resource, "Unreadable", what),
  ...(error.permanent === true ? undefined : { temporary: { error, wait: Option.none() } })
})

const fromFailure =
  (resource: Resource) =>
  (error: ApiError.TransportFailure): Failed =>
    lost(resource, error.description, error)

/** Limits a wait for the server to `Tus.RequestTimeout`. */
const inTime = <A, E, R>(resource: Resource, wait: Effect.Effect<A, E, R>): Effect.Effect<A, E | Failed, R> =>
  limited(wait, (after) =>
    lost(resource, `nothing was received for ${Duration.format(after)}`, { _tag: "TimedOut", sent: "maybe" })
  )

const subject = { operation: "WebSource.fromUrl" }

/**
 * Requests the resource. The connection is freed when the scope closes. The bytes are requested without a content
 * coding: HTTP clients decode a coding in different ways, and a range would count the coded bytes.
 */
const get = (
  resource: Resource,
  headers: Readonly<Record<string, string>>
): Effect.Effect<Response, Failed, Scope.Scope> => {
  const request = HttpClientRequest.get(resource.url).pipe(
    HttpClientRequest.setHeaders(resource.headers),
    HttpClientRequest.setHeaders({ "accept-encoding": "identity", ...headers })
  )
  return inTime(resource, Effect.mapError(Exchange.open(resource.http, request, subject), fromFailure(resource))).pipe(
    Effect.filterOrFail(
      (response) => /^\s*(identity\s*)?$/i.test(response.headers["content-encoding"] ?? ""),
      () => failed(resource, "Unreadable", "the response has a content-encoding")
    )
  )
}

/** The failure of a response whose status is not the expected success. Another request may help after 429 and 5xx. */
const refused = (resource: Resource, { headers, status }: Response) =>
  Effect.gen(function* () {
    if (status === 0 || [301, 302, 303, 307, 308].includes(status)) {
      const description = "it redirects to another URL, and redirects are not followed; use the final URL"
      return yield* Effect.fail(failed(resource, "Unreadable", description))
    }
    const answered = failed(resource, "Unreadable", `status ${status}`)
    if (status !== 429 && status < 500) return yield* Effect.fail(answered)
    const wait = Wait.named(headers, undefined, yield* Clock.currentTimeMillis)
    return yield* Effect.fail({ ...answered, temporary: { error: { _tag: "ServerFailure", status }, wait } })
  })

/** A part of a resource, from `first` to `last` (inclusive). */
interface Part {
  readonly first: bigint
  readonly last: bigint
  readonly total: bigint | undefined
}

/** Reads `content-range`. A part that ends after the end of the resource is invalid. */
const partOf = ({ headers }: Response): Part | undefined => {
  const found = /^bytes (\d{1,19})-(\d{1,19})\/(\d{1,19}|\*)$/i.exec(headers["content-range"]?.trim() ?? "")
  if (found === null) return undefined
  const [, first = "", last = "", total = ""] = found
  const part = { first: BigInt(first), last: BigInt(last), total: total === "*" ? undefined : BigInt(total) }
  return part.total !== undefined && part.last >= part.total ? undefined : part
}

const lengthOf = ({ headers }: Response): bigint | undefined => {
  const length = headers["content-length"]?.trim() ?? ""
  return /^\d{1,19}$/.test(length) ? BigInt(length) : undefined
}

/**
 * Requests the first byte of a resource. The response shows more reliably than the response to HEAD whether the
 * resource can be read by ranges, and some URLs are only valid for GET. A weak ETag may stay the same although the
 * bytes change.
 */
export const describe = (resource: Resource): Effect.Effect<Described, Failed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const response = yield* get(resource, { range: "bytes=0-0" })
      const { headers, status } = response
      const { etag } = headers
      if (status === 206) {
        const part = partOf(response)
        const size = part?.first === 0n && part.last === 0n ? part.total : undefined
        const isOffered = (headers["accept-ranges"] ?? "bytes").trim().toLowerCase() === "bytes"
        return { size, etag, isRanged: isOffered && /^"[^"]*"$/.test(etag ?? "") && size !== undefined }
      }
      // An empty resource has no first byte. The ETag of a 416 may belong to the error, or be missing, so only the size
      // of an empty resource can be compared.
      if (status === 416 && headers["content-range"]?.trim() === "bytes */0") {
        return { size: 0n, etag: undefined, isRanged: false }
      }
      if (status === 200) return { size: lengthOf(response), etag, isRanged: false }
      return yield* refused(resource, response)
    })
  )

/** The body of a response. The wait for each piece of the body has a time limit. */
const bodyOf = (resource: Resource, { stream }: Response): Stream.Stream<Uint8Array, Failed> =>
  Stream.transformPull(
    Stream.mapError(stream, (error) => fromFailure(resource)(Exchange.toFailure(subject)(error))),
    (pull) => Effect.succeed(inTime(resource, pull))
  )

/** The whole resource, read once. */
export const once = (resource: Resource, described: Described): Stream.Stream<Uint8Array, Failed> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const response = yield* get(resource, {})
      if (response.status !== 200) return yield* refused(resource, response)
      if (described.size !== 0n && response.headers["etag"] !== described.etag)
        return yield* Effect.fail(failed(resource, "Changed", "it has another ETag"))
      const length = lengthOf(response)
      if (length !== undefined && described.size !== undefined && length !== described.size) {
        return yield* Effect.fail(failed(resource, "Changed", `was ${described.size} bytes, is ${length} bytes`))
      }
      return bodyOf(resource, response)
    })
  )

/** Requests the bytes from `start` to `end` (exclusive). The server may send only the first of these bytes. */
const connect = (resource: Resource, { etag = "", size }: Described, start: bigint, end: bigint) =>
  Effect.gen(function* () {
    const response = yield* get(resource, { range: `bytes=${start}-${end - 1n}`, "if-match": etag })
    const { headers, status } = response
    const fail = (kind: "Unreadable" | "Changed", what: string) => Effect.fail(failed(resource, kind, what))
    if (status === 416) return yield* fail("Changed", `it has at most ${start} bytes`)
    if (status !== 206 && status !== 200 && status !== 412) return yield* refused(resource, response)
    if (status === 412 || headers["etag"] !== etag) return yield* fail("Changed", "it has another ETag")
    if (status === 200) return yield* fail("Unreadable", "status 200 instead of a range")
    const part = partOf(response)
    if (part === undefined) return yield* fail("Unreadable", "invalid content-range")
    const { first, last, total } = part
    if (total !== size) return yield* fail("Changed", `was ${size} bytes, is ${total ?? "unknown"} bytes`)
    return first === start && last >= start && last < end
      ? { until: last + 1n, body: bodyOf(resource, response) }
      : yield* fail("Unreadable", `bytes ${first}-${last} instead of ${start}-${end - 1n}`)
  })

/**
 * A range of a resource. After a lost connection, the rest of the range is requested. Every response must have the ETag
 * and the size of the first response.
 */
export const range = (
  resource: Resource,
  described: Described,
  start: bigint,
  end: bigint
): Stream.Stream<Uint8Array, Failed> =>
  Stream.unwrap(
    Effect.map(RetryPolicy.RetryPolicy, (said) => {
      const pauseAfter = RetryPolicy.pauses(retryPolicy(said, { retryDelay: Duration.millis(500) }))
      let position = start
      let failures = 0

      /** Pauses before the rest is requested. Fails if another request cannot help, or if the policy gives up. */
      const recover = (problem: Failed): Effect.Effect<void, Failed> =>
        Effect.gen(function* () {
          const { temporary } = problem
          if (temporary === undefined) return yield* Effect.fail(problem)
          failures++
          const pause = yield* pauseAfter({ operation: subject.operation, retry: "resumes", failures, ...temporary })
          if (Option.isNone(pause)) return yield* Effect.fail(problem)
          yield* Effect.sleep(pause.value)
        })

      /** The bytes of the next response. */
      const next = Stream.unwrap(
        Effect.suspend(() =>
          Effect.map(connect(resource, described, position, end), ({ body, until }) =>
            Pieces.mapPieces(
              body,
              (piece) => {
                position += BigInt(piece.length)
                if (position > until) {
                  return Effect.fail(failed(resource, "Unreadable", "more bytes than its content-range"))
                }
                failures = 0
                return Effect.succeed([piece])
              },
              Effect.suspend(() =>
                position === until
                  ? Effect.void
                  : Effect.fail(lost(resource, "the body ended early", { _tag: "TransportFailure", sent: "maybe" }))
              )
            )
          )
        )
      ).pipe(Stream.catch((problem) => Stream.fromEffectDrain(recover(problem))))

      return Stream.unfold(next, () =>
        Effect.sync(() => (position === end ? undefined : ([next, next] as const)))
      ).pipe(Stream.flatMap((bytes) => bytes))
    })
  )
