/**
 * `pnpm simulate [files] [seed]`: how many files a day an account uploads with 3, 30 and 300 runners, with and without
 * packing. Prints the table of docs/durable.md, and draws its chart.
 */
import { writeFileSync } from "node:fs"
import * as Report from "../bench/report.ts"
import * as Svg from "../bench/svg.ts"
import * as Simulation from "./simulation.ts"

const [files = 1_000_000, seed = 34] = process.argv.slice(2).map(Number)

/** The statements of durable jobs, counted with 200 jobs alone and with 1,000 in packs of 100. */
const statements = { alone: { assembly: 7, file: 4 }, packs: { assembly: 16, file: 1 } }

/** The statements a second that Postgres answered on 10 connections, on the two cores of the client. */
const postgres = 5000

/** The bytes that a runner sends in a second: 1 Gbit. */
const network = 125e6

/** How much of each number is used. The largest is what the account waits for; the others are the next walls. */
const wallsOf = (runners: number, report: Simulation.Report, each: typeof statements.alone) =>
  Object.entries({
    quota: report.assemblies / report.seconds / (250 / 60),
    Postgres: (report.assemblies * each.assembly + report.sent * each.file) / report.seconds / postgres,
    bytes: report.bytes / report.seconds / (runners * network),
    connections: report.busy / report.seconds / (runners * Simulation.uploads)
  }).toSorted(([, a], [, b]) => b - a)

const percent = (part: number): string => `${Math.round(part * 100)} %`

const time = (seconds: number): string => {
  const [unit, length] = seconds < 5400 ? ["min", 60] : seconds < 129_600 ? ["h", 3600] : ["days", 86_400]
  return `${Report.number(Number((seconds / Number(length)).toPrecision(2)))} ${unit}`
}

const packing = { files: 100, bytes: 64 * 1024 * 1024, within: 2000 }
const heads = ["poison", "packs", "runners", "files a day", "refusals", "p50", "p99", "used"]
const rows: Array<ReadonlyArray<string>> = [heads]
const lines: Array<Svg.Line> = []

for (const poison of [0.001, 0.01]) {
  const ones: Array<number> = []
  for (const packs of [false, true]) {
    const points: Array<Svg.Line["points"][number]> = []
    for (const [index, runners] of [3, 30, 300].entries()) {
      const begun = performance.now()
      const report = Simulation.simulate({ files, runners, poison, packing: packs ? packing : undefined, seed })
      const day = (files / report.seconds) * 86_400
      if (!packs) ones.push(day)
      const ratio = packs ? ` (${Report.number(Number((day / (ones[index] ?? day)).toPrecision(2)))} ×)` : ""
      points.push({ x: runners, y: day })
      rows.push([
        `${poison * 100} %`,
        packs ? "yes" : "no",
        String(runners),
        `${(day / 1e6).toPrecision(3)} M${ratio}`,
        String(Math.round((report.refusals / report.requests) * 1e6)),
        time(report.waits.p50),
        time(report.waits.p99),
        wallsOf(runners, report, packs ? statements.packs : statements.alone)
          .map(([name, part]) => `${name} ${percent(part)}`)
          .join(", ")
      ])
      const memory = Math.round(process.resourceUsage().maxRSS / 1024)
      console.error(`${rows.at(-1)?.join(" | ")} (${Math.round(performance.now() - begun)} ms, ${memory} MiB)`)
    }
    // Without packs, poison changes nothing.
    if (packs) lines.push({ name: `packs of up to 100, ${poison * 100} % poison`, points })
    else if (lines.length === 0) lines.push({ name: "one file an Assembly", points })
  }
}

console.log(Report.format(rows))
writeFileSync(
  new URL("../../docs/benchmarks/simulation.svg", import.meta.url),
  Svg.draw({ title: "Files a day that an account uploads", x: "runners", y: "files a day", lines })
)
