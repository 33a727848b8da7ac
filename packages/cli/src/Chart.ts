/**
 * Bar charts of a time series for the terminal. All functions are pure: they take points and return lines.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import type * as DateTime from "effect/DateTime"
import * as Text from "./internal/text.ts"
import * as Style from "./Style.ts"
import * as TimeAxis from "./TimeAxis.ts"

/**
 * The value of the time bucket that starts at `at`. A chart leaves out values that are negative or not finite.
 *
 * @since 0.1.0
 * @category models
 */
export interface Point {
  readonly at: DateTime.DateTime
  readonly value: number
}

/**
 * A time series and how it is shown.
 *
 * - `title`: the heading.
 * - `format`: formats a value with its unit.
 * - `colour`: the colour of the bars.
 *
 * @since 0.1.0
 * @category models
 */
export interface Series {
  readonly title: string
  readonly points: ReadonlyArray<Point>
  readonly format: (value: number) => string
  readonly colour: keyof Style.Style
}

/**
 * - `from`, `to`: the window to show, in milliseconds since 1970. The right end of the axis is labelled `now`.
 * - `granularity`: the length of the time bucket of one point, in milliseconds.
 * - `width`: the width of the terminal in cells, 80 by default. No line is wider than the terminal.
 * - `height`: the height of the tallest bar in rows, 4 by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly from: number
  readonly to: number
  readonly granularity: number
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly style?: Style.Style | undefined
}

const blocks = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const
const full = blocks.length - 1
const maxBarCells = 6

/** The minimum number of cells to the right of the labels: for a space, the y axis and the plot. */
const minPlotCells = 12

/** The time axis that all charts share, and the widths of the y axis labels, of the plot and of one bar in cells. */
interface Frame {
  readonly axis: TimeAxis.TimeAxis
  readonly labelCells: number
  readonly plotCells: number
  readonly barCells: number
}

const usable = ({ points }: Series): ReadonlyArray<Point> =>
  points.filter(({ value }) => Number.isFinite(value) && value >= 0)

const most = (values: ReadonlyArray<number>): number => values.reduce((max, value) => Math.max(max, value), 0)

/**
 * A frame with `wanted` cells for the labels of the y axis. If these labels would leave fewer than `minPlotCells`
 * cells, the charts have no y axis, and `labelCells` is 0.
 */
const frameOf = (options: Options, wanted: number): Frame => {
  const { from, granularity, to, width = 80 } = options
  const labelCells = wanted + minPlotCells <= width ? wanted : 0
  const plotCells = Math.max(1, labelCells === 0 ? width : width - labelCells - 2)
  const axis = TimeAxis.make({ from, to, granularity, maxBars: plotCells })
  return { axis, labelCells, plotCells, barCells: Math.min(maxBarCells, Math.floor(plotCells / axis.bars)) }
}

/**
 * The frame of all charts. The labels change the width of the plot, the width changes the sums of the bars, and the
 * sums change the labels. Therefore the loop makes frames with wider and wider labels until all labels fit. The loop
 * also ends if the labels leave too few cells for the plot. Then the charts have no y axis.
 */
const frame = (all: ReadonlyArray<Series>, options: Options): Frame => {
  const widest = ({ axis }: Frame): number =>
    most(
      all.flatMap((series) =>
        [most(TimeAxis.sums(axis, usable(series))), 0].map((value) => Text.width(series.format(value)))
      )
    )
  let found = frameOf(options, 1)
  while (found.labelCells > 0 && widest(found) > found.labelCells) found = frameOf(options, widest(found))
  return found
}

/** The character in one row of a bar that is `eighths` eighths of a row high. */
const cell = (eighths: number, row: number): string => blocks[Math.min(full, Math.max(0, eighths - row * full))] ?? " "

/** The height of a bar in eighths of a row. A value above zero is at least one eighth high, so that it is visible. */
const toEighths = (value: number, max: number, height: number): number =>
  value === 0 ? 0 : Math.max(1, Math.round((value / max) * height * full))

/** The number of cells of the longest label of a tick and of the gap after this label. */
const tickCells = 7

const now = "now"

/** The x axis with its ticks, and the labels below it. The first character of a label is below its tick. */
const footer = ({ axis, barCells, plotCells }: Frame): readonly [line: string, labels: string] => {
  const cells = axis.bars * barCells
  const line = Array.from("─".repeat(cells))
  let labels = ""
  for (const { index, label } of TimeAxis.ticks(axis, Math.ceil(tickCells / barCells))) {
    const at = index * barCells
    const free = Math.max(cells, now.length) - now.length - 1
    if (at + label.length > free || (labels !== "" && at < labels.length + 1)) continue
    line[at] = "┬"
    labels = labels.padEnd(at) + label
  }
  const end = Math.max(cells, labels === "" ? now.length : labels.length + 1 + now.length)
  return [line.join(""), Text.truncate(labels + Text.pad(now, end - labels.length, "right"), plotCells)]
}

const draw = (
  series: Series,
  { axis, barCells, labelCells, ...rest }: Frame,
  options: Options
): ReadonlyArray<string> => {
  const { height = 4, style = Style.plain } = options
  const values = TimeAxis.sums(axis, usable(series))
  const max = most(values)
  const inkCells = barCells > 2 ? barCells - 1 : barCells
  const left = (text: string, line: string) =>
    labelCells === 0 ? "" : `${Text.pad(Text.truncate(text, labelCells), labelCells, "right")} ${line}`

  const rows = Array.from({ length: height }, (_, index) => {
    const row = height - 1 - index
    const bars = values.map((value) =>
      Text.pad(cell(toEighths(value, max, height), row).repeat(inkCells), barCells, "left")
    )
    return left(index === 0 ? series.format(max) : "", "│") + style[series.colour](bars.join("").trimEnd())
  })
  const [line, labels] = footer({ axis, barCells, labelCells, ...rest })
  return [...rows, left(series.format(0), "└") + line, left("", " ") + style.dim(labels)].map((text) => text.trimEnd())
}

/**
 * Renders time series as charts with the same time axis. The y axis of each chart shows 0 and the value of the tallest
 * bar. The x axis has ticks at calendar times, and its right end is labelled `now`. Points that share a bar are added
 * up, so the values must be counts or sizes, not averages. A series that has no value above 0 on the time axis is one
 * line of text instead of a chart, such as `Failed: none`.
 *
 * @example
 * Chart.render([{ title: "Failed", points, format: Format.count, colour: "red" }], { from, to, granularity: 3_600_000 })
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (all: ReadonlyArray<Series>, options: Options): ReadonlyArray<Style.Line> => {
  const { style = Style.plain, width = 80 } = options
  const shared = frame(all, options)
  const { name } = shared.axis
  return all
    .flatMap((series, index) => {
      const above = index === 0 ? [] : [""]
      const title = Printable.escape(series.title)
      if (most(TimeAxis.sums(shared.axis, usable(series))) === 0) {
        return [...above, style.bold(Text.truncate(`${title}: none`, width))]
      }
      const heading = style.bold(Text.truncate(`${title} per ${name} (UTC)`, width))
      return [...above, heading, ...draw(series, shared, options)]
    })
    .map(Style.toLine)
}
