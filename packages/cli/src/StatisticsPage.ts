/**
 * Assembly statistics as CSV, as a picture (SVG) and as a page (HTML). All functions are pure.
 */
import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as BarSvg from "./internal/barSvg.ts"
import * as Outcomes from "./internal/outcomes.ts"
import * as Format from "./Format.ts"
import * as StatisticsReport from "./StatisticsReport.ts"
import * as TimeAxis from "./TimeAxis.ts"

/**
 * - `from`, `to`: the window of the charts, by default from the start of the first bucket to the start of the last
 *   bucket.
 * - `region`: the region of the statistics, or `all`.
 * - `template`: the id or the name of the Template of the statistics. `all` stands for all Assemblies, and `none` for
 *   the Assemblies without a Template.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly from?: DateTime.DateTime | undefined
  readonly to?: DateTime.DateTime | undefined
  readonly region: string
  readonly template: string
}

/** The columns of the CSV after `from`: the other fields of a bucket, first counts, then totals, then averages. */
const fields = [
  "num_assemblies",
  "num_successful_assemblies",
  "num_erroneous_assemblies",
  "num_cancelled_assemblies",
  "num_request_aborted_assemblies",
  "num_files",
  "num_bytes",
  "total_num_uploaded_bytes",
  "total_num_output_files",
  "total_output_file_sizes",
  "total_bytes_usage",
  "total_upload_duration",
  "total_live_queue_duration",
  "total_execution_duration",
  "avg_input_file_sizes",
  "avg_output_file_sizes",
  "avg_upload_duration",
  "avg_upload_speed",
  "avg_live_queue_duration",
  "avg_execution_duration",
  "avg_processing_speed"
] as const satisfies ReadonlyArray<keyof AssemblyStatistics.StatsBucket>

/**
 * A line with the names of the columns, and one line for each bucket of the service, with the start of the bucket in
 * ISO 8601 (UTC) and its other fields. Sizes are in bytes, durations in seconds, and speeds in megabits per second.
 *
 * @since 0.1.0
 * @category formatting
 */
export const csv = ({ stats }: AssemblyStatistics.Statistics): ReadonlyArray<string> => [
  ["from", ...fields].join(","),
  ...stats.map((bucket) => {
    const at = Option.match(DateTime.make(bucket.data_from_ts * 1000), {
      onNone: () => String(bucket.data_from_ts),
      onSome: DateTime.formatIso
    })
    return [at, ...fields.map((field) => String(bucket[field]))].join(",")
  })
]

/** The largest number of bars in a picture of this width. */
const maxBars = (width: number): number => Math.floor(width / 4)

const chartsOf = (statistics: AssemblyStatistics.Statistics, axis: TimeAxis.TimeAxis): ReadonlyArray<BarSvg.Chart> => {
  const values = (value: (bucket: AssemblyStatistics.StatsBucket) => number) =>
    TimeAxis.sums(axis, Outcomes.points(statistics, value))
  return [
    {
      title: "Assemblies",
      unit: "Assemblies",
      base: 1000,
      format: Format.count,
      // The legend names unfinished Assemblies only if there are some. The list of totals does the same.
      parts: Outcomes.all
        .filter((outcome) => outcome.key !== "unfinished" || Outcomes.total(statistics, outcome) > 0)
        .map(({ count, key, name }) => ({ name, tone: key, values: values(count) }))
    },
    {
      title: "Received",
      unit: "Size",
      base: 1024,
      format: Format.bytes,
      parts: [{ name: "Received", tone: "bytes", values: values((bucket) => bucket.total_num_uploaded_bytes) }]
    }
  ]
}

const pictureOf = (
  statistics: AssemblyStatistics.Statistics,
  options: Options,
  drawn: { readonly width: number; readonly inner?: string; readonly name?: string }
): string => {
  const axis = TimeAxis.make({ ...Outcomes.windowOf(statistics, options), maxBars: maxBars(drawn.width) })
  return BarSvg.picture(chartsOf(statistics, axis), axis, { ...drawn, about: headline(statistics, options) })
}

const moment = (millis: number): string =>
  Option.match(DateTime.make(millis), { onNone: () => "", onSome: (at) => Format.date(at).slice(0, 16) })

/** Which Assemblies, which region and which period the report covers, in one line. */
const headline = (statistics: AssemblyStatistics.Statistics, options: Options): string => {
  const { from, to } = Outcomes.windowOf(statistics, options)
  const region = options.region === "all" ? "all regions" : `region ${options.region}`
  const template =
    options.template === "all"
      ? "with and without a Template"
      : options.template === "none"
        ? "without a Template"
        : `of the Template ${options.template}`
  return `Assemblies ${template} in ${region}, ${moment(from)} to ${moment(to)} UTC`
}

/**
 * The charts as one picture, which is readable on light and dark backgrounds.
 *
 * @since 0.1.0
 * @category formatting
 */
export const svg = (statistics: AssemblyStatistics.Statistics, options: Options): string =>
  pictureOf(statistics, options, { width: 760, inner: `<style>${BarSvg.style}</style>\n` })

const pageStyle = `
:root { color-scheme: light dark }
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 860px; padding: 24px 16px }
h1 { font-size: 1.5rem; margin: 0 }
h2 { font-size: 1.1rem; margin: 32px 0 8px }
p { color: var(--soft); margin: 4px 0 16px }
table { border-collapse: collapse }
th, td { border-bottom: 1px solid var(--grid); padding: 4px 24px 4px 0; text-align: left }
td:last-child, th:last-child { padding-right: 0; text-align: right; font-variant-numeric: tabular-nums }
td:first-child { overflow-wrap: anywhere; white-space: pre-wrap }
svg { display: block; height: auto; margin: 0 -16px; width: calc(100% + 32px) }
.narrow { display: none }
@media (max-width: 600px) { .wide { display: none } .narrow { display: block } }
`

/** The name of an error is one long word. A narrow screen may break this word after each underscore. */
const breakable = (name: string): string => BarSvg.escape(name).replaceAll("_", "_<wbr>")

const table = (
  titles: readonly [name: string, value: string],
  rows: ReadonlyArray<readonly [name: string, value: string]>
): string =>
  [
    `<table><thead><tr><th scope="col">${titles[0]}</th><th scope="col">${titles[1]}</th></tr></thead><tbody>`,
    ...rows.map(([name, value]) => `<tr><td>${breakable(name)}</td><td>${BarSvg.escape(value)}</td></tr>`),
    "</tbody></table>"
  ].join("\n")

/**
 * The report as one file without scripts and without links to other files. The report contains one picture for wide
 * screens and one for narrow screens, so that the texts have a readable size on both.
 *
 * @since 0.1.0
 * @category formatting
 */
export const html = (statistics: AssemblyStatistics.Statistics, options: Options): string => {
  const errors = statistics.errorStatsTotals
  const totals = StatisticsReport.totals(statistics)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assembly statistics</title>
<style>${BarSvg.style}${pageStyle}</style>
</head>
<body>
<h1>Assembly statistics</h1>
<p>${BarSvg.escape(headline(statistics, options))}</p>
${pictureOf(statistics, options, { width: 760, name: "wide" })}
${pictureOf(statistics, options, { width: 380, name: "narrow" })}
<h2>Totals</h2>
${table(
  ["Statistics", "Total"],
  totals.map(({ name, value }) => [name, value] as const)
)}
<h2>Errors</h2>
${
  errors.length === 0
    ? "<p>No Assembly failed.</p>"
    : table(
        ["Error", "Assemblies"],
        errors.map(({ error, num_erroneous_assemblies: count }) => [error, Format.count(count)] as const)
      )
}
</body>
</html>`
}
