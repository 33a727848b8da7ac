/**
 * Draws curves as SVG, with logarithmic axes: linear growth has the slope of the dashed lines, and a constant cost is
 * flat. The chart is readable on light and dark backgrounds.
 */

/** A measured size: the median of its rounds, and its lowest and highest round. */
interface Point {
  readonly x: number
  readonly y: number
  readonly low: number
  readonly high: number
}

export interface Line {
  readonly name: string
  readonly points: ReadonlyArray<Point>
}

/** The labels name the units. */
export interface Chart {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: ReadonlyArray<Line>
}

const width = 760
const height = 460
/** The area inside the axes. */
const plot = { left: 78, right: width - 40, top: 96, bottom: height - 58 }

/** The colours and the text of every chart. */
const style = `
  svg { --ground: #ffffff; --text: #1f2328; --soft: #57606a; --grid: #d8dee4; --guide: #8c959f;
    --c0: #0757b5; --c1: #b02a00; --c2: #1a6b2d; --c3: #7a3fc0; --c4: #8a5a00 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --text: #e6edf3; --soft: #9da7b3; --grid: #2a313a; --guide: #6e7681;
      --c0: #6cb6ff; --c1: #ff9b70; --c2: #6bdb84; --c3: #cfa8ff; --c4: #e8c268 }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--text) }
  .title { font-size: 16px; font-weight: 600 }
  .soft { fill: var(--soft) }
  .grid { stroke: var(--grid) }
  .guide { stroke: var(--guide); stroke-dasharray: 4 5 }
  .line { fill: none; stroke-width: 2 }
`

const colors = 5

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const round = (value: number): number => Math.round(value * 100) / 100

/** The exponents of the powers of ten around the values. They differ by at least one. */
const decades = (values: ReadonlyArray<number>): { readonly from: number; readonly to: number } => {
  const from = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  return { from, to: Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9)) }
}

const powers = ({ from, to }: { readonly from: number; readonly to: number }): ReadonlyArray<number> =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** A power of ten as a decimal number. */
const label = (power: number): string => (10 ** power).toLocaleString("en", { maximumSignificantDigits: 1 })

const shapes: ReadonlyArray<(x: number, y: number) => string> = [
  (x, y) => `<circle cx="${x}" cy="${y}" r="4"/>`,
  (x, y) => `<path d="M${x - 4} ${y - 4}h8v8h-8z"/>`,
  (x, y) => `<path d="M${x} ${round(y - 5)}l5 9h-10z"/>`,
  (x, y) => `<path d="M${x} ${y - 5}l5 5l-5 5l-5 -5z"/>`,
  (x, y) => `<path d="M${x} ${round(y + 5)}l5 -9h-10z"/>`
]

/** The marker of a line. Its shape distinguishes the line from others without its colour. */
const marker = (index: number, x: number, y: number): string =>
  `<g fill="var(--c${index % colors})">${shapes[index % shapes.length]?.(x, y) ?? ""}</g>`

/** Dashed lines that show linear growth. One line starts at each power of ten on both axes. */
const guides = (
  x: { readonly from: number; readonly to: number },
  y: { readonly from: number; readonly to: number },
  place: (x: number, y: number) => readonly [number, number]
): string => {
  const starts = Array.from({ length: x.to - x.from + y.to - y.from }, (_, index) => y.from - (x.to - x.from) + index)
  return starts
    .flatMap((start) => {
      // The line is y = x + offset in powers of ten.
      const offset = start - x.from
      const first = Math.max(x.from, y.from - offset)
      const last = Math.min(x.to, y.to - offset)
      if (last <= first) return []
      const [x1, y1] = place(first, first + offset)
      const [x2, y2] = place(last, last + offset)
      return [`<line class="guide" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`]
    })
    .join("")
}

/** Draws a chart. Every value is positive. */
export const draw = (chart: Chart): string => {
  const points = chart.lines.flatMap((line) => line.points)
  const xs = decades(points.map(({ x }) => x))
  const ys = decades(points.flatMap(({ high, low }) => [low, high]))
  const place = (x: number, y: number): readonly [number, number] => [
    round(plot.left + ((x - xs.from) / (xs.to - xs.from)) * (plot.right - plot.left)),
    round(plot.bottom - ((y - ys.from) / (ys.to - ys.from)) * (plot.bottom - plot.top))
  ]
  const at = (x: number, y: number) => place(Math.log10(x), Math.log10(y))

  const columns = powers(xs).map((power) => {
    const [x] = place(power, ys.from)
    return `<line class="grid" x1="${x}" y1="${plot.top}" x2="${x}" y2="${plot.bottom}"/><text class="soft" text-anchor="middle" x="${x}" y="${plot.bottom + 20}">${label(power)}</text>`
  })
  const rows = powers(ys).map((power) => {
    const [, y] = place(xs.from, power)
    return `<line class="grid" x1="${plot.left}" y1="${y}" x2="${plot.right}" y2="${y}"/><text class="soft" text-anchor="end" x="${plot.left - 8}" y="${y + 4}">${label(power)}</text>`
  })
  const lines = chart.lines.map((line, index) => {
    const spread = line.points.map(({ high, low, x }) => {
      const [left, top] = at(x, high)
      const [, bottom] = at(x, low)
      return `<line x1="${left}" y1="${top}" x2="${left}" y2="${bottom}"/>`
    })
    const places = line.points.map(({ x, y }) => at(x, y))
    const markers = places.map(([x, y]) => marker(index, x, y))
    return `<g stroke="var(--c${index % colors})"><polyline class="line" points="${places.map((one) => one.join(",")).join(" ")}"/>${spread.join("")}</g>${markers.join("")}`
  })
  // The legend has two columns, because the names are long.
  const legend = [...chart.lines.map(({ name }) => name), "linear growth"].map((name, index) => {
    const x = index % 2 === 0 ? plot.left : (plot.left + plot.right) / 2
    const y = 48 + 18 * (index >> 1)
    const sign =
      index === chart.lines.length
        ? `<line class="guide" x1="${x - 8}" y1="${y}" x2="${x + 12}" y2="${y}"/>`
        : marker(index, x, y)
    return `${sign}<text x="${x + 18}" y="${y + 4}">${escape(name)}</text>`
  })
  const middle = (plot.top + plot.bottom) / 2
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(chart.title)}">
<style>${style}</style>
<rect width="${width}" height="${height}" fill="var(--ground)"/>
<text class="title" x="${plot.left - 8}" y="26">${escape(chart.title)}</text>
${legend.join("\n")}
${columns.join("\n")}
${rows.join("\n")}
${guides(xs, ys, place)}
${lines.join("\n")}
<text text-anchor="middle" x="${(plot.left + plot.right) / 2}" y="${height - 14}">${escape(chart.x)}</text>
<text text-anchor="middle" transform="translate(18 ${middle}) rotate(-90)">${escape(chart.y)}</text>
</svg>
`
}
