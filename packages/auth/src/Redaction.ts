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
 * - A secret is removed if it is plain, or if any of its characters are written as `\/`, `\uNNNN`, `\xNN`, `\NNN`
 *   (octal), `%NN`, `%uNNNN`, an HTML entity (a number or a common name), or `+` for a space. The case of the letters
 *   A to Z is ignored. Encodings may be mixed, and nested up to five levels. No 8 consecutive characters of a secret
 *   remain, wherever the text was cut. A secret of less than 8 characters is removed only as a whole, except at the end
 *   of the text. There, even the first 4 characters of any secret are removed, because the text may have been cut.
 * - Capabilities (texts that grant access) are recognized by patterns, and removed even if they are not in `secrets`:
 *   - the id in the URL of an upload, a Status or an update stream. The host and the path before the id stay, because
 *     they help to find the problem.
 *   - the query, the fragment and the user info of any URL
 *   - the value after a name such as `signature=` or `"token":`
 *   - 16 or more characters after `Bearer` or `Basic`
 *   - 32 or more consecutive hexadecimal digits. At the end of the text, 8 digits with a letter and a decimal digit are
 *     enough.
 *   - 40 or more consecutive characters of Base64 with letters of both cases and a digit
 * - Control characters are escaped (`@assembly-effect/schema/Printable`), and line breaks become spaces. Finally the
 *   text is cut to its maximum length.
 *
 * **Gotchas**
 *
 * A secret in another encoding, such as Base64, is found only by the patterns for capabilities, and only if it is long.
 * If a secret may appear in such an encoding, add the encoded secret to `secrets` too.
 *
 * @example
 * Redaction.text("Cannot PATCH /resumable/files/5d8a") // "Cannot PATCH /resumable/files/<redacted>"
 */
import * as Printable from "@assembly-effect/schema/Printable"
import type * as Schema from "effect/Schema"
import * as Capabilities from "./internal/capabilities.ts"
import * as Fragments from "./internal/fragments.ts"
import * as Written from "./internal/written.ts"

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
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly secrets?: ReadonlyArray<string> | undefined
  readonly max?: number | undefined
}

/** The maximum number of characters that are read: of a text, or of all texts in a JSON value. */
const maxRead = 4 * 1024

/** Replaces ranges of a text with the mask. The ranges may overlap. */
const without = (text: string, ranges: ReadonlyArray<Fragments.Range>): string => {
  let safe = ""
  let last = -1
  for (const { end, start } of ranges.toSorted((a, b) => a.start - b.start)) {
    // A range that touches the previous range gets no second mask, because it is usually the rest of the same secret.
    if (start > last) safe += text.slice(Math.max(last, 0), start) + mask
    last = Math.max(last, end)
  }
  return safe + text.slice(Math.max(last, 0))
}

const redact = (text: string, secrets: ReadonlyArray<Fragments.Sought>): string =>
  without(
    text,
    Written.readings(text).flatMap((reading) =>
      [...Fragments.find(reading.text, secrets), ...Capabilities.find(reading.text)].map(({ end, start }) => ({
        start: reading.starts[start] ?? 0,
        end: reading.ends[end - 1] ?? text.length
      }))
    )
  )

const onOneLine = (text: string): string => text.trim().replace(/\s+/g, (space) => (/[\r\n]/.test(space) ? " " : space))

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…` : text

/** Redacts the first `most` characters of a text. The result ends with `…` if a part of the text was left out. */
const textWith = (
  written: string,
  secrets: ReadonlyArray<Fragments.Sought>,
  max: number,
  most: number = maxRead
): string => {
  const text = written.trim()
  const redacted = redact(text.slice(0, most), secrets)
  const printable = Printable.escape(onOneLine(redacted))
  // Redacts again, because an escape that `Printable.escape` wrote may complete the text of a secret.
  const safe = printable === redacted ? printable : redact(printable, secrets)
  return text.length > most && safe.length <= max ? `${safe}…` : cut(safe, max)
}

/**
 * Redacts a text: removes secrets and capabilities, joins lines, escapes control characters, and finally cuts the text.
 *
 * @since 0.1.0
 * @category utilities
 */
export const text = (written: string, { max = 1000, secrets = [] }: Options = {}): string =>
  textWith(written, Fragments.seek(secrets), max)

/**
 * The redacted beginning of a body for an error message, cut after 200 characters.
 *
 * @since 0.1.0
 * @category utilities
 */
export const excerpt = (body: string, secrets: ReadonlyArray<string> = []): string => text(body, { secrets, max: 200 })

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
const more = "…"

/**
 * Redacts the texts in a JSON value, keys included, as {@link text} does. A value that is more than 8 levels deep, any
 * value after the first 256 values, and any text after the first 4096 characters of all texts become `"…"`. Each array
 * and each object keeps only its first 256 entries. These limits bound the time of the search for secrets.
 *
 * @since 0.1.0
 * @category utilities
 */
export const json = (value: Schema.Json, { max = 1000, secrets = [] }: Options = {}): Schema.Json => {
  const sought = Fragments.seek(secrets)
  let values = 0
  let left = maxRead
  const safe = (part: string): string => {
    const most = left
    left = Math.max(0, most - part.length)
    return textWith(part, sought, max, most)
  }
  const go = (part: Schema.Json, depth: number): Schema.Json => {
    if (++values > maxValues || depth > maxDepth) return more
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
