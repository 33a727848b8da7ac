import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, DateTime, Schema } from "effect"
import { CliOutput } from "effect/cli"
import { columns } from "./support/texts.ts"
import * as Text from "../src/internal/text.ts"
import * as Chart from "../src/internal/chart.ts"

const hour = 3_600_000
const start = DateTime.makeUnsafe("2026-01-01T00:00:00Z").epochMilliseconds

const hourly = (values: ReadonlyArray<number>): Chart.Series["points"] =>
  values.map((value, index) => ({ at: DateTime.makeUnsafe(start + index * hour), value }))

const series = (values: ReadonlyArray<number>, more: Partial<Chart.Series> = {}): Chart.Series => ({
  name: "Completed",
  tone: "completed",
  format: Text.count,
  points: hourly(values),
  ...more
})

type Options = Parameters<typeof Chart.terminal>[1] & Parameters<typeof Chart.terminal>[2]

const render = (charts: ReadonlyArray<Chart.Series>, { from, granularity, to, ...options }: Options) =>
  Chart.terminal(charts, { from, to, granularity }, options)

const window = (hours: number) => ({ from: start, to: start + hours * hour, granularity: hour })

const bytes = series([1024 ** 3], { name: "Uploaded", format: Text.bytes })

/** What the charts show, by what a chart does. */
const shown: Readonly<Record<string, ReadonlyArray<string>>> = {
  "draws bars with the largest value, ticks at calendar times, and an axis that ends now": render(
    [series([0, 1, 4, 12, 8, 2])],
    { ...window(5.5), width: 60 }
  ),
  "shows the whole window, also without data": render([series([3])], {
    ...window(1),
    from: start - 5 * hour,
    width: 60
  }),
  "shows the smallest value beside the largest": render([series([1, 1_000_000])], { ...window(1.5), width: 60 }),
  "says in one line when there is nothing": render(
    [series([]), series([0, 0]), series([Number.NaN, Number.POSITIVE_INFINITY, -1])],
    window(3)
  ),
  "has the same step and the same place of the axis in all charts": render(
    [series(Array.from({ length: 168 }, () => 1)), bytes],
    { ...window(167), width: 80 }
  )
}

describe("Chart.terminal", () => {
  it("shows what the file shows", async () => {
    const all = Object.entries(shown).map(([about, lines]) => `# ${about}\n${lines.join("\n")}\n`)
    await expect(all.join("\n")).toMatchFileSnapshot("fixtures/charts.txt")
  })

  it("leaves out values that no bar can show", () => {
    const odd = render([series([-5, 6, Number.POSITIVE_INFINITY, Number.NaN])], { ...window(3.5), width: 60 })
    expect(odd).toEqual(render([series([0, 6, 0, 0])], { ...window(3.5), width: 60 }))
    // Both values are in one bar.
    const [, top] = render([series([-5, 6])], { ...window(240), width: 60 })
    expect(top).toMatch(/^ *6 │/)
  })

  it("paints the bars in the colour of the series", () => {
    const red = render([series([1], { tone: "failed" })], { ...window(0.5), style: Text.ansi })
    expect(red[1]).toBe(`1 │${Text.ansi.red("█████")}`)
  })

  const anyValues = Arbitrary.array(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 50 })))
  )
  const hours = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 91 * 24 }))

  it.prop(
    "no line is longer than the terminal, and no label is cut",
    { values: anyValues, hours, width: columns(1) },
    ({ hours: length, values, width }) => {
      const lines = render([series(values), series(values, { name: "Uploaded", format: Text.bytes })], {
        ...window(length),
        width
      })
      for (const line of lines) {
        expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
        if (width >= 40) expect(line).not.toContain("…")
      }
    }
  )

  it.prop("a larger value never has a lower bar", { values: anyValues }, ({ values }) => {
    if (values.length > 57 || values.every((value) => value === 0)) return
    const height = 4
    const lines = render([series(values)], { ...window(56), width: 120 })
    const left = (lines[height + 1] ?? "").indexOf("└") + 1
    const ink = (index: number) =>
      lines.slice(1, height + 1).reduce((sum, line) => sum + " ▁▂▃▄▅▆▇█".indexOf(line[left + index] ?? " "), 0)
    const cells = (lines[height + 1] ?? "").length - left
    const heights = values.map((_, index) => ink(index * (cells / 57)))
    values.forEach((value, a) => {
      values.forEach((other, b) => {
        if (value > other) expect(heights[a]).toBeGreaterThanOrEqual(heights[b] ?? 0)
        if (value > 0) expect(heights[a]).toBeGreaterThan(0)
      })
    })
  })
})
