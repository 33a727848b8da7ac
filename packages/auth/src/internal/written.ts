/**
 * Decodes the escapes in JSON, URLs, forms, HTML and log lines.
 */

/** The decoded value of an escape, and the position after the escape. */
interface Escape {
  readonly value: string
  readonly end: number
}

const named: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["sol", "/"],
  ["bsol", "\\"],
  ["plus", "+"],
  ["equals", "="],
  ["colon", ":"],
  ["period", "."],
  ["quest", "?"],
  ["num", "#"],
  ["percnt", "%"],
  ["lowbar", "_"]
])

const short: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"]
])

/**
 * `\uNNNN`, `\u{N}`, `\xNN`, `\NNN` in octal, short escapes such as `\n`, and a backslash before a quote, a backslash
 * or a slash.
 */
const backslash = /\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|([0-3][0-7]{2})|([nrtbf])|(["'\\/]))/iy
/** `&#47;`, `&#x2f;` and `&amp;`. A number may have leading zeros, and the semicolon after a number may be missing. */
const entity = /&(?:#0{0,32}([0-9]{1,7});?|#x0{0,32}([0-9a-f]{1,6});?|([a-z]{2,6});)/iy
const longUnicode = /\\U([0-9A-Fa-f]{8})/y
const percentUnicode = /%u([0-9a-f]{4})/iy
const percent = /%([0-9a-f]{2})/iy

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const fromCode = (code: number): string | undefined => (code <= 0x10ffff ? String.fromCodePoint(code) : undefined)

const backslashAt = (text: string, at: number): Escape | undefined => {
  const eight = fromCode(parseInt(matchAt(longUnicode, text, at)?.[1] ?? "ffffffff", 16))
  if (eight !== undefined) return { value: eight, end: at + 10 }
  const match = matchAt(backslash, text, at)
  if (match === null) return undefined
  const [whole, four, braced, two, octal, letter, itself] = match
  const digits = four ?? braced ?? two
  const code = digits === undefined ? octal && parseInt(octal, 8) : parseInt(digits, 16)
  const value = typeof code === "number" ? fromCode(code) : (itself ?? short.get(letter ?? "") ?? letter)
  return value === undefined ? undefined : { value, end: at + whole.length }
}

const entityAt = (text: string, at: number): Escape | undefined => {
  const match = matchAt(entity, text, at)
  if (match === null) return undefined
  const [whole, decimal, hexadecimal, name = ""] = match
  const code = decimal === undefined ? hexadecimal && parseInt(hexadecimal, 16) : Number(decimal)
  const value = typeof code === "number" ? fromCode(code) : named.get(name.toLowerCase())
  return value === undefined ? undefined : { value, end: at + whole.length }
}

const byteAt = (text: string, at: number): number | undefined => {
  const digits = matchAt(percent, text, at)?.[1]
  return digits === undefined ? undefined : parseInt(digits, 16)
}

/** The number of bytes of a UTF-8 character, from its first byte. */
const lengthOf = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Decodes `%uNNNN`, or the percent-encoded bytes of one character. An invalid UTF-8 byte is read as Latin-1. */
const percentAt = (text: string, at: number): Escape | undefined => {
  const unicode = matchAt(percentUnicode, text, at)?.[1]
  if (unicode !== undefined) return { value: String.fromCharCode(parseInt(unicode, 16)), end: at + 6 }
  const first = byteAt(text, at)
  if (first === undefined) return undefined
  const bytes = Array.from({ length: lengthOf(first) }, (_, index) => byteAt(text, at + 3 * index) ?? 0)
  try {
    return { value: utf8.decode(Uint8Array.from(bytes)), end: at + 3 * bytes.length }
  } catch {
    return { value: String.fromCharCode(first), end: at + 3 }
  }
}

/** The escape that starts at a position of a text, if any. */
export const escapeAt = (text: string, at: number): Escape | undefined => {
  switch (text[at]) {
    case "\\":
      return backslashAt(text, at)
    case "%":
      return percentAt(text, at)
    case "&":
      return entityAt(text, at)
    default:
      return undefined
  }
}

/** Whether `rest`, the end of a text, is empty or may be the beginning of an escape. */
export const isBrokenEscape = (rest: string): boolean =>
  rest === "" ||
  /^(?:%(?:[0-9a-f]?|u[0-9a-f]{0,3})|\\(?:u[0-9a-f]{0,7}|x[0-9a-f]?|[0-3][0-7]?)?|&(?:#?[0-9a-z]{0,40}))$/i.test(rest)

/** A decoded text, with the position of each character in the original text. */
export interface Reading {
  readonly text: string
  readonly starts: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
}

/** A text without decoding. */
const literal = (text: string): Reading => ({
  text,
  starts: Array.from({ length: text.length }, (_, at) => at),
  ends: Array.from({ length: text.length }, (_, at) => at + 1)
})

const decode = ({ ends, starts, text }: Reading): Reading => {
  const read = { text: "", starts: [] as Array<number>, ends: [] as Array<number> }
  for (let at = 0; at < text.length;) {
    const { end, value } = escapeAt(text, at) ?? { value: text.charAt(at), end: at + 1 }
    read.text += value
    for (let unit = 0; unit < value.length; unit++) {
      read.starts.push(starts[at] ?? 0)
      read.ends.push(ends[end - 1] ?? 0)
    }
    at = end
  }
  return read
}

/** The maximum number of nested encodings that are decoded: enough for JSON in JSON in a URL. */
const maxLevels = 5

/** The text itself, the text with its escapes decoded, then with the escapes in the result decoded, and so on. */
export const readings = (text: string): ReadonlyArray<Reading> => {
  const all = [literal(text)]
  for (let last = all[0]; last !== undefined && all.length <= maxLevels;) {
    const next = decode(last)
    if (next.text === last.text) break
    all.push(next)
    last = next
  }
  return all
}
