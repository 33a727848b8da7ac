/**
 * Redacts text of a server, so that it can be shown in an error, a log or a span.
 *
 * **When to use**
 *
 * Redact all text of a server that is shown as a message, a code or an excerpt. A server may repeat the request in its
 * response: even an ordinary error page often repeats the path of the request.
 *
 * **Details**
 *
 * - A secret is removed if it is plain, percent-encoded, escaped as in JSON, in Base64 (also base64url, also inside of
 *   other data) or in hexadecimal digits, and if one of these is inside of another, up to three levels. The case of the
 *   letters A to Z is ignored. No 8 consecutive characters of a secret remain. A secret of less than 8 characters is
 *   removed only as a whole. A word whose escapes hide a secret or a capability is removed as a whole.
 * - Capabilities (texts that grant access) are recognized by patterns, and removed even if they are not in `secrets`:
 *   the id in the URL of an upload, a Status or an update stream; the query, the fragment and the user info of any URL;
 *   values after names such as `signature=` or `"token":`, and after `Bearer` or `Basic`; long runs of hexadecimal
 *   digits and of Base64. The host and the path before an id stay, because they help to find the problem.
 * - Control characters are escaped (`@assembly-effect/schema/unstable/Printable`), and line breaks become spaces. Finally the
 *   text is cut to its maximum length.
 *
 * @example
 * Redaction.text("Cannot PATCH /resumable/files/5d8a") // "Cannot PATCH /resumable/files/<redacted>"
 */
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import type * as Schema from "effect/Schema"

/**
 * The replacement for removed text.
 *
 * @since 0.1.0
 * @category utilities
 */
export const mask = "<redacted>"

/**
 * The options of a redaction:
 *
 * - `secrets`: the secrets of the request, in plain text.
 * - `max`: the number of characters after which a text is cut, 1,000 by default. A cut text ends with `…`.
 */
type Options = {
  readonly secrets?: ReadonlyArray<string> | undefined
  readonly max?: number | undefined
}

/** The maximum number of characters that are read: of a text, or of all texts in a JSON value. */
const maxRead = 4 * 1024

/** Each pattern matches only the part of a text that grants access. */
const capabilities: ReadonlyArray<RegExp> = [
  // Upload URLs (spec.md, "tus upload resource").
  /(?<=\/resumable\/+files\/+)[^\s"'<>\\]+/giu,
  // URLs of Statuses and update streams. Anybody who knows such a URL can read the Status and cancel the Assembly.
  /(?<=\/assemblies\/+)(?=[0-9a-f-]{4})[^\s"'<>\\]+/giu,
  // The query and the fragment of a URL, such as the URL of a signed result, and the user info of a URL.
  /(?<=[a-z]:\/\/[^\s"'<>\\?#]*[?#])[^\s"'<>\\]+/giu,
  /(?<=[a-z]:\/\/)[^\s"'<>\\/?#@]+(?=@)/giu,
  /(?<=(?:signature|sig|token|secret|policy|assembly|x-amz-[a-z-]{1,40})(?:=|"\s{0,2}:\s{0,2}"))[^\s"'<>\\&;]+/giu,
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{16,}/giu,
  // Signatures, Assembly ids and tokens. At the end of a text, which may have been cut there, 8 digits with a letter and
  // a decimal digit are enough.
  /[0-9a-f]{32,}/giu,
  /(?<![0-9a-z])(?=[0-9]{0,31}[a-f])(?=[a-f]{0,31}[0-9])[0-9a-f]{8,31}$/giu,
  /(?<![\w+/-])(?=[\w+/-]{0,60}[a-z])(?=[\w+/-]{0,60}[A-Z])(?=[\w+/-]{0,60}[0-9])[\w+/-]{40,}={0,2}/gu
]

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

const decodings: ReadonlyArray<(text: string) => string> = [
  (text) =>
    text.replace(/(?:%[\da-f]{2})+/gi, (run) =>
      utf8.decode(Uint8Array.from(run.slice(1).split("%"), (byte) => parseInt(byte, 16)))
    ),
  (text) => text.replace(/\\(?:u[\dA-Fa-f]{4}|[\x22\\/bfnrt])/g, (one) => String(JSON.parse(`"${one}"`)))
]

const minPiece = 8

/** Makes equal what forms of the same secret differ in: the case of A to Z, `+` for a space, and base64url. */
const fold = (text: string): string =>
  text
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace(/[ -]/g, "+")
    .replaceAll("_", "/")

/** A secret, its text in JSON, its hexadecimal digits, and its Base64 after 0, 1 and 2 other bytes, without what these decide. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const bytes = new TextEncoder().encode(secret)
  const json = JSON.stringify(secret).slice(1, -1)
  const base64 = [0, 1, 2].map((before) =>
    Base64.encode(Uint8Array.from([...Array<number>(before).fill(0), ...bytes])).slice(
      Math.ceil((before * 4) / 3),
      Math.floor(((before + bytes.length) * 4) / 3)
    )
  )
  const encoded = [Hex.encode(bytes), ...base64].filter((form) => form.length >= minPiece)
  return secret === "" ? [] : [secret, json, json.replaceAll("/", "\\/"), ...encoded]
}

/** The pieces of the secrets that are sought, by their length. */
type Sought = ReadonlyMap<number, ReadonlySet<string>>

const seek = (secrets: ReadonlyArray<string>): Sought => {
  const pieces = new Map<number, Set<string>>()
  for (const form of secrets.flatMap(formsOf).map(fold)) {
    const length = Math.min(minPiece, form.length)
    const known = pieces.get(length) ?? new Set()
    for (let at = 0; at <= form.length - length; at++) known.add(form.slice(at, at + length))
    pieces.set(length, known)
  }
  return pieces
}

type Range = readonly [start: number, end: number]

const find = (text: string, sought: Sought): ReadonlyArray<Range> => {
  const found: Array<Range> = capabilities.flatMap((form) =>
    Array.from(text.matchAll(form), (match): Range => [match.index, match.index + match[0].length])
  )
  const folded = fold(text)
  for (const [length, pieces] of sought) {
    for (let at = 0; at < text.length; at++) {
      if (pieces.has(folded.slice(at, at + length))) found.push([at, at + length])
    }
  }
  return found.toSorted(([a], [b]) => a - b)
}

/** Whether the escapes of a word hide a range, if the word is decoded up to three times. */
const hides = (word: string, sought: Sought, levels = 3): boolean =>
  decodings.some((decode) => {
    const reading = decode(word)
    if (reading === word) return false
    return find(reading, sought).length > 0 || (levels > 1 && hides(reading, sought, levels - 1))
  })

const redact = (text: string, sought: Sought): string => {
  const plain = text.replaceAll(/(?:\\[^]|[^\s"<>&=\\])+/g, (word) => (hides(word, sought) ? mask : word))
  let safe = ""
  let last = -1
  for (const [start, end] of find(plain, sought)) {
    // A range that touches the previous range gets no second mask, because it is usually the rest of the same secret.
    if (start > last) safe += plain.slice(Math.max(last, 0), start) + mask
    last = Math.max(last, end)
  }
  return safe + plain.slice(Math.max(last, 0))
}

const onOneLine = (text: string): string => text.trim().replace(/\s+/g, (space) => (/[\r\n]/.test(space) ? " " : space))

/**
 * Makes the function that redacts texts. It reads at most `maxRead` characters of all texts together. A text of which a
 * part was left out ends with `…`.
 */
const redactor = ({ max = 1000, secrets = [] }: Options) => {
  const sought = seek(secrets)
  let left = maxRead
  return (written: string): string => {
    const whole = written.trim()
    const read = whole.slice(0, left)
    left = Math.max(0, left - written.length)
    const redacted = redact(read, sought)
    const printable = Printable.escape(onOneLine(redacted))
    // Redacts again, because an escape that `Printable.escape` wrote may complete the text of a secret.
    const safe = printable === redacted ? printable : redact(printable, sought)
    if (safe.length > max) return `${safe.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…`
    return read.length < whole.length ? `${safe}…` : safe
  }
}

/**
 * Redacts a text: removes secrets and capabilities, joins lines, escapes control characters, and finally cuts the text.
 *
 * @since 0.1.0
 * @category utilities
 */
export const text = (written: string, options: Options = {}): string =>
  written === "" ? "" : redactor(options)(written)

/**
 * The error code of a server, redacted, and cut after 100 characters.
 *
 * @since 0.1.0
 * @category utilities
 */
export const code = (written: string, secrets: ReadonlyArray<string> = []): string =>
  text(written, { secrets, max: 100 })

/** The limits for a JSON value. The errors of the service stay within these limits. */
const maxDepth = 8
const maxValues = 256

/**
 * Redacts the texts in a JSON value, keys included, as {@link text} does. A value that is more than 8 levels deep, any
 * value after the first 256 values, and any text after the first 4096 characters of all texts become `"…"`. Each array
 * and each object keeps only its first 256 entries. These limits bound the time of the search for secrets.
 *
 * @since 0.1.0
 * @category utilities
 */
export const json = (value: Schema.Json, options: Options = {}): Schema.Json => {
  const safe = redactor(options)
  let values = 0
  const go = (part: Schema.Json, depth: number): Schema.Json => {
    if (++values > maxValues || depth > maxDepth) return "…"
    if (typeof part === "string") return safe(part)
    if (typeof part !== "object" || part === null) return part
    if (Array.isArray(part)) return part.slice(0, maxValues).map((inner: Schema.Json) => go(inner, depth + 1))
    return Object.fromEntries(
      Object.entries(part)
        .slice(0, maxValues)
        .map(([key, inner]) => [safe(key), go(inner, depth + 1)])
    )
  }
  return go(value, 0)
}
