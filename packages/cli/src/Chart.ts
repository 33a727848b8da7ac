/**
 * Bar charts of a time series for the terminal. Pure: takes points and returns lines.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Text from "./internal/text.ts"
import * as Format from "./Format.ts"
import * as Style from "./Style.ts"

/**
 * The value of the bucket that starts at `at`. Negative and infinite values are left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Point {
  readonly at: DateTime.DateTime
  readonly value: number
}

/**
 * Options for rendering a chart.
 *
 * - `title`: the heading. ` per <duration of one bar>` is appended.
 * - `format`: formats a value with its unit.
 * - `bucket`: the duration of the bucket of one point.
 * - `from`, `to`: the window to show, by default from the first to the last point. Points outside are left out.
 * - `width`: the width of the terminal in cells, 80 by default. No line is longer.
 * - `height`: the height of the tallest bar in rows, 8 by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly title: string
  readonly format: (value: number) => string
  readonly bucket: Duration.Input
  readonly from?: DateTime.DateTime | undefined
  readonly to?: DateTime.DateTime | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly style?: Style.Style | undefined
}

const blocks = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const
const full = blocks.length - 1
const maxBarCells = 6

/** A narrower plot has no space for its labels. */
const minPlotCells = 12

/** The x axis: `bars` bars of `step` milliseconds each. */
interface Axis {
  readonly start: number
  readonly step: number
  readonly bars: number
}

/** Adds buckets together until a bar is at least one cell wide. A bar is always a whole number of buckets. */
const makeAxis = (points: ReadonlyArray<Point>, options: Options, cells: number): Axis => {
  const bucket = Math.max(1, Duration.toMillis(options.bucket))
  const times = points.map(({ at }) => at.epochMilliseconds)
  const earliest = times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY)
  const latest = times.reduce((last, time) => Math.max(last, time), Number.NEGATIVE_INFINITY)
  // Buckets start at multiples of their length. A window that starts inside a bucket shows the whole bucket.
  const start = Math.floor((options.from?.epochMilliseconds ?? earliest) / bucket) * bucket
  const end = Math.max(start, options.to?.epochMilliseconds ?? latest)
  const buckets = Math.floor((end - start) / bucket) + 1
  const merged = Math.ceil(buckets / cells)
  return { start, step: bucket * merged, bars: Math.ceil(buckets / merged) }
}

/** The bars to draw, and the widths of the labels and of the plot. A narrow plot has no labels on the y axis. */
interface Plot {
  readonly axis: Axis
  readonly values: ReadonlyArray<number>
  readonly max: number
  readonly labelCells: number
  readonly plotCells: number
}

const plot = (points: ReadonlyArray<Point>, options: Options, width: number, wantedLabelCells: number): Plot => {
  const labelCells = wantedLabelCells + minPlotCells <= width ? wantedLabelCells : 0
  const plotCells = Math.max(1, labelCells === 0 ? width : width - labelCells - 2)
  const axis = makeAxis(points, options, plotCells)
  const values = Array.from({ length: axis.bars }, () => 0)
  for (const { at, value } of points) {
    const index = Math.floor((at.epochMilliseconds - axis.start) / axis.step)
    const sum = values[index]
    if (sum !== undefined) values[index] = sum + value
  }
  return { axis, values, max: values.reduce((most, value) => Math.max(most, value), 0), labelCells, plotCells }
}

/** The character in one row of a bar that is `eighths` eighths of a row high. */
const cell = (eighths: number, row: number): string => blocks[Math.min(full, Math.max(0, eighths - row * full))] ?? " "

/** The height of a bar in eighths of a row. Every value except zero is visible. */
const toEighths = (value: number, max: number, height: number): number =>
  value === 0 ? 0 : Math.max(1, Math.round((value / max) * height * full))

/**
 * Formats a time without seconds. Returns an empty text for a time after the largest date, where the last bar may end.
 */
const minute = (millis: number): string =>
  Option.match(DateTime.make(millis), { onNone: () => "", onSome: (moment) => Format.date(moment).slice(0, 16) })

/** The labels of the x axis: the start on the left and, if there is space, the end on the right. */
const timeLabels = ({ axis, plotCells }: Plot, axisCells: number): string => {
  const start = minute(axis.start)
  const end = `${minute(axis.start + axis.step * axis.bars)} UTC`
  const cells = Math.max(axisCells, start.length + end.length + 3)
  return cells <= plotCells
    ? start + Text.pad(end, cells - start.length, "right")
    : Text.truncate(`${start} UTC`, plotCells)
}

const draw = (drawn: Plot, options: Options): ReadonlyArray<string> => {
  const { height = 8, style = Style.plain } = options
  const { axis, labelCells, max, plotCells, values } = drawn
  const barCells = Math.min(maxBarCells, Math.floor(plotCells / axis.bars))
  const inkCells = barCells > 2 ? barCells - 1 : barCells
  const left = (text: string, line: string) =>
    labelCells === 0 ? "" : `${Text.pad(Text.truncate(text, labelCells), labelCells, "right")} ${line}`

  const rows = Array.from({ length: height }, (_, index) => {
    const row = height - 1 - index
    const bars = values.map((value) =>
      Text.pad(cell(toEighths(value, max, height), row).repeat(inkCells), barCells, "left")
    )
    return left(index === 0 ? options.format(max) : "", "│") + style.cyan(bars.join("").trimEnd())
  })
  const axisCells = axis.bars * barCells
  return [
    ...rows,
    left(options.format(0), "└") + "─".repeat(axisCells),
    left("", " ") + style.dim(timeLabels(drawn, axisCells))
  ].map((line) => line.trimEnd())
}

/**
 * Renders a time series as bars. The y axis shows the largest value, and the x axis shows the start and the end. Points
 * that share a bar are added up, so the values must be counts or sizes, not averages.
 *
 * @example
 * Chart.render(points, { title: "Assemblies", format: Format.count, bucket: "1 hour", width: 80 })
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (points: ReadonlyArray<Point>, options: Options): ReadonlyArray<Style.Line> => {
  const { style = Style.plain, width = 80 } = options
  const heading = (text: string) => style.bold(Text.truncate(Printable.escape(text), width))
  const labelCells = (value: number) => Text.width(options.format(value))

  const nothing = [heading(options.title), style.dim(Text.truncate("no data in this period", width))]
  const usable = points.filter(({ value }) => Number.isFinite(value) && value >= 0)
  if (usable.length === 0) return nothing.map(Style.toLine)

  // The label of the largest sum changes the width of the plot, and the width changes the sums. Therefore a first plot
  // measures the label.
  const total = usable.reduce((sum, { value }) => sum + value, 0)
  const draft = plot(usable, options, width, labelCells(total))
  if (draft.max === 0) return nothing.map(Style.toLine)
  const drawn = plot(usable, options, width, Math.max(labelCells(draft.max), labelCells(0)))
  return [heading(`${options.title} per ${Format.duration(drawn.axis.step)}`), ...draw(drawn, options)].map(
    Style.toLine
  )
}
