import * as CliOutput from "effect/cli/CliOutput"

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const ellipsis = "…"

/** The width of a text in terminal cells. */
export const width = (text: string): number => CliOutput.displayWidth(text)

/** Cuts a printable text, which has no control characters, to at most `cells` cells. A cut text ends in `…`. */
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

/** Pads a text with spaces to `cells` cells. */
export const pad = (text: string, cells: number, align: "left" | "right"): string => {
  const spaces = " ".repeat(Math.max(0, cells - width(text)))
  return align === "left" ? text + spaces : spaces + text
}

/** Cuts a word into pieces of at most `cells` cells. */
const pieces = (word: string, cells: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let piece = ""
  for (const { segment } of graphemes.segment(word)) {
    // A character that is wider than a line is replaced by `…`.
    const shown = truncate(segment, cells)
    if (piece !== "" && width(piece + shown) > cells) {
      found.push(piece)
      piece = ""
    }
    piece += shown
  }
  return [...found, piece]
}

/**
 * Breaks a printable text into lines of at most `cells` cells. Lines are broken between words. A word that is longer
 * than a line stays whole, or is broken into pieces with `breakWords`.
 */
export const wrap = (text: string, cells: number, { breakWords = false } = {}): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line: string | undefined
  for (const word of text.split(" ").flatMap((one) => (breakWords ? pieces(one, cells) : [one]))) {
    const longer = line === undefined ? word : `${line} ${word}`
    if (line === undefined || width(longer) <= cells) {
      line = longer
    } else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line ?? ""]
}
