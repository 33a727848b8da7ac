/**
 * Text that a server wrote, made fit for an error, a log or a span.
 *
 * **When to use**
 *
 * For everything that a server wrote and that leaves as a message, a code or an excerpt. The other side may repeat what
 * it was asked, and an ordinary error page repeats the path of the request.
 *
 * **Details**
 *
 * - A secret goes in every form in which it may stand: as it is, with any of its characters as `\/`, `\uNNNN`, `\xNN`,
 *   octal, `%NN` and `%uNNNN` of either case, `+` for a space, or an entity of HTML, mixed as they may be, and up to five of these inside one
 *   another. No 8 consecutive characters of it stay, wherever the text was cut; a secret of fewer characters goes as
 *   a whole. Where the text breaks off, the first 4 characters of a secret at its end go too.
 * - What is a capability by its form goes without being known: the id in an upload URL and in the URL of a Status or its
 *   updates, query and user info of any URL, signatures and tokens by their names, the value of an `authorization`
 *   header, any 32 hexadecimal digits in a row, and any 40 characters of Base64 with letters of both cases and a digit.
 *   The host and the path before an id stay: they say where.
 * - Control characters are escaped (`@assembly-effect/schema/Printable`), line breaks are spaces, and the text is cut
 *   last.
 *
 * **Gotchas**
 *
 * A secret in another encoding is another text: name it as a secret too. Base64 goes only where it is long.
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
 * What stands in the place of what was taken out.
 *
 * @since 0.1.0
 * @category utilities
 */
export const mask = "<redacted>"

/**
 * - `secrets`: what the request carried, in plain text.
 * - `max`: the most characters of the outcome, 1,000 by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly secrets?: ReadonlyArray<string> | undefined
  readonly max?: number | undefined
}

/** No more of a text is read: what is told of it is far shorter. */
const maxRead = 4 * 1024

/** The text with a mask in the place of ranges, which may overlap. */
const without = (text: string, ranges: ReadonlyArray<Fragments.Range>): string => {
  let safe = ""
  let last = -1
  for (const { end, start } of ranges.toSorted((a, b) => a.start - b.start)) {
    // What touches the one before is the rest of the same secret.
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

const textWith = (text: string, secrets: ReadonlyArray<Fragments.Sought>, max: number): string => {
  const redacted = redact(text.slice(0, maxRead), secrets)
  const printable = Printable.escape(onOneLine(redacted))
  // A secret may hold what was just written for a character.
  return cut(printable === redacted ? printable : redact(printable, secrets), max)
}

/**
 * A text without secrets and capabilities, on one line, printable, and cut last.
 *
 * @since 0.1.0
 * @category utilities
 */
export const text = (written: string, { max = 1000, secrets = [] }: Options = {}): string =>
  textWith(written, Fragments.seek(secrets), max)

/**
 * The start of a body for an error message: at most 200 characters.
 *
 * @since 0.1.0
 * @category utilities
 */
export const excerpt = (body: string, secrets: ReadonlyArray<string> = []): string => text(body, { secrets, max: 200 })

/**
 * The code of an error as a server wrote it: at most 100 characters.
 *
 * @since 0.1.0
 * @category utilities
 */
export const code = (written: string, secrets: ReadonlyArray<string> = []): string =>
  text(written, { secrets, max: 100 })

/** No error of a service is deeper, or has more values in it. */
const maxDepth = 8
const maxValues = 256
const more = "…"

/**
 * The texts in a JSON value, keys included, as {@link text} makes them. What is deeper than 8 levels, or comes after 256
 * values or 4096 characters, is `"…"`: reading a text for what it hides takes a multiple of its length.
 *
 * @since 0.1.0
 * @category utilities
 */
export const json = (value: Schema.Json, { max = 1000, secrets = [] }: Options = {}): Schema.Json => {
  const sought = Fragments.seek(secrets)
  let values = 0
  let left = maxRead
  const safe = (part: string): string => {
    const read = part.slice(0, left)
    left -= read.length
    return read === "" && part !== "" ? more : textWith(read, sought, max)
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
