import * as Statistics from "../src/commands/stats.ts"
import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import { describe, expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
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

describe("Statistics.html", () => {
  it("is one page with the window, the charts, the totals and the errors", () => {
    const html = Statistics.html(found, { ...options, region: "eu-west-1", template: "none" })
    expect(html).toContain(
      "<p>Assemblies without a Template in region eu-west-1, 2025-12-25 12:00 to 2026-01-01 12:00 UTC</p>"
    )
    expect(html.match(/^<strong>[A-Z]\w+ (?:per [^<]*|[\w ]+: none)<\/strong>$/gm)).toEqual([
      "<strong>Completed per 6 hours (UTC)</strong>",
      "<strong>Failed per 6 hours (UTC)</strong>",
      "<strong>Canceled or aborted: none</strong>",
      "<strong>Received per 6 hours (UTC)</strong>"
    ])
    expect(html).toMatch(/│<i class="green"> +█+<\/i>$/m)
    expect(html).toContain(".green { color: light-dark(")
    expect(html).toMatch(/^Received +2\.0 MiB$/m)
    expect(html).toMatch(/^NO_COUNTRY +1$/m)
    expect(html).not.toMatch(/https?:|url\(|<script|href/)
  })

  it("names unfinished Assemblies only if there are some", () => {
    expect(Statistics.html(found, options)).not.toContain("Unfinished")
    const stats = found.stats.map((bucket) => ({ ...bucket, num_successful_assemblies: 1 }))
    expect(Statistics.html({ ...found, stats }, options)).toContain("<strong>Unfinished per 6 hours (UTC)</strong>")
  })

  it("shows hostile texts as text", () => {
    const html = Statistics.html(hostile, { ...options, region: "<b>" })
    expect(html).toMatch(/^&lt;script&gt;&quot;&amp;\\x1b\[2J +1$/m)
    expect(html).toContain("in region &lt;b&gt;,")
    expect(html).not.toContain("<b>")
  })
})
