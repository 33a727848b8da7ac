/**
 * Finds a secret, or a part of it, even if some of its characters are escaped. `written.ts` decodes the escapes.
 */
import * as Written from "./written.ts"

/** A range of positions in a text. `end` is exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * A part of a secret is found anywhere in a text if the part has at least this many characters. A shorter secret is
 * found only as a whole.
 */
const minPiece = 8

/**
 * The beginning of a secret is found at the end of a text, which may have been cut there, if the beginning has at least
 * this many characters.
 */
const minBeginning = 4

/** Treats a space and a plus sign as equal, and ignores the case of the letters A to Z. */
const fold = (text: string): string => text.replace(/[A-Z ]/g, (unit) => (unit === " " ? "+" : unit.toLowerCase()))

/** A secret, prepared for comparison. */
export interface Sought {
  readonly text: string
  readonly units: ReadonlySet<string>
  readonly piece: number
}

const sought = (secret: string): Sought => {
  const text = fold(secret)
  return { text, units: new Set(text.split("")), piece: Math.min(minPiece, text.length) }
}

/** The decoded forms of a secret. There are several forms if the secret itself contains escapes. */
const readingsOf = (secret: string): ReadonlyArray<string> =>
  Written.readings(secret)
    .map(({ text }) => text)
    .filter((text) => text === secret || text.length >= minPiece)

/** Prepares secrets for the search. Empty secrets are dropped. */
export const seek = (secrets: ReadonlyArray<string>): ReadonlyArray<Sought> =>
  [...new Set(secrets.flatMap(readingsOf))].filter((secret) => secret !== "").map(sought)

/**
 * Continues a match: `found` is the part of the secret that ends at `at`. Returns the position at which the match ends,
 * or undefined if there is no match.
 */
const endOfPiece = (text: string, at: number, found: string, secret: Sought): number | undefined => {
  if (found.length >= secret.piece) return at
  if (
    found.length >= minBeginning &&
    text.length - at < 10 &&
    secret.text.startsWith(found) &&
    Written.isBrokenEscape(text.slice(at))
  ) {
    return text.length
  }
  const goOn = (value: string, end: number): number | undefined => {
    const longer = found + fold(value)
    return secret.text.includes(longer) ? endOfPiece(text, end, longer, secret) : undefined
  }
  const escape = Written.escapeAt(text, at)
  const afterEscape = escape === undefined ? undefined : goOn(escape.value, escape.end)
  if (afterEscape !== undefined) return afterEscape
  return at < text.length ? goOn(text.charAt(at), at + 1) : undefined
}

const isStart = (text: string, at: number, { units }: Sought): boolean =>
  units.has(fold(text.charAt(at))) || text[at] === "\\" || text[at] === "%" || text[at] === "&"

/** The ranges of a text that contain a part of a secret. */
export const find = (text: string, secrets: ReadonlyArray<Sought>): ReadonlyArray<Range> => {
  const found: Array<Range> = []
  for (const secret of secrets) {
    for (let start = 0; start < text.length; start++) {
      if (!isStart(text, start, secret)) continue
      const end = endOfPiece(text, start, "", secret)
      if (end !== undefined) found.push({ start, end })
    }
  }
  return found
}
