/**
 * Reads from the headers of a response which bytes of a file the body contains, and how a later response can be
 * compared with this response.
 */
import type * as Headers from "effect/http/Headers"
import * as Result from "effect/Result"
import type { ResultChanged } from "../../ResultError.ts"

/**
 * - `total`: the size of the whole file in bytes, if the response contains it.
 * - `validator`: the ETag if it is strong. Only a strong validator proves that two responses have the same bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Representation {
  readonly etag: string | undefined
  readonly lastModified: string | undefined
  readonly validator: string | undefined
  readonly total: number | undefined
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
