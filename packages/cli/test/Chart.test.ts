import * as Chart from "@assembly-effect/cli/Chart"
import * as Format from "@assembly-effect/cli/Format"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as CliOutput from "effect/cli/CliOutput"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { columns } from "./support/texts.ts"

const hour = 3_600_000
const start = DateTime.makeUnsafe("2026-01-01T00:00:00Z").epochMilliseconds

const hourly = (values: ReadonlyArray<number>): ReadonlyArray<Chart.Point> =>
  values.map((value, index) => ({ at: DateTime.makeUnsafe(start + index * hour), value }))

const options = { title: "Assemblies", format: Format.count, bucket: "1 hour", width: 60, height: 3 } as const

describe("Chart.render", () => {
  it("draws bars with the largest value and the times at the axes", () => {
    expect(Chart.render(hourly([0, 1, 4, 12, 8, 2]), options)).toEqual([
      "Assemblies per 1 h",
      "12 │                  █████",
      "   │                  █████ █████",
      "   │      ▂▂▂▂▂ █████ █████ █████ ▄▄▄▄▄",
      " 0 └────────────────────────────────────",
      "    2026-01-01 00:00   2026-01-01 06:00 UTC"
    ])
  })

  it("merges buckets until they fit, and says so", () => {
    const lines = Chart.render(hourly(Array.from({ length: 240 }, () => 1)), options)
    expect(lines[0]).toBe("Assemblies per 5 h")
    expect(lines[1]).toBe(`5 │${"█".repeat(48)}`)
  })

  it("shows the whole window, also without data", () => {
    const lines = Chart.render(hourly([3]), {
      ...options,
      from: DateTime.makeUnsafe(start - 5 * hour),
      to: DateTime.makeUnsafe(start + hour)
    })
    expect(lines[1]).toBe(`3 │${" ".repeat(30)}█████`)
    expect(lines.at(-1)).toBe("   2025-12-31 19:00      2026-01-01 02:00 UTC")
  })

  it("carries units in its labels", () => {
    const lines = Chart.render(hourly([0, 1536]), { ...options, format: Format.bytes })
    expect(lines[1]).toMatch(/^1\.5 KiB │/)
    expect(lines.at(-2)).toMatch(/^ {4}0 B └/)
  })

  it("shows the smallest value beside the largest", () => {
    expect(Chart.render(hourly([1, 1_000_000]), options)[3]).toContain("▁▁▁▁▁ █████")
  })

  it.each([[[]], [[0, 0]], [[Number.NaN, Number.POSITIVE_INFINITY, -1]]])(
    "says when there is nothing: %j",
    (values) => {
      expect(Chart.render(hourly(values), options)).toEqual(["Assemblies", "no data in this period"])
    }
  )

  it("says when everything lies outside the window", () => {
    const from = DateTime.makeUnsafe(start + 100 * hour)
    expect(Chart.render(hourly([1]), { ...options, from })[1]).toBe("no data in this period")
  })

  const anyValues = Arbitrary.array(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 50 })))
  )

  it.prop("no line is longer than the terminal", { values: anyValues, width: columns(1) }, ({ values, width }) => {
    for (const format of [Format.count, Format.bytes]) {
      for (const line of Chart.render(hourly(values), { ...options, format, width })) {
        expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
      }
    }
  })

  it.prop("a larger value never has a lower bar", { values: anyValues }, ({ values }) => {
    if (values.length > 57 || values.every((value) => value === 0)) return
    const height = 5
    const from = DateTime.makeUnsafe(start)
    const to = DateTime.makeUnsafe(start + 56 * hour)
    const lines = Chart.render(hourly(values), { ...options, width: 120, height, from, to })
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
