/**
 * Requests a file, or a part of it, at its URL, and reads from the headers of the response what its body contains. No
 * request has a credential.
 */
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import type { ResultChanged } from "../ResultError.ts"
import * as Exchange from "./Exchange.ts"

const decode = Schema.decodeUnknownOption(SecureUrl.SecureUrl)

/** A URL that a download may read. A query is permitted, because it may contain a signature for the storage service. */
const parse = (text: string, allowsHttp: boolean): URL | undefined => {
  const [beforeQuery] = text.split(/[?#]/, 1)
  if (Option.isNone(decode(beforeQuery)) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  url.hash = ""
  return url.protocol === "https:" || allowsHttp ? url : undefined
}

const hasText = (text: string | null | undefined): text is string => typeof text === "string" && text !== ""

/**
 * Whether a file has a URL. A file that no Step has exported may have no URL.
 *
 * @since 0.1.0
 * @category predicates
 */
export const hasUrl = ({ ssl_url, url }: Pick<Assembly.File, "ssl_url" | "url">): boolean =>
  hasText(ssl_url) || hasText(url)

/**
 * The URL of a file. `ssl_url` takes precedence over `url`. The issue does not contain the URL.
 *
 * @since 0.1.0
 * @category utilities
 */
export const urlOf = (
  { ssl_url, url }: Pick<Assembly.File, "ssl_url" | "url">,
  { allowsHttp, name }: { readonly allowsHttp: boolean; readonly name: string }
): Result.Result<URL, Issue> => {
  const field = hasText(ssl_url) ? "ssl_url" : "url"
  const text = field === "ssl_url" ? ssl_url : url
  if (!hasText(text)) {
    const why = `the Status has no URL for the file ${name}, for example because no Step has exported it; \`Results.downloadable\` returns only files with a URL`
    return Result.fail({ path: ["ssl_url"], message: `Expected a URL, got none: ${why}` })
  }
  const parsed = parse(text, allowsHttp)
  const message = `Expected an https URL ${allowsHttp ? "(http on loopback only) " : ""}without user info`
  return parsed === undefined ? Result.fail({ path: [field], message }) : Result.succeed(parsed)
}

/** Whether a status is a redirect to another URL. */
const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/**
 * The target of a redirect. A redirect from https never leads to http. The failure describes the broken rule.
 *
 * @since 0.1.0
 * @category utilities
 */
export const redirect = (location: string | undefined, from: URL): Result.Result<URL, string> => {
  if (location === undefined) return Result.fail("a redirect without Location")
  if (!URL.canParse(location, from)) return Result.fail("a redirect to an invalid URL")
  const target = parse(new URL(location, from).href, from.protocol === "http:")
  return target === undefined
    ? Result.fail("a redirect to a URL that is not https, or has user info")
    : Result.succeed(target)
}

/** The maximum number of redirects of one request. */
const maxRedirects = 5

/**
 * A response that is no file, and the pause that it requested.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refused {
  readonly error: ApiError.RateLimited | ApiError.UnexpectedResponse
  readonly wait: Option.Option<Duration.Duration>
}

/**
 * The operation and the host of a request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Subject extends Exchange.Subject {
  readonly host: string
}

const refusal = (
  subject: Subject,
  { headers, status }: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<string>,
  now: number
): Refused => {
  const wait = Outcome.wait(headers, undefined, now)
  const about = { ...subject, status, ...Exchange.requestIdOf(headers, secrets) }
  const retryAfter = Option.getOrElse(wait, () => Duration.zero)
  const error =
    status === 429
      ? new ApiError.RateLimited({ ...about, description: "", retryAfter })
      : new ApiError.UnexpectedResponse({ ...about, description: "not a file", excerpt: "" })
  return { error, wait }
}

/**
 * What requests of one resource have in common. `headers` are sent with each, but not instead of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Resource {
  readonly operation: string
  readonly http: HttpClient.HttpClient
  readonly url: URL
  readonly headers?: Headers.Input | undefined
  readonly followsRedirects: boolean
  readonly stallTimeout: Duration.Duration
}

const notFollowed = "it redirects to another URL, and redirects are not followed; use the final URL"

/**
 * Sends the request, and returns the first response that is not a redirect: a 200, 206 or 416 response. Any other
 * status is a failure. The connection is freed when the scope ends. The connection of a redirect is freed at once.
 *
 * @since 0.1.0
 * @category reading
 */
export const send = Effect.fnUntraced(function* (
  { followsRedirects, headers = {}, http, operation, stallTimeout, ...resource }: Resource,
  own: Readonly<Record<string, string>>
) {
  const parent = yield* Effect.scope
  let { url } = resource
  for (let redirects = 0; ; redirects++) {
    const subject = { operation, host: url.host }
    const scope = yield* Scope.fork(parent)
    const request = HttpClientRequest.get(url.href, { headers }).pipe(
      HttpClientRequest.setHeaders({ "accept-encoding": "identity", ...own })
    )
    const response = yield* Exchange.open(http, request, subject).pipe(
      Exchange.inTime(subject, stallTimeout),
      Scope.provide(scope)
    )
    const { status } = response
    if (status === 200 || status === 206 || status === 416) {
      return { response, subject, isRedirected: redirects > 0 }
    }
    // A browser shows a redirect that is not followed as the status 0.
    if (!followsRedirects && (isRedirect(status) || status === 0))
      return yield* Exchange.unexpected(subject, status, notFollowed)
    if (!isRedirect(status)) {
      return yield* Effect.fail(refusal(subject, response, [url.href], yield* Clock.currentTimeMillis))
    }
    yield* Scope.close(scope, Exit.void)
    if (redirects === maxRedirects) {
      return yield* Exchange.unexpected(subject, status, `more than ${maxRedirects} redirects`)
    }
    const target = redirect(response.headers["location"], url)
    if (Result.isFailure(target)) return yield* Exchange.unexpected(subject, status, target.failure)
    url = target.success
  }
})

/**
 * The body of a response. Each piece must arrive within `stallTimeout`.
 *
 * @since 0.1.0
 * @category reading
 */
export const pullBody = (
  { stallTimeout }: Resource,
  subject: Subject,
  response: HttpClientResponse.HttpClientResponse
) =>
  Effect.map(Stream.toPull(response.stream), (pull) =>
    pull.pipe(
      // Some clients fail with `EmptyBodyError` for a response without a body.
      Effect.catchIf(
        (error) => !Cause.isDone(error) && error.reason._tag === "EmptyBodyError",
        () => Cause.done()
      ),
      Effect.mapError((error) => (Cause.isDone(error) ? error : Exchange.toFailure(subject)(error))),
      Exchange.inTime(subject, stallTimeout)
    )
  )

/**
 * - `total`: the size of the whole file in bytes, if the response contains it.
 * - `validator`: the ETag if it is strong. Only a strong validator proves that two responses have the same bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Representation {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  readonly validator?: string | undefined
  readonly total?: number | undefined
}

/**
 * The body contains the bytes from `start` to `end` (exclusive). `end` is undefined for a 200 response without a valid
 * `content-length`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Part {
  readonly start: number
  readonly end: number | undefined
  readonly representation: Representation
}

const toLength = (text: string | undefined): number | undefined => {
  const length = text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
  return length !== undefined && Number.isSafeInteger(length) ? length : undefined
}

const representation = (headers: Headers.Headers, total: number | undefined): Representation => {
  const { etag, "last-modified": lastModified } = headers
  return { etag, lastModified, validator: etag?.startsWith('"') === true ? etag : undefined, total }
}

/**
 * The size of the whole file in the `content-range` of a 416 response.
 *
 * @since 0.1.0
 * @category decoding
 */
export const sizeOfUnsatisfied = (headers: Headers.Headers): number | undefined =>
  toLength(/^bytes \*\/(\d+)$/i.exec(headers["content-range"] ?? "")?.[1])

const ofRange = (headers: Headers.Headers, from: number): Result.Result<Part, string> => {
  const [, first, last, all] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(headers["content-range"] ?? "") ?? []
  const [start, end, total] = [toLength(first), toLength(last), toLength(all)]
  if (start === undefined || end === undefined || (total === undefined && all !== "*")) {
    return Result.fail("a part without a valid Content-Range")
  }
  if (start !== from) return Result.fail("a part that starts at another byte than the requested one")
  if (end < start || (total !== undefined && end >= total)) return Result.fail("a Content-Range that is not possible")
  const length = toLength(headers["content-length"])
  if (length !== undefined && length !== end + 1 - start) {
    return Result.fail("a Content-Length that contradicts the Content-Range")
  }
  return Result.succeed({ start, end: end + 1, representation: representation(headers, total) })
}

/**
 * Reads the headers of a 200 or 206 response to a request for the bytes from `from`. A 200 response has the whole file.
 * The failure describes what is wrong with the response.
 *
 * @since 0.1.0
 * @category decoding
 */
export const read = (
  { headers, status }: { readonly status: number; readonly headers: Headers.Headers },
  from: number
): Result.Result<Part, string> => {
  const coding = headers["content-encoding"]
  if (coding !== undefined && coding.trim().toLowerCase() !== "identity") {
    // Some HTTP clients decode the body and others do not, so the bytes and their number would be uncertain.
    return Result.fail("an encoded body (content-encoding), although identity was requested")
  }
  if (status === 206) return ofRange(headers, from)
  const total = toLength(headers["content-length"])
  return Result.succeed({ start: 0, end: total, representation: representation(headers, total) })
}

const areDifferent = <A>(before: A | undefined, now: A | undefined): boolean =>
  before !== undefined && now !== undefined && before !== now

/**
 * The field that shows that two responses belong to different versions of the file. The result is undefined if no field
 * shows this.
 *
 * @since 0.1.0
 * @category comparing
 */
export const difference = (before: Representation, now: Representation): ResultChanged["field"] | undefined => {
  if (before.etag !== undefined && before.etag !== now.etag) return "etag"
  // A part need not repeat Last-Modified if the request had an If-Range (RFC 9110, 15.3.7).
  if (areDifferent(before.lastModified, now.lastModified)) return "last-modified"
  return areDifferent(before.total, now.total) ? "length" : undefined
}
