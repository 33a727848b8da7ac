/**
 * Tables for the terminal. All functions are pure: they take values and return lines.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Style from "./Style.ts"
import * as Stacked from "./internal/stacked.ts"
import * as Text from "./internal/text.ts"

/**
 * A column of a table. If {@link render} shows each row as a block of lines, only `title`, `value` and `style` have an
 * effect.
 *
 * - `value`: the text of a cell. The text is not trusted: control characters are made visible.
 * - `align`: left by default.
 * - `below`: if the whole table does not fit into the terminal, the column has no cells. Instead, each text of the
 *   column that is not empty has its own lines below its row. These lines do not show the title of the column, so the
 *   text must be clear without the title.
 * - `keep`: the column is never made narrower than its title and its widest cell in the first rows, which decide the
 *   widths.
 * - `least`: the minimum width to which the column may be cut, in cells; 6 by default. The title is never cut.
 * - `optional`: in a narrow terminal, the column may be left out. A line below the table names each column that is left
 *   out.
 * - `rank`: the importance, 1 is the highest. The `optional` columns get space in the order of their importance, and a
 *   column that does not fit is left out. By default the rank is the position in the table, from 1.
 * - `short`: a shorter title and text, used if the whole table does not fit into the terminal.
 * - `wrap`: a text that is too wide is broken between words into several lines, and is not cut.
 * - `style`: the style of a cell, computed from the row and the text after cutting.
 *
 * @since 0.1.0
 * @category models
 */
export interface Column<in Row> {
  readonly title: string
  readonly value: (row: Row) => string
  readonly align?: "left" | "right" | undefined
  readonly below?: boolean | undefined
  readonly keep?: boolean | undefined
  readonly least?: number | undefined
  readonly optional?: boolean | undefined
  readonly rank?: number | undefined
  readonly short?: { readonly title: string; readonly value: (row: Row) => string } | undefined
  readonly wrap?: boolean | undefined
  readonly style?: ((text: string, row: Row, style: Style.Style) => string) | undefined
}

/**
 * Options for rendering a table.
 *
 * - `width`: the width of the terminal in cells. No line is wider than the terminal. Unlimited by default.
 * - `empty`: the line that is shown if there are no rows, `none` by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly width?: number | undefined
  readonly style?: Style.Style | undefined
  readonly empty?: string | undefined
}

const gap = "  "

/** The minimum width of a readable column, in cells. */
const readableCells = 6

/**
 * A column in the form that the table uses: full or short. `cell` returns the escaped text of a cell. `natural` is the
 * width of the widest text of the column (the title or a cell), and `least` is the minimum width of the column.
 */
interface Drawn<in Row> {
  readonly column: Column<Row>
  readonly rank: number
  readonly title: string
  readonly cell: (row: Row) => string
  readonly natural: number
  readonly least: number
}

const draw =
  <Row>(rows: ReadonlyArray<Row>, isShort: boolean) =>
  (column: Column<Row>, index: number): Drawn<Row> => {
    const { keep = false, least = readableCells, rank = index + 1, wrap = false } = column
    const { title, value } = (isShort ? column.short : undefined) ?? column
    const cell = (row: Row) => Printable.escape(value(row))
    const longestWord = (row: Row) =>
      cell(row)
        .split(" ")
        .reduce((most, word) => Math.max(most, Text.width(word)), 0)
    const word = wrap ? rows.reduce((most, row) => Math.max(most, longestWord(row)), 0) : 0
    const natural = rows.reduce((most, row) => Math.max(most, Text.width(cell(row))), Text.width(title))
    // The column is at least as wide as its title, because a user cannot understand a title that is cut.
    const readable = Math.min(natural, Math.max(least, word, Text.width(title)))
    return { column, rank, title, cell, natural, least: keep ? natural : readable }
  }

const gapsOf = (columns: ReadonlyArray<unknown>): number => gap.length * Math.max(0, columns.length - 1)

const widthOf = <Row>(columns: ReadonlyArray<Drawn<Row>>, cells: (column: Drawn<Row>) => number): number =>
  columns.reduce((sum, column) => sum + cells(column), gapsOf(columns))

/**
 * The columns whose minimum widths fit, in the order of the table: all columns that are not `optional`, and each
 * `optional` column that still fits, chosen in the order of importance. The result is undefined if the columns that are
 * not `optional` do not fit.
 */
const choose = <Row>(columns: ReadonlyArray<Drawn<Row>>, width: number): ReadonlyArray<Drawn<Row>> | undefined => {
  const byRank = columns.toSorted((one, other) => one.rank - other.rank)
  const chosen = new Set(byRank.filter(({ column }) => column.optional !== true))
  if (widthOf([...chosen], ({ least }) => least) > width) return undefined
  for (const column of byRank) {
    if (!chosen.has(column) && widthOf([...chosen, column], ({ least }) => least) <= width) chosen.add(column)
  }
  return columns.filter((column) => chosen.has(column))
}

/**
 * Makes columns narrower until the table fits: in each step, the widest column that can still shrink loses one terminal
 * cell.
 */
const shrink = <Row>(columns: ReadonlyArray<Drawn<Row>>, available: number): ReadonlyArray<number> => {
  const widths = columns.map(({ natural }) => Math.min(natural, available))
  const leasts = columns.map(({ least }) => Math.min(least, available))
  let excess = widths.reduce((sum, width) => sum + width, 0) - available
  while (excess > 0) {
    const giver = leasts.reduce((best, least, index) => {
      const width = widths[index] ?? 0
      return width > Math.max(least, widths[best] ?? 0) ? index : best
    }, -1)
    if (giver === -1) break
    widths[giver] = (widths[giver] ?? 1) - 1
    excess -= 1
  }
  return widths
}

/** Names the columns that did not fit into the terminal. */
const leftOut = <Row>(
  columns: ReadonlyArray<Drawn<Row>>,
  shown: ReadonlyArray<Drawn<Row>>,
  width: number
): ReadonlyArray<string> => {
  const titles = columns.filter((column) => !shown.includes(column)).map(({ title }) => title)
  const note = `not shown: ${titles.join(", ")} (use a wider terminal or --json)`
  return titles.length === 0 ? [] : Text.wrap(note, width, { breakWords: true })
}

/**
 * A table whose rows arrive in portions: its heading, the lines of some rows, and the lines after the last row.
 *
 * @since 0.1.0
 * @category models
 */
export interface Opened<in Row> {
  readonly head: ReadonlyArray<Style.Line>
  readonly rows: (rows: ReadonlyArray<Row>) => ReadonlyArray<Style.Line>
  readonly end: ReadonlyArray<Style.Line>
}

/**
 * The rows as blocks. A block has the title and the text of each cell, and ends with an empty line. An empty cell is
 * left out, except the first cell of a row whose cells are all empty.
 */
const stack = <Row>(columns: ReadonlyArray<Drawn<Row>>, { style = Style.plain, width }: Options): Opened<Row> => {
  const cells = columns.reduce((most, { title }) => Math.max(most, Text.width(title)), 0)
  return {
    head: [],
    rows: (rows) =>
      rows.flatMap((row) => [
        ...Stacked.render(
          columns
            .map(({ cell, column, title }) => ({
              name: title,
              text: cell(row),
              paint: (line: string) => column.style?.(line, row, style) ?? line
            }))
            .filter(
              ({ text }, index, pairs) => text !== "" || (index === 0 && pairs.every((pair) => pair.text === ""))
            ),
          { style, width, cells, breakWords: true }
        ),
        Style.blank
      ]),
    end: []
  }
}

/**
 * Chooses the columns and their widths from the first rows of a table. A text of a later row that is wider than its
 * column is cut, or is broken into several lines if the column has `wrap`.
 *
 * @since 0.1.0
 * @category formatting
 */
export const open = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  first: ReadonlyArray<Row>,
  options: Options = {}
): Opened<Row> => {
  const { style = Style.plain, width = Number.POSITIVE_INFINITY } = options
  const full = columns.map(draw(first, false))
  const isFull = widthOf(full, ({ natural }) => natural) <= width
  const chosen = isFull ? full : columns.map(draw(first, true))
  const below = chosen.filter(({ column }) => !isFull && column.below === true)
  const all = chosen.filter((one) => !below.includes(one))
  const shown = choose(all, width)
  if (shown === undefined) return stack(full, options)
  const widths = shrink(shown, width - gapsOf(shown))
  const total = widths.reduce((sum, cells) => sum + cells, gapsOf(shown))

  const linesOf = (
    textOf: (drawn: Drawn<Row>) => string,
    paint: (text: string, column: Column<Row>) => string
  ): ReadonlyArray<Style.Line> => {
    const cells = shown.map((drawn, index) => {
      const available = widths[index] ?? 0
      const wrapped = drawn.column.wrap === true ? Text.wrap(textOf(drawn), available) : [textOf(drawn)]
      return wrapped.map((text) => Text.truncate(text, available))
    })
    const height = cells.reduce((most, texts) => Math.max(most, texts.length), 1)
    return Array.from({ length: height }, (_, at) =>
      Style.toLine(
        shown
          .map(({ column }, index) =>
            Text.pad(paint(cells[index]?.[at] ?? "", column), widths[index] ?? 0, column.align ?? "left")
          )
          .join(gap)
          .trimEnd()
      )
    )
  }

  const linesBelow = (row: Row): ReadonlyArray<Style.Line> =>
    below.flatMap(({ cell, column }) =>
      cell(row) === ""
        ? []
        : Text.wrap(cell(row), width - gap.length, { breakWords: true }).map((line) =>
            Style.toLine(gap + (column.style?.(line, row, style) ?? line))
          )
    )

  return {
    head: [...linesOf(({ title }) => title, style.bold), Style.toLine(style.dim("─".repeat(total)))],
    rows: (rows) =>
      rows.flatMap((row) => [
        ...linesOf(
          ({ cell }) => cell(row),
          (text, column) => column.style?.(text, row, style) ?? text
        ),
        ...linesBelow(row)
      ]),
    end: leftOut(all, shown, width).map((text) => Style.toLine(style.dim(text)))
  }
}

/**
 * Renders rows under a heading. Columns are as wide as their content.
 *
 * **Details**
 *
 * If the table does not fit into the terminal, the columns with a short form use this form, and the texts of columns
 * with `below` are lines below their rows. Then the widest columns are made narrower, at most to their `least` width,
 * and texts that are cut end in `…`. If the table still does not fit, `optional` columns are left out, and a line below
 * the table names them. If the columns that are not `optional` do not fit either, each row is a block of lines with
 * full titles and texts, and each cell begins a new line.
 *
 * @example
 * Table.render([{ title: "Name", value: (file) => file.name }, { title: "Type", value: (file) => file.type }], files)
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  options: Options = {}
): ReadonlyArray<Style.Line> => {
  const { empty = "none", style = Style.plain, width = Number.POSITIVE_INFINITY } = options
  const table = open(columns, rows, options)
  if (rows.length === 0)
    return [...table.head, Style.toLine(style.dim(Text.truncate(Printable.escape(empty), width))), ...table.end]
  const body = table.rows(rows)
  // Without a heading, each row is a block of lines that ends with an empty line. The last empty line is removed.
  return table.head.length === 0 ? body.slice(0, -1) : [...table.head, ...body, ...table.end]
}
