/**
 * Tables for the terminal. Pure: takes values and returns lines.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Style from "./Style.ts"
import * as Text from "./internal/text.ts"

/**
 * A column of a table.
 *
 * - `value`: the text of a cell. The text is not trusted: control characters are made visible.
 * - `align`: left by default.
 * - `keep`: the column is cut last, because users copy its values as a whole.
 * - `style`: the style of a cell, computed from the row and the text after cutting.
 *
 * @since 0.1.0
 * @category models
 */
export interface Column<in Row> {
  readonly title: string
  readonly value: (row: Row) => string
  readonly align?: "left" | "right" | undefined
  readonly keep?: boolean | undefined
  readonly style?: ((text: string, row: Row, style: Style.Style) => string) | undefined
}

/**
 * Options for rendering a table.
 *
 * - `width`: the width of the terminal in cells. No line is longer. Unlimited by default.
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

/** The preferred and the minimum width of a column. */
interface Share {
  readonly natural: number
  readonly least: number
}

/** The leading columns whose minimum widths fit. The first column is always included. */
const fitting = (shares: ReadonlyArray<Share>, width: number): ReadonlyArray<Share> => {
  let room = width
  const count = shares.findIndex(({ least }, index) => {
    room -= index === 0 ? least : gap.length + least
    return room < 0
  })
  const fitted = count === -1 ? shares : shares.slice(0, Math.max(1, count))
  return fitted.map(({ least, natural }) => ({ natural: Math.min(natural, width), least: Math.min(least, width) }))
}

/** Removes cells one by one, each from the widest column that can still shrink. */
const shrink = (shares: ReadonlyArray<Share>, available: number): ReadonlyArray<number> => {
  const widths = shares.map(({ natural }) => natural)
  let excess = widths.reduce((sum, width) => sum + width, 0) - available
  while (excess > 0) {
    const giver = shares.reduce((best, { least }, index) => {
      const width = widths[index] ?? 0
      return width > Math.max(least, widths[best] ?? 0) ? index : best
    }, -1)
    if (giver === -1) break
    widths[giver] = (widths[giver] ?? 1) - 1
    excess -= 1
  }
  return widths
}

/**
 * Renders rows under a heading. Columns are as wide as their content. In a narrow terminal the widest columns shrink
 * first, and their texts end in `…`. If a column would be too narrow to read, the last columns are left out.
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
  const cells = rows.map((row) => columns.map((column) => Printable.escape(column.value(row))))
  const wanted = columns.map(({ keep = false, title }, index): Share => {
    const natural = cells.reduce((most, row) => Math.max(most, Text.width(row[index] ?? "")), Text.width(title))
    return { natural, least: keep ? natural : Math.min(natural, readableCells) }
  })
  const shares = fitting(wanted, width)
  const shown = columns.slice(0, shares.length)
  const gaps = gap.length * Math.max(0, shares.length - 1)
  const widths = shrink(shares, width - gaps)
  const total = widths.reduce((sum, columnCells) => sum + columnCells, gaps)

  const line = (texts: ReadonlyArray<string>, paint: (text: string, column: Column<Row>) => string): string =>
    shown
      .map((column, index) => {
        const available = widths[index] ?? 0
        const text = Text.truncate(texts[index] ?? "", available)
        return Text.pad(paint(text, column), available, column.align ?? "left")
      })
      .join(gap)
      .trimEnd()

  const titles = columns.map(({ title }) => title)
  return [
    line(titles, style.bold),
    style.dim("─".repeat(total)),
    ...(rows.length === 0 ? [style.dim(Text.truncate(empty, width))] : []),
    ...rows.map((row, index) => line(cells[index] ?? [], (text, column) => column.style?.(text, row, style) ?? text))
  ].map(Style.toLine)
}
