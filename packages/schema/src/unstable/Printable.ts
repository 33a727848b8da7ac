/**
 * Escapes untrusted text, such as a file name or a message of a server, so that it is safe to print.
 *
 * @example
 * import * as Printable from "@assembly-effect/schema/unstable/Printable"
 *
 * Printable.escape("report\u001b[2J.csv") // "report\\x1b[2J.csv"
 */

/** Control characters, bidirectional controls, and the Unicode separators of lines and paragraphs. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

const codeOf = (character: string): number => character.codePointAt(0) ?? 0

const escapeInJson = (character: string): string => `\\u${codeOf(character).toString(16).padStart(4, "0")}`

const escapeCharacter = (character: string): string =>
  codeOf(character) < 0x100 ? `\\x${codeOf(character).toString(16).padStart(2, "0")}` : escapeInJson(character)

/**
 * Escapes every control character, line break and bidirectional control as `\xNN` or `\uNNNN`, and replaces every lone
 * surrogate with U+FFFD. The result is one line and contains no terminal sequence.
 *
 * @since 0.1.0
 * @category utilities
 */
export const escape = (text: string): string => text.toWellFormed().replace(unprintable, escapeCharacter)

/**
 * Escapes every control character, line break and bidirectional control in a JSON text as `\uNNNN`, but keeps line
 * feeds. The result parses to the same value as the text, unless the text has tabs or carriage returns outside its
 * strings: an escaped tab outside a string is not JSON.
 *
 * @example
 * Printable.escapeJson(JSON.stringify({ name: "\u009b2J" })) // {"name":"\\u009b2J"}
 *
 * @since 0.1.0
 * @category utilities
 */
export const escapeJson = (json: string): string =>
  json.replace(unprintable, (character) => (character === "\n" ? character : escapeInJson(character)))
