import * as CliOutput from "effect/cli/CliOutput"

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const ellipsis = "…"

/** What moves the cursor, starts a sequence or turns the direction of the text. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/**
 * Text that anybody may have written, such as a file name, with what a terminal would obey made visible: a name with
 * an escape sequence must neither break the layout nor write elsewhere on the screen.
 */
export const printable = (text: string): string => text.toWellFormed().replace(unprintable, escapeCharacter)

/** The number of terminal cells that a text takes. */
export const width = (text: string): number => CliOutput.displayWidth(text)

/** At most `cells` cells of a printable text; what was left out is told by `…`. */
export const truncate = (text: string, cells: number): string => {
  if (cells <= 0) return ""
  if (width(text) <= cells) return text
  let kept = ""
  for (const { segment } of graphemes.segment(text)) {
    if (width(kept + segment) > cells - 1) break
    kept += segment
  }
  return kept + ellipsis
}

/** Fills a text up with spaces to `cells` cells. */
export const pad = (text: string, cells: number, align: "left" | "right"): string => {
  const spaces = " ".repeat(Math.max(0, cells - width(text)))
  return align === "left" ? text + spaces : spaces + text
}
