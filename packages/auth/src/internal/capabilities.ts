/**
 * What gives access to whoever reads it, by its form alone: nobody has to know it to find it.
 */
import type { Range } from "./fragments.ts"

/** Each finds what must not be read, not what stands around it. */
const forms: ReadonlyArray<RegExp> = [
  // Upload URLs (spec.md, "tus upload resource").
  /(?<=\/resumable\/+files\/+)[^\s"'<>\\]+/giu,
  // URLs of a Status and of its updates; whoever has one reads the Assembly, and may cancel it.
  /(?<=\/assemblies\/+)(?=[0-9a-f-]{4})[^\s"'<>\\]+/giu,
  // Signed results, update streams and signed requests: what authorizes is in the query.
  /(?<=[a-z]:\/\/[^\s"'<>\\?#]*[?#])[^\s"'<>\\]+/giu,
  /(?<=[a-z]:\/\/)[^\s"'<>\\/?#@]+(?=@)/giu,
  /(?<=(?:signature|sig|token|secret|policy|assembly|x-amz-[a-z-]{1,40})(?:=|"\s{0,2}:\s{0,2}"))[^\s"'<>\\&;]+/giu,
  // The header of a request.
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{16,}/giu,
  // Signatures, ids of Assemblies, and tokens in hexadecimal digits; at the end of a text that breaks off half of one.
  /[0-9a-f]{32,}/giu,
  /(?<![0-9a-z])(?=[0-9]{0,31}[a-f])(?=[a-f]{0,31}[0-9])[0-9a-f]{8,31}$/giu,
  // What looks like Base64 may be any of them.
  /(?<![\w+/-])(?=[\w+/-]{0,60}[a-z])(?=[\w+/-]{0,60}[A-Z])(?=[\w+/-]{0,60}[0-9])[\w+/-]{40,}={0,2}/gu
]

/** The ranges of a text that give access. */
export const find = (text: string): ReadonlyArray<Range> =>
  forms.flatMap((form) =>
    Array.from(text.matchAll(form), (match) => ({ start: match.index, end: match.index + match[0].length }))
  )
