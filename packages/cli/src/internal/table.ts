/** Tables and lists of facts for the terminal. All functions are pure: they take values and return lines. */
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { DateTime, Predicate } from "./effect.ts"
import * as Text from "./text.ts"

/**
 * A column of a table.
 *
 * - `value`: the text of a cell. Its control characters are made visible.
 * - `exact`: the text for another program, if it is another one: a date instead of an age.
 * - `below`: each text of the column that is not empty has lines of its own below its row, without a title.
 * - `keep`: the texts of the column are never cut.
 * - `least`: the minimum width to which the column may be cut, 6 by default. The title is never cut.
 * - `optional`: in a narrow terminal, the column may be left out, the last one first. A line below the table names what
 *   is left out.
 * - `style`: the style of a cell, from the text after cutting and the row.
 */
export interface Column<in Row> {
  readonly title: string
  readonly value: (row: Row) => string
  readonly exact?: ((row: Row) => string) | undefined
  readonly align?: "left" | "right" | undefined
  readonly below?: boolean | undefined
  readonly keep?: boolean | undefined
  readonly least?: number | undefined
  readonly optional?: boolean | undefined
  readonly style?: ((text: string, row: Row, style: Text.Style) => string) | undefined
}

/** `width` is the width of the terminal in cells; it is undefined for another program. `empty` is shown if there are no rows. */
export interface Options {
  readonly width?: number | undefined
  readonly style?: Text.Style | undefined
  readonly empty?: string | undefined
}

/** Stands for a value that the service does not report. */
export const unknown = "–"

/** A value in words, or the mark of an unknown value. */
export const of = <A>(value: A | null | undefined, format: (value: A) => string): string =>
  value === null || value === undefined ? unknown : format(value)

/** A time to the minute, in UTC. */
export const minute = (moment: DateTime.DateTime | null | undefined): string => of(moment, Text.minute)

/** How long ago a moment was. */
export const age = (moment: DateTime.DateTime | null | undefined, now: DateTime.DateTime): string =>
  of(moment, (at) => Text.age(DateTime.distance(at, now)))

/** A column of times: ages, or dates for another program. */
export const timeColumn = <Row>(
  title: string,
  value: (row: Row) => DateTime.DateTime | null | undefined,
  now: DateTime.DateTime
): Column<Row> => ({ title, value: (row) => age(value(row), now), exact: (row) => minute(value(row)), keep: true })

/** A column of sizes. */
export const sizeColumn = <Row>(value: (row: Row) => number | bigint | null | undefined): Column<Row> => ({
  title: "Size",
  align: "right",
  value: (row) => bytes(value(row)),
  keep: true
})

/** A number of bytes. */
export const bytes = (value: number | bigint | null | undefined): string => of(value, Text.bytes)

/** A boolean as `yes` or `no`. */
export const flag = (value: boolean | undefined): string => of(value, (is) => (is ? "yes" : "no"))

/** A text, or the mark of an unknown value if the text is absent or empty. */
export const known = (value: string | null | undefined): string => value || unknown

/** A value of a record whose form the service does not document, as one line. */
export const json = (value: unknown): string => (Predicate.isString(value) ? value : (JSON.stringify(value) ?? unknown))

const gap = "  "

/** A column with the width of its widest text, and its minimum width. */
interface Drawn<in Row> extends Column<Row> {
  readonly natural: number
  readonly narrowest: number
}

const most = (numbers: ReadonlyArray<number>): number => numbers.reduce((one, other) => Math.max(one, other), 0)

const draw = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>) =>
  columns.map((column): Drawn<Row> => {
    const { keep = false, least = 6, title } = column
    const value = (row: Row) => Printable.escape(column.value(row))
    const texts = rows.map(value)
    const natural = most([title, ...texts].map(Text.width))
    // The column is at least as wide as its title, because a user cannot understand a title that is cut.
    const narrowest = keep ? natural : Math.min(natural, most([least, Text.width(title)]))
    return { ...column, value, natural, narrowest }
  })

const widthOf = (cells: ReadonlyArray<number>): number =>
  cells.reduce((all, one) => all + one, gap.length * Math.max(0, cells.length - 1))

/**
 * The columns whose minimum widths fit: all that are not optional, and each optional column that still fits. The result
 * is undefined if the columns that are not optional do not fit.
 */
const choose = <Row>(columns: ReadonlyArray<Drawn<Row>>, width: number): ReadonlyArray<Drawn<Row>> | undefined => {
  const fits = (some: ReadonlyArray<Drawn<Row>>) => widthOf(some.map(({ narrowest }) => narrowest)) <= width
  const required = columns.filter(({ optional }) => optional !== true)
  if (!fits(required)) return undefined
  const chosen = new Set(required)
  for (const column of columns) if (fits([...new Set(chosen).add(column)])) chosen.add(column)
  return columns.filter((column) => chosen.has(column))
}

/** The widths: in each step, the widest column that can still shrink loses one cell, until the table fits. */
const shrink = <Row>(columns: ReadonlyArray<Drawn<Row>>, width: number): ReadonlyArray<number> => {
  const widths = columns.map(({ natural }) => Math.min(natural, width))
  while (widthOf(widths) > width) {
    const widest = columns.reduce((best, { narrowest }, index) => {
      const cells = widths[index] ?? 0
      return cells > Math.max(narrowest, widths[best] ?? 0) ? index : best
    }, -1)
    if (widest === -1) break
    widths[widest] = (widths[widest] ?? 1) - 1
  }
  return widths
}

/** Breaks a text into lines that begin with `indent`. */
const indented = (text: string, width: number, indent: string = gap, style = (line: string) => line) =>
  Text.wrap(text, width - indent.length, { breakWords: true }).map((line) => Text.toLine(indent + style(line)))

/** Names the columns that are not shown. */
const noteOf = <Row>(
  hidden: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  width: number,
  style: Text.Style
): ReadonlyArray<Text.Line> => {
  const note = `not shown: ${hidden.map(({ title }) => title).join(", ")} (use a wider terminal or --json)`
  return hidden.length === 0 || rows.length === 0 ? [] : indented(note, width, "", style.dim)
}

/**
 * Each row as the text of its first column, with its title if there is room for it, and below it the titles and the texts
 * of the cells that say something. A column that is optional is left out if one of its texts is wider than a line.
 */
const blocks = <Row>(
  [first, ...all]: ReadonlyArray<Drawn<Row>>,
  rows: ReadonlyArray<Row>,
  width: number,
  style: Text.Style
) => {
  const indent = width < 12 ? "" : gap
  const label =
    first !== undefined && widthOf([first.natural, Text.width(first.title)]) < width ? `${first.title} ` : ""
  const others = all.filter(({ natural, optional }) => optional !== true || natural <= width - indent.length)
  const linesOf = (row: Row) => {
    const filled = others.filter(({ value }) => value(row) !== "" && value(row) !== unknown)
    const rest = filled.map(({ title, value }) => Text.unbroken(`${title} ${value(row)},`, width - indent.length))
    return [
      ...indented(label + (first?.value(row) || unknown), width, ""),
      ...(rest.length === 0 ? [] : indented(rest.join(" ").replace(/,$/, ""), width, indent))
    ]
  }
  const hidden = all.filter((column) => !others.includes(column))
  return { head: [], body: rows.flatMap(linesOf), end: noteOf(hidden, rows, width, style) }
}

/** The lines of a table: its heading, its rows, and what is not shown. */
const arrange = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>, options: Options) => {
  const { style = Text.plain, width = Number.POSITIVE_INFINITY } = options
  const all = draw(columns, rows)
  const [below, beside] = [all.filter((one) => one.below === true), all.filter((one) => one.below !== true)]
  const shown = choose(beside, width)
  if (shown === undefined) return blocks(all, rows, width, style)
  const widths = shrink(shown, width)

  const lineOf = (textOf: (column: Drawn<Row>) => string, paint: (text: string, column: Column<Row>) => string) => {
    const cells = shown.map((column, index) => {
      const room = widths[index] ?? 0
      return Text.pad(paint(Text.truncate(textOf(column), room), column), room, column.align ?? "left")
    })
    return Text.toLine(cells.join(gap).trimEnd())
  }
  const body = rows.flatMap((row) => {
    const paint = (text: string, column: Column<Row>) => column.style?.(text, row, style) ?? text
    const texts = below.filter(({ value }) => value(row) !== "")
    return [
      lineOf(({ value }) => value(row), paint),
      ...texts.flatMap((column) => indented(column.value(row), width, gap, (line) => paint(line, column)))
    ]
  })
  const hidden = beside.filter((column) => !shown.includes(column))
  return {
    head: [lineOf(({ title }) => title, style.bold), Text.toLine(style.dim("─".repeat(widthOf(widths))))],
    body,
    end: noteOf(hidden, rows, width, style)
  }
}

/** The rows for another program: the texts of all columns between tabs. An unknown value is empty. */
const separated = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>): ReadonlyArray<Text.Line> => {
  const fieldOf = (text: string) => (text === unknown ? "" : Printable.escape(text))
  return rows.map((row) => Text.toLine(columns.map(({ exact, value }) => fieldOf((exact ?? value)(row))).join("\t")))
}

/** Makes a function that renders a further part of a list. A part whose columns have other widths has a heading too. */
export const makeParts = <Row>(columns: ReadonlyArray<Column<Row>>, options: Options) => {
  let last = ""
  return (rows: ReadonlyArray<Row>) => {
    if (options.width === undefined) return { lines: separated(columns, rows), end: [] }
    const { body, end, head } = arrange(columns, rows, options)
    const heading = head.join("\n")
    const isSame = heading === last
    last = heading
    return { lines: isSame ? body : [...head, ...body], end }
  }
}

/**
 * Renders rows: for another program with tabs and without a heading, or under a heading. Columns are as wide as their
 * content. If the table does not fit, the widest columns are made narrower, and `optional` columns are left out. If the
 * others do not fit either, each row is a block of lines with whole texts.
 */
export const render = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  options: Options
): ReadonlyArray<Text.Line> => {
  const { empty = "none", style = Text.plain, width = 0 } = options
  const { end, lines } = makeParts(columns, options)(rows)
  const isEmpty = rows.length === 0 && options.width !== undefined
  const none = isEmpty ? [Text.toLine(style.dim(Text.truncate(Printable.escape(empty), width)))] : []
  return [...lines, ...none, ...end]
}

/** The name of a value, its text, and what matches the commands to paste in the text. */
export type Fact = readonly [name: string, value: string | null | undefined, whole?: RegExp]

/**
 * Renders each fact that has a text. The texts begin in the same column, and are never cut, because users copy them. If a
 * word of a text, such as an id, does not fit beside the name, the text is below the name. A command is never wrapped, and
 * a text that is only a command is always beside its name.
 */
export const facts = (all: ReadonlyArray<Fact>, options: Options = {}): ReadonlyArray<Text.Line> => {
  const { style = Text.plain, width = Number.POSITIVE_INFINITY } = options
  const shown = all.filter(([, value]) => value !== null && value !== undefined)
  const cells = most(shown.map(([name]) => Text.width(name)))
  const beside = cells + gap.length
  const lines = shown.flatMap(([name, value, whole]) => {
    const text = Printable.escape(value ?? "")
    const [first = "", ...others] = Text.wrap(text, width - beside, { whole })
    const isOnlyCommand = whole !== undefined && others.length === 0
    if (isOnlyCommand || [first, ...others].every((line) => beside + Text.width(line) <= width)) {
      const head = `${style.bold(Text.pad(name, cells, "left"))}${gap}${first}`.trimEnd()
      return [head].concat(others.map((line) => " ".repeat(beside) + line))
    }
    const indent = width < 12 ? "" : gap
    const below = Text.wrap(text, width - indent.length, { whole }).map((line) => indent + line)
    return name === "" ? below : Text.wrap(name, width).map(style.bold).concat(below)
  })
  return lines.map(Text.toLine)
}
