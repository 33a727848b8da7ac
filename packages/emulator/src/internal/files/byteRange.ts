import type * as Headers from "effect/http/Headers"
import type { ByteRange } from "./fileStore.ts"

/** The range that a request asks for: `whole` for the whole file, `none` if the file does not have these bytes. */
export type Asked = ByteRange | "whole" | "none"

/** The values that identify the bytes of a file. */
interface Validators {
  readonly etag: string
  readonly lastModified: string
}

/**
 * Whether the condition of a range request is true. `If-Range` contains a strong ETag or a date, which must match
 * exactly (RFC 9110, 13.1.5).
 */
const isStillThat = (condition: string | undefined, { etag, lastModified }: Validators): boolean =>
  condition === undefined || condition === etag || condition === lastModified

/**
 * Reads `Range` and `If-Range`. A request for several ranges, or a malformed header, gets the whole file, as RFC 9110
 * permits.
 */
export const read = (headers: Headers.Headers, size: number, validators: Validators): Asked => {
  const { "if-range": condition, range } = headers
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range ?? "") ?? []
  if ((first === "" && last === "") || !isStillThat(condition, validators)) return "whole"
  if (first === "") {
    const length = Math.min(size, Number(last))
    return length === 0 ? "none" : { offset: size - length, length }
  }
  const offset = Number(first)
  if (last !== "" && Number(last) < offset) return "whole"
  const end = last === "" ? size : Math.min(size, Number(last) + 1)
  return offset >= size ? "none" : { offset, length: end - offset }
}
