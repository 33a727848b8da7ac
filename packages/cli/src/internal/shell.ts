/**
 * Texts as words of a POSIX shell.
 */
import * as Printable from "@assembly-effect/schema/Printable"

/** What no shell reads as anything else; zsh reads a word behind `=` as the path of a command. */
const plain = /^[A-Za-z0-9_./:@%+,-]+$/

/**
 * The text in quotes that every POSIX shell takes back out. Backslashes stand outside of the quotes: fish, unlike a POSIX
 * shell, reads one within.
 */
const quote = (text: string): string => `'${text.replaceAll(/['\\]+/g, (found) => `'${escapeEach(found)}'`)}'`

const escapeEach = (text: string): string => text.replaceAll(/['\\]/g, String.raw`\$&`)

const utf8 = new TextEncoder()
const toOctal = (byte: number): string => `\\${byte.toString(8).padStart(3, "0")}`

/**
 * The line that sets a variable of the environment to this text, whatever it holds but NUL, which no variable can hold:
 * it is left out. The line itself can be shown on a terminal: a text with control characters is told in octal numbers.
 * Lone surrogates are U+FFFD, as in any UTF-8.
 *
 * @example exportLine("SECRET", "it's") // export SECRET='it'\''s'
 */
export const exportLine = (name: string, value: string): string => {
  const text = value.toWellFormed().replaceAll("\0", "")
  if (plain.test(text)) return `export ${name}=${text}`
  if (Printable.escape(text) === text) return `export ${name}=${quote(text)}`
  // A command's output loses its last line breaks: the underscore keeps them.
  const octal = Array.from(utf8.encode(text), toOctal).join("")
  return `${name}="$(printf '${octal}_')"; export ${name}="\${${name}%_}"`
}
