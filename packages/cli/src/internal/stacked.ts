/**
 * Renders pairs of names and values as lines: the facts of a resource, or the cells of a table that is too wide for the
 * terminal. All functions are pure.
 */
import * as Style from "../Style.ts"
import * as Text from "./text.ts"

/**
 * A name and its value, `text`. The text must be printable: the caller must have escaped its control characters.
 * `paint` is applied to each line of the text after wrapping. A command is not wrapped, because a user pastes it.
 */
export interface Pair {
  readonly name: string
  readonly text: string
  readonly paint?: ((line: string) => string) | undefined
  readonly isCommand?: boolean | undefined
}

/**
 * - `cells`: the width of the column of names, by default the width of the longest name.
 * - `breakWords`: whether a word that does not fit into one line is broken. If such a word is not broken, the terminal
 *   wraps the word, and a user who copies the word gets no line break.
 */
export interface Options {
  readonly width?: number | undefined
  readonly style?: Style.Style | undefined
  readonly cells?: number | undefined
  readonly breakWords?: boolean | undefined
}

/** The minimum width of a terminal in which values are indented, in cells. */
const minCells = 12

const unpainted = (line: string): string => line

/**
 * Renders each value beside its name, and begins all these values in the same column. If a word of a value, such as an
 * id, does not fit beside the name, the value is rendered below the name, where more cells are free.
 */
export const render = (pairs: ReadonlyArray<Pair>, options: Options = {}): ReadonlyArray<Style.Line> => {
  const { breakWords = false, style = Style.plain } = options
  const cells = options.cells ?? pairs.reduce((most, { name }) => Math.max(most, Text.width(name)), 0)
  const beside = cells + 2

  const lines = pairs.flatMap(({ isCommand = false, name, paint = unpainted, text }) => {
    const width = isCommand ? Number.POSITIVE_INFINITY : (options.width ?? Number.POSITIVE_INFINITY)
    const indent = " ".repeat(width < minCells ? 0 : 2)
    const [first = "", ...others] = Text.wrap(text, width - beside)
    if (beside < width && [first, ...others].every((line) => beside + Text.width(line) <= width)) {
      return [
        `${style.bold(Text.pad(name, cells, "left"))}  ${paint(first)}`.trimEnd(),
        ...others.map((line) => " ".repeat(beside) + paint(line))
      ]
    }
    const title = Text.wrap(name, width, { breakWords }).map(style.bold)
    if (text === "") return title
    return [...title, ...Text.wrap(text, width - indent.length, { breakWords }).map((line) => indent + paint(line))]
  })
  return lines.map(Style.toLine)
}
