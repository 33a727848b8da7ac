/**
 * Stacked bars as SVG, with a time axis and an axis of values. All functions are pure.
 */
import * as DateTime from "effect/DateTime"
import * as Printable from "@assembly-effect/schema/Printable"
import * as TimeAxis from "../TimeAxis.ts"

/** One part of each bar. `tone` is the CSS class that sets its colour. */
interface Part {
  readonly name: string
  readonly tone: string
  readonly values: ReadonlyArray<number>
}

/**
 * One chart. `base` decides where the value axis has its ticks: with 1000 at round numbers, with 1024 (for bytes) at
 * round numbers of B, KiB, MiB and so on.
 */
export interface Chart {
  readonly title: string
  readonly unit: string
  readonly base: 1000 | 1024
  readonly format: (value: number) => string
  readonly parts: ReadonlyArray<Part>
}

/** Escapes a text for XML. XML has no form for control characters, so they are made visible. */
export const escape = (text: string): string =>
  Printable.escape(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")

/** The colours in light and dark, and the styles of the charts. */
export const style = `
:root, svg { --ground: #ffffff; --text: #1f2328; --soft: #57606a; --grid: #d8dee4;
  --completed: #1a7f37; --failed: #cf222e; --canceled: #bf8700; --unfinished: #8c959f; --bytes: #0969da }
@media (prefers-color-scheme: dark) {
  :root, svg { --ground: #0d1117; --text: #e6edf3; --soft: #9da7b3; --grid: #2a313a;
    --completed: #3fb950; --failed: #ff7b72; --canceled: #d29922; --unfinished: #6e7681; --bytes: #58a6ff }
}
text { font: 13px system-ui, sans-serif; fill: var(--text) }
.title { font-size: 16px; font-weight: 600 }
.soft { fill: var(--soft) }
.grid { stroke: var(--grid) }
.axis { stroke: var(--soft) }
.completed { fill: var(--completed) } .failed { fill: var(--failed) } .canceled { fill: var(--canceled) }
.unfinished { fill: var(--unfinished) } .bytes { fill: var(--bytes) }
`

const round = (value: number): number => Math.round(value * 100) / 100

/** The height of one chart. */
const height = 324

/**
 * The lower end of the plot. The space below the plot has the labels of the ticks, the name of the axis, and a gap
 * before the next chart.
 */
const bottom = height - 66
const right = 16
const left = 84

/** An upper estimate of the width of one character of a label. */
const charWidth = 7.2

/** The largest value. */
const topOf = (sums: ReadonlyArray<number>): number => sums.reduce((max, value) => Math.max(max, value), 0)

/** The distance of two ticks of the value axis: 1, 2 or 5 times a power of ten, in a unit that is a power of `base`. */
const stepOf = (max: number, base: number): number => {
  const unit = base === 1024 && max >= 1024 ? 1024 ** Math.floor(Math.log(max) / Math.log(1024)) : 1
  const rough = max / unit / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10
  // The distance is at least 1, because counts and bytes are whole numbers.
  return Math.max(1, factor * power * unit)
}

/** The date and the time in a tooltip, to the minute. */
const minute = (time: number): string => {
  const [date = "", rest = ""] = DateTime.formatIso(DateTime.makeUnsafe(time)).split("T")
  return `${date} ${rest.slice(0, 5)}`
}

/** The names of the parts and their totals, in as many lines as needed, and the top of the plot below them. */
const legendOf = (
  { format, parts }: Chart,
  width: number
): { readonly drawn: ReadonlyArray<string>; readonly top: number } => {
  let x = 16
  let y = 40
  const drawn = parts.map(({ name, tone, values }) => {
    const text = `${name} ${format(values.reduce((sum, value) => sum + value, 0))}`
    const wide = 16 + charWidth * text.length + 22
    if (x > 16 && x + wide > width) {
      x = 16
      y += 20
    }
    const one = `<rect class="${tone}" x="${round(x)}" y="${y}" width="11" height="11" rx="2"/><text x="${round(x + 16)}" y="${y + 10}">${escape(text)}</text>`
    x += wide
    return one
  })
  return { drawn, top: y + 30 }
}

/** One chart as SVG, in a rectangle of `width` and {@link height} that is moved down by `y`. */
const draw = (chart: Chart, axis: TimeAxis.TimeAxis, width: number, y: number): string => {
  const plot = width - left - right
  const startOf = (index: number): number => axis.start + index * axis.step
  const span = Math.max(1, axis.end - axis.start)
  // The time axis ends at the right end of the plot. If the time of the last bar is shorter than a step, this bar is
  // narrower than the others.
  const across = (time: number): number => left + Math.min(1, (time - axis.start) / span) * plot
  const bar = Math.min(plot, (axis.step / span) * plot)
  const sums = Array.from({ length: axis.bars }, (_, index) =>
    chart.parts.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)
  )
  const { drawn: legend, top } = legendOf(chart, width)
  const max = Math.min(Math.max(1, topOf(sums)), Number.MAX_VALUE / 1000)
  const step = stepOf(max, chart.base)
  const steps = Math.max(1, Math.ceil(max / step))
  const place = (value: number): number => round(bottom - (value / (step * steps)) * (bottom - top))

  const rows = Array.from({ length: steps + 1 }, (_, index) => {
    const at = place(index * step)
    return `<line class="${index === 0 ? "axis" : "grid"}" x1="${left}" y1="${at}" x2="${width - right}" y2="${at}"/><text class="soft" text-anchor="end" x="${left - 8}" y="${at + 4}">${escape(chart.format(index * step))}</text>`
  })

  const end = TimeAxis.endLabel(axis)
  const ticks = TimeAxis.ticks(axis, Math.ceil((charWidth * 9) / bar)).flatMap(({ index, label }) => {
    const at = round(across(startOf(index)))
    // If a label would overlap the label at the right end, the label and its tick are left out.
    if (at + charWidth * (label.length + end.length + 1) > width - right) return []
    return [
      `<line class="axis" x1="${at}" y1="${bottom}" x2="${at}" y2="${bottom + 5}"/><text class="soft" x="${at}" y="${bottom + 20}">${label}</text>`
    ]
  })
  const atEnd = `<line class="axis" x1="${width - right}" y1="${bottom}" x2="${width - right}" y2="${bottom + 5}"/><text class="soft" text-anchor="end" x="${width - right}" y="${bottom + 20}">${end}</text>`

  const gap = bar > 4 ? Math.min(3, bar * 0.2) : 0
  const bars = sums.flatMap((sum, index) => {
    if (sum === 0) return []
    const [start, until] = [startOf(index), Math.min(axis.end, startOf(index + 1))]
    const from = across(start) + gap / 2
    const wide = Math.max(1, across(until) - gap / 2 - from)
    const facts = chart.parts
      .filter(({ values }) => (values[index] ?? 0) > 0)
      .map(({ name, values }) => `${name}: ${chart.format(values[index] ?? 0)}`)
    const about = `${minute(start)} to ${minute(until)} UTC\n${facts.join("\n")}`
    let below = 0
    const blocks = chart.parts.map(({ tone, values }) => {
      const value = values[index] ?? 0
      if (value === 0) return ""
      const lower = place(below)
      below += value
      // The rectangle of a value above zero is at least 1 unit high, so that it is visible.
      const tall = Math.max(1, lower - place(below))
      return `<rect class="${tone}" x="${round(from)}" y="${round(lower - tall)}" width="${round(wide)}" height="${round(tall)}"/>`
    })
    return [`<g><title>${about.split("\n").map(escape).join("\n")}</title>${blocks.join("")}</g>`]
  })

  return `<g transform="translate(0 ${y})">
<text class="title" x="16" y="22">${escape(`${chart.title} per ${axis.name}`)}</text>
${legend.join("\n")}
${rows.join("\n")}
${ticks.join("\n")}
${atEnd}
${bars.join("\n")}
<text class="soft" text-anchor="middle" x="${round(left + plot / 2)}" y="${bottom + 40}">time (UTC)</text>
<text class="soft" text-anchor="middle" transform="translate(14 ${round((top + bottom) / 2)}) rotate(-90)">${escape(chart.unit)}</text>
</g>`
}

/**
 * A picture of the charts, one below the other. `inner` is SVG text that is written before the charts, such as a
 * `<style>` element.
 */
export const picture = (
  charts: ReadonlyArray<Chart>,
  axis: TimeAxis.TimeAxis,
  options: { readonly width: number; readonly about: string; readonly inner?: string; readonly name?: string }
): string => {
  const { about, inner = "", name = "chart", width } = options
  const tall = charts.length * height
  return `<svg xmlns="http://www.w3.org/2000/svg" class="${name}" viewBox="0 0 ${width} ${tall}" role="img" aria-label="${escape(about)}">
${inner}<rect width="${width}" height="${tall}" fill="var(--ground)"/>
${charts.map((chart, index) => draw(chart, axis, width, index * height)).join("\n")}
</svg>`
}
