/**
 * Tables for the terminal: values in, lines out. Pure.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Style from "./Style.ts"
import * as Text from "./internal/text.ts"

/**
 * - `value`: the text of a cell. It may come from anybody: control characters are made visible.
 * - `align`: left by default.
 * - `keep`: is never cut while another column could go, for what must be copied whole.
 * - `style`: how a cell is painted; it sees the row, and the text after cutting.
 */
export interface Column<in Row> {
  readonly title: string
  readonly value: (row: Row) => string
  readonly align?: "left" | "right" | undefined
  readonly keep?: boolean | undefined
  readonly style?: ((text: string, row: Row, style: Style.Style) => string) | undefined
}

/**
 * - `width`: the cells of the terminal; no line is longer. Unlimited by default.
 * - `empty`: the line in place of rows, `none` by default.
 */
export interface Options {
  readonly width?: number | undefined
  readonly style?: Style.Style | undefined
  readonly empty?: string | undefined
}

const gap = "  "

/** Narrower, a cut text says nothing. */
const readableCells = 6

/** What a column wants, and the least that it keeps. */
interface Share {
  readonly natural: number
  readonly least: number
}

/** The columns, from the first on, that can have their least; the first one whatever it gets. */
const fitting = (shares: ReadonlyArray<Share>, width: number): ReadonlyArray<Share> => {
  let room = width
  const count = shares.findIndex(({ least }, index) => {
    room -= index === 0 ? least : gap.length + least
    return room < 0
  })
  const fitted = count === -1 ? shares : shares.slice(0, Math.max(1, count))
  return fitted.map(({ least, natural }) => ({ natural: Math.min(natural, width), least: Math.min(least, width) }))
}

/** Takes one cell after the other from the widest column that may give one. */
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
 * Renders rows under a heading. Columns are as wide as they need; in a narrow terminal the widest ones give way first
 * and their texts end in `…`; where too little is left to read, the last columns go.
 *
 * @example
 * Table.render([{ title: "Name", value: (file) => file.name }, { title: "Type", value: (file) => file.type }], files)
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
