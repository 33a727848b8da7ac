/** Draws curves as SVG, with logarithmic axes. The dashed line is linear growth. */

/** A line: the size of the work, and its median cost. */
export interface Line {
  readonly name: string
  readonly points: ReadonlyArray<{ readonly x: number; readonly y: number }>
}

const plot = { left: 80, right: 720, top: 96, bottom: 400 }
const colors = ["#2f81f7", "#d1570b", "#2da44e", "#a371f7", "#bf8700"]
const style = `
  text { font: 13px system-ui, sans-serif; fill: #57606a } polyline { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { text { fill: #9da7b3 } }`

/** The powers of ten around the values, at least two. */
const ticks = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const from = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index))
}

const text = (x: number, y: number, words: string | number, more = "") =>
  `<text x="${x}" y="${y}" ${more}>${words.toLocaleString("en", { maximumSignificantDigits: 1 })}</text>`

/** Draws a chart. Every value is positive. The labels name the units. */
export const draw = (chart: {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: ReadonlyArray<Line>
}): string => {
  const points = chart.lines.flatMap((line) => line.points)
  const xs = ticks(points.map(({ x }) => x))
  const ys = ticks(points.map(({ y }) => y))
  const scale =
    ([first = 1, ...others]: ReadonlyArray<number>, from: number, to: number) =>
    (value: number) =>
      Math.round(from + ((to - from) * Math.log10(value / first)) / Math.log10((others.at(-1) ?? 1) / first))
  const [x, y] = [scale(xs, plot.left, plot.right), scale(ys, plot.bottom, plot.top)]
  const path = (line: Line["points"], stroke: string, more = "") =>
    `<polyline points="${line.map((one) => `${x(one.x)},${y(one.y)}`).join(" ")}" stroke="${stroke}" ${more}/>`
  const [left = 1, low = 1] = [xs[0], ys[0]]
  const reach = Math.min((xs.at(-1) ?? 1) / left, (ys.at(-1) ?? 1) / low)
  const linear = [1, reach].map((factor) => ({ x: left * factor, y: low * factor }))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 460" role="img" aria-label="${chart.title}">`,
    `<style>${style}</style>`,
    text(plot.left, 26, chart.title, 'font-weight="600"'),
    ...xs.map((tick) => text(x(tick), plot.bottom + 20, tick, 'text-anchor="middle"')),
    ...ys.map((tick) => text(plot.left - 8, y(tick) + 4, tick, 'text-anchor="end"')),
    path(linear, "#8c959f", 'stroke-dasharray="4 5"'),
    ...chart.lines.flatMap(({ name, points: line }, index) => [
      path(line, colors[index % colors.length] ?? ""),
      text(
        index % 2 === 0 ? 80 : 400,
        48 + 18 * (index >> 1),
        `━ ${name}`,
        `style="fill: ${colors[index % colors.length]}"`
      )
    ]),
    text(400, 446, chart.x, 'text-anchor="middle"'),
    text(0, 0, chart.y, 'text-anchor="middle" transform="translate(18 248) rotate(-90)"'),
    "</svg>\n"
  ].join("\n")
}
