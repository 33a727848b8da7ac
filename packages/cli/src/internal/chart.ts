/** Bar charts of time series, for the terminal and as a picture (SVG). All functions are pure, and use UTC. */
import { DateTime, Option } from "./effect.ts"
import * as Text from "./text.ts"
import * as Printable from "@assembly-effect/schema/unstable/Printable"

/** The window to show, and the length of a bucket of the data in milliseconds. A step is a whole number of buckets. */
export interface Window {
  readonly from: number
  readonly to: number
  readonly granularity: number
}

const [minute, hour, day, week] = [60_000, 60 * 60_000, 24 * 60 * 60_000, 7 * 24 * 60 * 60_000]

/**
 * The calendar steps. With a step of another length, such as 10 hours, the bars of data with a daily rhythm would show
 * a pattern that the data does not have.
 */
const steps: ReadonlyArray<readonly [millis: number, name: string]> = [
  [minute, "minute"],
  [5 * minute, "5 minutes"],
  [15 * minute, "15 minutes"],
  [hour, "hour"],
  [6 * hour, "6 hours"],
  [day, "day"],
  [week, "week"]
]

/** Weeks start on Mondays, such as 5 January 1970; the other steps start at multiples of their length since 1970. */
const floor = (time: number, step: number): number => {
  const offset = step % week === 0 ? 4 * day : 0
  return Math.floor((time - offset) / step) * step + offset
}

/**
 * Makes the bars of an axis. The first bar starts at `start`, and each bar lasts `step`. The axis ends at `end`, so the
 * last bar may be shorter than its step. Times are in milliseconds since 1970. `name` is the step in words.
 *
 * Chooses the smallest calendar step whose bars fit. If no calendar step fits, a bar lasts several weeks. If no
 * calendar step is a whole number of buckets, a bar lasts one bucket or several buckets.
 */
export const make = ({ from, granularity, to }: Window, maxBars: number) => {
  const bucket = Math.max(1, granularity)
  const end = Math.max(from, to)
  const usable = steps.filter(([millis]) => millis % bucket === 0)
  const [base, word] = usable.at(-1) ?? [bucket, ""]
  const barsOf = (step: number, start: number) => Math.floor((end - start) / step) + 1
  for (const [step, name] of usable) {
    const start = floor(from, step)
    if (barsOf(step, start) <= maxBars) return { start, step, bars: barsOf(step, start), end, name }
  }
  const start = floor(from, base)
  const count = Math.ceil(barsOf(base, start) / Math.max(1, maxBars))
  const step = base * count
  return { start, step, bars: barsOf(step, start), end, name: word === "week" ? `${count} weeks` : Text.duration(step) }
}

export type TimeAxis = ReturnType<typeof make>

/** A value at a time. */
export interface Point {
  readonly at: DateTime.DateTime
  readonly value: number
}

/** The sum of the values in each bar, without values outside of the axis and values that are no counts or sizes. */
export const sums = (axis: TimeAxis, points: ReadonlyArray<Point>): ReadonlyArray<number> => {
  const values = Array.from({ length: axis.bars }, () => 0)
  for (const { at, value } of points) {
    const index = Math.floor((at.epochMilliseconds - axis.start) / axis.step)
    const sum = values[index]
    if (sum !== undefined && Number.isFinite(value) && value >= 0) values[index] = sum + value
  }
  return values
}

/** The possible distances between two ticks. */
const tickSteps = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60]
  .map((minutes) => minutes * minute)
  .concat([1, 2, 7, 14, 28, 84].map((days) => days * day))

/** A time as a date such as `Nov 16`, or as a clock such as `14:00`. It is empty if the time is no valid date. */
const labelOf = (time: number, isDate: boolean): string =>
  Option.match(DateTime.make(time), {
    onNone: () => "",
    onSome: (moment) =>
      isDate
        ? DateTime.formatUtc(moment, { locale: "en-US", month: "short", day: "numeric" })
        : Text.date(moment).slice(11, 16)
  })

/** Ticks at calendar times, at least `minBars` bars apart. If the axis has no such tick, it has one tick at its start. */
export const ticks = (axis: TimeAxis, minBars: number) => {
  const distance = tickSteps.find((tick) => tick % axis.step === 0 && tick / axis.step >= minBars)
  const all = Array.from({ length: axis.bars }, (_, index) => {
    const time = axis.start + index * axis.step
    return { index, time, label: labelOf(time, floor(time, day) === time) }
  })
  const found = all.filter(({ time }) => distance !== undefined && floor(time, distance) === time)
  return (found.length === 0 ? all.slice(0, 1) : found).map(({ index, label }) => ({ index, label }))
}

/** The colours of the series in the terminal. */
const tones = { completed: "green", failed: "red", canceled: "yellow", unfinished: "cyan", bytes: "cyan" } as const

/** The colours of the picture in light and dark, also for the page around it. */
const palette: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  ground: ["#ffffff", "#0d1117"],
  text: ["#1f2328", "#e6edf3"],
  soft: ["#57606a", "#9da7b3"],
  grid: ["#d8dee4", "#2a313a"],
  completed: ["#1a7f37", "#3fb950"],
  failed: ["#cf222e", "#ff7b72"],
  canceled: ["#bf8700", "#d29922"],
  unfinished: ["#8c959f", "#6e7681"],
  bytes: ["#0969da", "#58a6ff"]
}

/** A time series. Points that share a bar are added up, so the values must be counts or sizes, not averages. */
export interface Series {
  readonly name: string
  readonly tone: keyof typeof tones
  readonly format: (value: number) => string
  readonly points: ReadonlyArray<Point>
}

const drawnIn = (all: ReadonlyArray<Series>, axis: TimeAxis) =>
  all.map((series) => ({ ...series, values: sums(axis, series.points) }))

type Drawn = ReturnType<typeof drawnIn>[number]

/** The heading of a series; a series without a value above 0 is only this line, such as `Failed: none`. */
const headingOf = ({ name, values }: Drawn, axis: TimeAxis): string =>
  most(values) === 0 ? `${Printable.escape(name)}: none` : `${Printable.escape(name)} per ${axis.name} (UTC)`

const most = (values: ReadonlyArray<number>): number => values.reduce((one, other) => Math.max(one, other), 0)

const blocks = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const
const full = blocks.length - 1
const height = 4
const maxBarCells = 6

/** The minimum number of cells to the right of the labels: for a space, the y axis and the plot. */
const minPlotCells = 12

/**
 * The time axis that all charts share, and the widths of the labels of the y axis, of the plot and of one bar in cells.
 * There is no y axis if the plot would be too narrow.
 */
const frameOf = (window: Window, width: number, wanted: number) => {
  const labelCells = wanted + minPlotCells <= width ? wanted : 0
  const plotCells = Math.max(1, labelCells === 0 ? width : width - labelCells - 2)
  const axis = make(window, plotCells)
  return { axis, labelCells, plotCells, barCells: Math.min(maxBarCells, Math.floor(plotCells / axis.bars)) }
}

type Frame = ReturnType<typeof frameOf>

/** The x axis with its ticks, and the labels below it. The first character of a label is below its tick. */
const footer = ({ axis, barCells, plotCells }: Frame): readonly [line: string, labels: string] => {
  const now = "now"
  const cells = axis.bars * barCells
  const line = Array.from("─".repeat(cells))
  let labels = ""
  // The longest label of a tick and the gap after it have 7 cells.
  for (const { index, label } of ticks(axis, Math.ceil(7 / barCells))) {
    const at = index * barCells
    const free = Math.max(cells, now.length) - now.length - 1
    if (at + label.length > free || (labels !== "" && at < labels.length + 1)) continue
    line[at] = "┬"
    labels = labels.padEnd(at) + label
  }
  const end = Math.max(cells, labels === "" ? now.length : labels.length + 1 + now.length)
  return [line.join(""), Text.truncate(labels + now.padStart(end - labels.length), plotCells)]
}

const draw = ({ format, tone, values }: Drawn, frame: Frame, style: Text.Style): ReadonlyArray<string> => {
  const { barCells, labelCells } = frame
  const max = most(values)
  const inkCells = barCells > 2 ? barCells - 1 : barCells
  const left = (text: string, line: string) =>
    labelCells === 0 ? "" : `${Text.pad(Text.truncate(text, labelCells), labelCells, "right")} ${line}`
  const rows = Array.from({ length: height }, (_, index) => {
    const bars = values.map((value) => {
      // A value above zero is at least one eighth of a row high, so that it is visible.
      const eighths = value === 0 ? 0 : Math.max(1, Math.round((value / max) * height * full))
      const block = blocks[Math.min(full, Math.max(0, eighths - (height - 1 - index) * full))] ?? " "
      return block.repeat(inkCells).padEnd(barCells)
    })
    return left(index === 0 ? format(max) : "", "│") + style[tones[tone]](bars.join("").trimEnd())
  })
  const [line, labels] = footer(frame)
  return [...rows, left(format(0), "└") + line, left("", " ") + style.dim(labels)].map((text) => text.trimEnd())
}

/**
 * Renders each series as a chart; all have the same time axis. The y axis shows 0 and the value of the tallest bar, the
 * x axis has ticks at calendar times, and its right end is labelled `now`.
 */
export const terminal = (
  all: ReadonlyArray<Series>,
  window: Window,
  { style = Text.plain, width = 80 }: { readonly style?: Text.Style | undefined; readonly width?: number | undefined }
): ReadonlyArray<Text.Line> => {
  const widest = ({ axis }: Frame) =>
    most(
      drawnIn(all, axis).flatMap(({ format, values }) => [most(values), 0].map((value) => Text.width(format(value))))
    )
  // The labels change the width of the plot, the width changes the sums of the bars, and the sums change the labels. So
  // the labels get wider and wider until all fit, or until they leave too few cells for the plot.
  let frame = frameOf(window, width, 1)
  while (frame.labelCells > 0 && widest(frame) > frame.labelCells) frame = frameOf(window, width, widest(frame))
  return drawnIn(all, frame.axis)
    .flatMap((one, index) => {
      const heading = style.bold(Text.truncate(headingOf(one, frame.axis), width))
      return (index === 0 ? [] : [""]).concat(heading, most(one.values) === 0 ? [] : draw(one, frame, style))
    })
    .map(Text.toLine)
}

/** Escapes a text for XML. XML has no form for control characters, so they are made visible. */
export const escape = (text: string): string =>
  Printable.escape(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")

const coloursOf = (mode: 0 | 1): string =>
  Object.entries(palette)
    .map(([name, colours]) => `--${name}: ${colours[mode]}`)
    .join("; ")

const css = `
:root, svg { ${coloursOf(0)} }
@media (prefers-color-scheme: dark) { :root, svg { ${coloursOf(1)} } }
text { font: 13px system-ui, sans-serif; fill: var(--text) }
.title { font-size: 16px; font-weight: 600 }
.soft { fill: var(--soft) }
line { stroke: var(--soft) }
.grid { stroke: var(--grid) }
`

const round = (value: number): number => Math.round(value * 100) / 100

/** The width of the picture, the height of one chart, the ends of its plot, and the spaces beside it. */
const wide = 760
const tall = 190
const [top, bottom] = [42, 142]
const [left, right] = [84, 16]
const edge = wide - right

/** An upper estimate of the width of one character of a label. */
const charWidth = 7.2

const line = (kind: string, [x1, y1, x2, y2]: readonly [number, number, number, number]): string =>
  `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`

const label = (text: string, at: string): string => `<text class="soft" ${at}>${escape(text)}</text>`

/** The plot of one series as SVG. The axis ends at the right end, so the last bar may be narrower than the others. */
const plot = ({ format, tone, values }: Drawn, axis: TimeAxis): ReadonlyArray<string> => {
  const max = most(values)
  const scale = (edge - left) / Math.max(1, axis.end - axis.start)
  const timeOf = (index: number): number => Math.min(axis.end, axis.start + index * axis.step)
  const across = (index: number): number => left + (timeOf(index) - axis.start) * scale
  const bar = across(1) - left
  const rows = [[top, max, "grid"] as const, [bottom, 0, "axis"] as const].map(
    ([y, value, kind]) =>
      line(kind, [left, y, edge, y]) + label(format(value), `text-anchor="end" x="${left - 8}" y="${y + 4}"`)
  )
  const marks = ticks(axis, Math.ceil((charWidth * 9) / bar)).flatMap(({ index, label: text }) => {
    const at = round(across(index))
    // A tick whose label would not fit is left out with its label.
    if (at + charWidth * text.length > wide) return []
    return [line("axis", [at, bottom, at, bottom + 5]) + label(text, `x="${at}" y="${bottom + 20}"`)]
  })
  const gap = bar > 4 ? Math.min(3, bar * 0.2) : 0
  const bars = values.flatMap((value, index) => {
    if (value === 0) return []
    const [from, until] = [across(index) + gap / 2, across(index + 1) - gap / 2]
    // The bar of a value above zero is at least 1 unit high, so that it is visible.
    const [breadth, high] = [Math.max(1, until - from), Math.max(1, (value / max) * (bottom - top))]
    const [first, last] = [index, index + 1].map((one) => Text.minute(DateTime.makeUnsafe(timeOf(one))))
    const about = escape(`${first} to ${last} UTC: ${format(value)}`)
    return [
      `<rect class="${tone}" x="${round(from)}" y="${round(bottom - high)}" width="${round(breadth)}" height="${round(high)}" fill="var(--${tone})"><title>${about}</title></rect>`
    ]
  })
  return [...rows, ...marks, ...bars]
}

/** The charts of {@link terminal} as a picture for light and dark backgrounds. `about` says what it shows. */
export const picture = (all: ReadonlyArray<Series>, window: Window, about: string): string => {
  const axis = make(window, wide / 4)
  let end = 0
  const drawn = drawnIn(all, axis).map((one) => {
    const isEmpty = most(one.values) === 0
    const title = `<text class="title" x="16" y="22">${escape(headingOf(one, axis))}</text>`
    const parts = [title, ...(isEmpty ? [] : plot(one, axis))]
    const group = `<g transform="translate(0 ${end})">\n${parts.join("\n")}\n</g>`
    end += isEmpty ? 36 : tall
    return group
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${end}" role="img" aria-label="${escape(about)}">
<style>${css}</style>
<rect width="${wide}" height="${end}" fill="var(--ground)"/>
${drawn.join("\n")}
</svg>`
}
