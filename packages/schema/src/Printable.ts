/**
 * Text that anybody may have written, such as a file name or the message of a server, made safe to print.
 *
 * @example
 * import * as Printable from "@assembly-effect/schema/Printable"
 *
 * Printable.escape("report\u001b[2J.csv") // "report\\x1b[2J.csv"
 */

/** Moves the cursor, starts a terminal sequence, or turns the direction of the text. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

const codeOf = (character: string): number => character.codePointAt(0) ?? 0

const escapeInJson = (character: string): string => `\\u${codeOf(character).toString(16).padStart(4, "0")}`

const escapeCharacter = (character: string): string =>
  codeOf(character) < 0x100 ? `\\x${codeOf(character).toString(16).padStart(2, "0")}` : escapeInJson(character)

/**
 * The text with every control character, line break and bidirectional control as `\xNN` or `\uNNNN`, and every lone
 * surrogate as U+FFFD: it stays on its line, and a terminal obeys nothing of it.
 *
 * @since 0.1.0
 * @category utilities
 */
export const escape = (text: string): string => text.toWellFormed().replace(unprintable, escapeCharacter)

/**
 * The same for JSON text, whose own line breaks stay: it parses to the same value.
 *
 * @example
 * Printable.escapeJson(JSON.stringify({ name: "\u009b2J" })) // {"name":"\\u009b2J"}
 *
 * @since 0.1.0
 * @category utilities
 */
export const escapeJson = (json: string): string =>
  json.replace(unprintable, (character) => (character === "\n" ? character : escapeInJson(character)))
