import * as Statistics from "../src/commands/stats.ts"
import type { AssemblyStatistics } from "@assembly-effect/schema"
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { statistics } from "./support/answers.ts"

const found = statistics as AssemblyStatistics.Statistics
const to = DateTime.makeUnsafe("2026-01-01T12:00:00Z")
const options = { from: DateTime.subtract(to, { days: 7 }), to, region: "all", template: "all" }
const hostile = { ...found, errorStatsTotals: [{ error: `<script>"&\u001b[2J`, num_erroneous_assemblies: 1 }] }

it("the CSV and the page are those of the files", async () => {
  await expect(Statistics.csv(found).join("\n")).toMatchFileSnapshot("fixtures/statistics.csv")
  const page = Statistics.html(found, { ...options, region: "eu-west-1", template: "none" })
  await expect(page).toMatchFileSnapshot("fixtures/statistics.txt")
  expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(|<script|href/)
})

describe("Statistics.svg", () => {
  const svg = Statistics.svg(found, options)

  it("names unfinished Assemblies only if there are some", () => {
    expect(svg).not.toContain("Unfinished")
    const stats = found.stats.map((bucket) => ({ ...bucket, num_successful_assemblies: 1 }))
    expect(Statistics.svg({ ...found, stats }, options)).toContain(">Unfinished per hour (UTC)<")
  })

  it("ends at the end of the window: the bar of the current hour is as narrow as its time", () => {
    const later = { ...options, to: DateTime.makeUnsafe("2026-01-01T12:15:00Z") }
    const [bucket] = found.stats
    const stats = bucket === undefined ? [] : [bucket, { ...bucket, data_from_ts: bucket.data_from_ts + 3600 }]
    const bars = [
      ...Statistics.svg({ ...found, stats }, later).matchAll(
        /<rect class="bytes" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g
      )
    ]
      .map(([, x, width]) => ({ x: Number(x), width: Number(width) }))
      .filter(({ x }) => x > 100)
    const [whole, part] = bars
    expect(bars).toHaveLength(2)
    expect(part?.width).toBeLessThan((whole?.width ?? 0) / 2)
    expect((part?.x ?? 0) + (part?.width ?? 0)).toBeLessThanOrEqual(760 - 16 + 1)
  })

  it("has no tick without a label, and no label without a tick", () => {
    for (const days of [1, 2, 3, 7, 14, 30, 90]) {
      const drawn = Statistics.html(found, { ...options, from: DateTime.subtract(to, { days }) })
      const ticks =
        drawn.match(/<line class="axis" x1="([\d.]+)" y1="[\d.]+" x2="\1"[^>]*>(?:<text[^>]*>[^<]+<)?/g) ?? []
      const labeled = ticks.filter((tick) => tick.includes("<text"))
      expect(labeled.length, String(days)).toBe(ticks.length)
      expect(ticks.length, String(days)).toBeGreaterThan(3)
    }
  })

  it("shows hostile texts as text", () => {
    const html = Statistics.html(hostile, { ...options, region: "<b>" })
    expect(html).toMatch(/^&lt;script&gt;&quot;&amp;\\x1b\[2J +1$/m)
    expect(html).toContain("in region &lt;b&gt;,")
    expect(html).not.toContain("<b>")
  })
})
