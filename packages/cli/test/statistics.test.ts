import * as Statistics from "../src/commands/stats.ts"
import type { AssemblyStatistics } from "@assembly-effect/schema"
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { statistics } from "./support/answers.ts"

const found = statistics as AssemblyStatistics.Statistics
const to = DateTime.makeUnsafe("2026-01-01T12:00:00Z")
const options = { from: DateTime.subtract(to, { days: 7 }), to, region: "all", template: "all" }
const hostile = { ...found, errorStatsTotals: [{ error: `<script>"&\u001b[2J`, num_erroneous_assemblies: 1 }] }

describe("Statistics.csv", () => {
  it("has a line for each bucket with its start and its fields", () => {
    const [head = "", line = ""] = Statistics.csv(found)
    const cells = Object.fromEntries(head.split(",").map((name, index) => [name, line.split(",")[index]]))
    expect(cells).toMatchObject({
      from: "2026-01-01T11:00:00.000Z",
      num_assemblies: "3",
      num_erroneous_assemblies: "1",
      total_num_uploaded_bytes: "2097152",
      avg_execution_duration: "1.5"
    })
    const fields = Object.keys(statistics.stats[0] ?? {}).filter((name) => name !== "data_from_ts")
    expect(new Set(Object.keys(cells))).toEqual(new Set(["from", ...fields]))
  })
})

describe("Statistics.svg", () => {
  const svg = Statistics.svg(found, options)

  it("has bars of one calendar step in every chart, and axes with units and dates", () => {
    expect(svg.match(/>[A-Z]\w+ per [^<]*</g)).toEqual([
      ">Completed per hour (UTC)<",
      ">Failed per hour (UTC)<",
      ">Received per hour (UTC)<"
    ])
    expect(svg).toContain(">Canceled or aborted: none<")
    expect(svg).not.toContain(">now<")
    expect(svg).toMatch(/>2<.*>0<.*>Dec 26<.*>1<.*>2\.0 MiB<.*>0 B</s)
  })

  it("says in the tooltip of a bar its time and its value", () => {
    expect(svg).toMatch(/<rect class="completed" [^>]*><title>2026-01-01 11:00 to 2026-01-01 12:00 UTC: 2<\/title>/)
    expect(svg).toMatch(/<rect class="bytes" [^>]*><title>2026-01-01 11:00 to 2026-01-01 12:00 UTC: 2\.0 MiB<\/title>/)
  })

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

  it("needs no other file, and has colours for light and dark", () => {
    expect(svg.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(|<script|href/)
    expect(svg).toContain("prefers-color-scheme: dark")
  })
})

describe("Statistics.html", () => {
  it("is one page with the window, the charts, the totals and the errors", () => {
    const html = Statistics.html(found, { ...options, region: "eu-west-1", template: "none" })
    expect(html).toContain(
      "<p>Assemblies without a Template in region eu-west-1, 2025-12-25 12:00 to 2026-01-01 12:00 UTC</p>"
    )
    expect(html.match(/<svg /g)).toHaveLength(1)
    expect(html).toMatch(/^Received +2\.0 MiB$/m)
    expect(html).toMatch(/^NO_COUNTRY +1$/m)
    expect(html.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(|<script|href/)
  })

  it("shows hostile texts as text", () => {
    const html = Statistics.html(hostile, { ...options, region: "<b>" })
    expect(html).toMatch(/^&lt;script&gt;&quot;&amp;\\x1b\[2J +1$/m)
    expect(html).toContain("in region &lt;b&gt;,")
    expect(html).not.toContain("<b>")
  })
})
