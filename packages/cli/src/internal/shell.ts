/**
 * Quotes texts as words of a POSIX shell.
 */
import * as Printable from "@assembly-effect/schema/Printable"

/**
 * A text of these characters needs no quotes in a POSIX shell or in fish. `=` is missing, because zsh reads `=word` as
 * the path of a command.
 */
const plain = /^[A-Za-z0-9_./:@%+,-]+$/

/**
 * Quotes a text so that every POSIX shell and fish read back the same text. Backslashes stay outside the quotes,
 * because fish interprets backslashes inside quotes.
 */
const quote = (text: string): string => `'${text.replaceAll(/['\\]+/g, (found) => `'${escapeEach(found)}'`)}'`

/**
 * Quotes a text as one word of a command. A text that needs no quotes stays as it is.
 *
 * @example word("my file") // 'my file'
 */
export const word = (text: string): string => (plain.test(text) ? text : quote(text))

const escapeEach = (text: string): string => text.replaceAll(/['\\]/g, String.raw`\$&`)

const utf8 = new TextEncoder()
const toOctal = (byte: number): string => `\\${byte.toString(8).padStart(3, "0")}`

/**
 * Returns the shell command that exports an environment variable with the given value. NUL is left out, because no
 * variable can contain it. The command is safe to show on a terminal, because a value with characters that
 * {@link Printable.escape} escapes is written in octal numbers. A lone surrogate becomes U+FFFD, as always in UTF-8.
 *
 * @example exportLine("SECRET", "it's") // export SECRET='it'\''s'
 */
export const exportLine = (name: string, value: string): string => {
  const text = value.toWellFormed().replaceAll("\0", "")
  if (plain.test(text)) return `export ${name}=${text}`
  if (Printable.escape(text) === text) return `export ${name}=${quote(text)}`
  // A command substitution removes line breaks at the end, so an underscore is added at the end and removed afterwards.
  const octal = Array.from(utf8.encode(text), toOctal).join("")
  return `${name}="$(printf '${octal}_')"; export ${name}="\${${name}%_}"`
}
