import * as CliOutput from "effect/cli/CliOutput"

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const ellipsis = "…"

/** The width of a text in terminal cells. */
export const width = (text: string): number => CliOutput.displayWidth(text)

/** Cuts a printable text to at most `cells` cells. A cut text ends in `…`. */
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

/** Breaks a printable text between words into lines of at most `cells` cells. A longer word is cut. */
export const wrap = (text: string, cells: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const line = lines.at(-1)
    if (line !== undefined && width(`${line} ${word}`) <= cells) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(truncate(word, cells))
  }
  return lines
}
