/**
 * Uses patterns to find the texts that grant access, without a list of secrets.
 */
import type { Range } from "./fragments.ts"

/** Each pattern matches the secret part only, not the text around it. */
const forms: ReadonlyArray<RegExp> = [
  // Upload URLs (spec.md, "tus upload resource").
  /(?<=\/resumable\/+files\/+)[^\s"'<>\\]+/giu,
  // URLs of Statuses and update streams. Anybody who knows such a URL can read the Status and cancel the Assembly.
  /(?<=\/assemblies\/+)(?=[0-9a-f-]{4})[^\s"'<>\\]+/giu,
  // The query and the fragment of a URL, such as the URL of a signed result, and the user info of a URL.
  /(?<=[a-z]:\/\/[^\s"'<>\\?#]*[?#])[^\s"'<>\\]+/giu,
  /(?<=[a-z]:\/\/)[^\s"'<>\\/?#@]+(?=@)/giu,
  /(?<=(?:signature|sig|token|secret|policy|assembly|x-amz-[a-z-]{1,40})(?:=|"\s{0,2}:\s{0,2}"))[^\s"'<>\\&;]+/giu,
  // 16 or more characters after `Bearer` or `Basic`, as in the `authorization` header of a request.
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{16,}/giu,
  // Signatures, Assembly ids and tokens in hexadecimal digits. At the end of a text, 8 digits with a letter and a
  // decimal digit are enough, because the text may have been cut there.
  /[0-9a-f]{32,}/giu,
  /(?<![0-9a-z])(?=[0-9]{0,31}[a-f])(?=[a-f]{0,31}[0-9])[0-9a-f]{8,31}$/giu,
  // Long Base64 text may be a signature or a token.
  /(?<![\w+/-])(?=[\w+/-]{0,60}[a-z])(?=[\w+/-]{0,60}[A-Z])(?=[\w+/-]{0,60}[0-9])[\w+/-]{40,}={0,2}/gu
]

/** The ranges of a text that grant access. */
export const find = (text: string): ReadonlyArray<Range> =>
  forms.flatMap((form) =>
    Array.from(text.matchAll(form), (match) => ({ start: match.index, end: match.index + match[0].length }))
  )
