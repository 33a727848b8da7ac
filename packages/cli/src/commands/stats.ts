/** `assembly stats`: Assembly statistics as text with charts, as CSV, as a picture (SVG) and as a page (HTML). */
import { Assemblies } from "@assembly-effect/api"
import { AssemblyStatistics } from "@assembly-effect/schema"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { Flag } from "effect/cli"
import { DateTime, Duration, Effect, Option, Struct } from "../internal/effect.ts"
import * as Chart from "../internal/chart.ts"
import { Cli, Output, Table, Text } from "../internal/index.ts"
import * as TemplateId from "../internal/templateId.ts"

type Statistics = AssemblyStatistics.Statistics
type Bucket = AssemblyStatistics.StatsBucket

/**
 * - `from`, `to`: the window of the charts.
 * - `region`: the region of the statistics, or `all`.
 * - `template`: the id or the name of the Template of the statistics. `all` stands for all Assemblies, and `none` for
 *   the Assemblies without a Template.
 */
interface Window {
  readonly from: DateTime.DateTime
  readonly to: DateTime.DateTime
  readonly region: string
  readonly template: string
}

const canceled = (bucket: Bucket): number => bucket.num_cancelled_assemblies + bucket.num_request_aborted_assemblies

const unfinished = (bucket: Bucket): number =>
  Math.max(
    0,
    bucket.num_assemblies - bucket.num_successful_assemblies - bucket.num_erroneous_assemblies - canceled(bucket)
  )

/** Every Assembly of a bucket has exactly one of these outcomes. */
const outcomes: ReadonlyArray<readonly [name: string, tone: Chart.Series["tone"], count: (bucket: Bucket) => number]> =
  [
    ["Completed", "completed", (bucket) => bucket.num_successful_assemblies],
    ["Failed", "failed", (bucket) => bucket.num_erroneous_assemblies],
    ["Canceled or aborted", "canceled", canceled],
    ["Unfinished", "unfinished", unfinished]
  ]

/** The outcomes with their numbers of Assemblies. Unfinished Assemblies are mentioned only if there are some. */
const counted = ({ stats }: Statistics) =>
  outcomes
    .map(([name, tone, count]) => ({ name, tone, count, total: stats.reduce((sum, bucket) => sum + count(bucket), 0) }))
    .filter(({ tone, total }) => tone !== "unfinished" || total > 0)

/** The points of a chart. A bucket whose time is not a valid date is left out. */
const points = ({ stats }: Statistics, value: (bucket: Bucket) => number): ReadonlyArray<Chart.Point> =>
  stats.flatMap((bucket) =>
    Option.toArray(Option.map(DateTime.make(bucket.data_from_ts * 1000), (at) => ({ at, value: value(bucket) })))
  )

const windowOf = ({ granularity }: Statistics, { from, to }: Window): Chart.Window => ({
  from: from.epochMilliseconds,
  to: to.epochMilliseconds,
  granularity: granularity * 1000
})

const seriesOf = (statistics: Statistics): ReadonlyArray<Chart.Series> => [
  ...counted(statistics).map(({ count, name, tone }) => ({
    name,
    tone,
    format: Text.count,
    points: points(statistics, count)
  })),
  {
    name: "Received",
    tone: "bytes",
    format: Text.bytes,
    points: points(statistics, (bucket) => bucket.total_num_uploaded_bytes)
  }
]

type Row = readonly [name: string, value: string]

const seconds = (value: number): string => Text.duration(Duration.seconds(value))

/** The totals in words and units. */
const totals = (statistics: Statistics): ReadonlyArray<Row> => [
  ["Assemblies", Text.count(statistics.totalAssemblies)],
  ...counted(statistics).map(({ name, total }): Row => [`  ${name.toLowerCase()}`, Text.count(total)]),
  ["Received", Text.bytes(statistics.totalBytesUploaded)],
  ["Results", Text.count(statistics.totalOutputFilesProcessed)],
  ["Result bytes", Text.bytes(statistics.totalOutputBytesProcessed)],
  ["Processed files", Text.count(statistics.totalFilesProcessed)],
  ["Processed bytes", Text.bytes(statistics.totalBytesProcessed)],
  ["Usage", Text.bytes(statistics.totalUsage)],
  ["Time uploading", seconds(statistics.totalUploadDuration)],
  ["Time in queue", seconds(statistics.totalLiveQueueDuration)],
  ["Time executing", seconds(statistics.totalExecutionDuration)]
]

const columns = ([name, value]: Row, style?: Table.Column<Row>["style"]): ReadonlyArray<Table.Column<Row>> => [
  { title: name, value: ([text]) => text, style },
  { title: value, align: "right", value: ([, text]) => text }
]

/** Renders the totals, and the errors if there were some. */
const tables = (statistics: Statistics, given: Table.Options): ReadonlyArray<Text.Line> => {
  // The report is for a person also in a file; --json and --csv are for another program.
  const layout = { ...given, width: given.width ?? Number.POSITIVE_INFINITY }
  const red = columns(["Error", "Assemblies"], (text, _, style) => style.red(text))
  const errors = statistics.errorStatsTotals.map(({ error, num_erroneous_assemblies: count }): Row => [
    error,
    Text.count(count)
  ])
  return [
    ...Table.render(columns(["Statistics", "Total"]), totals(statistics), layout),
    ...(errors.length === 0 ? [] : [Text.blank, ...Table.render(red, errors, layout)])
  ]
}

/** Renders the totals, the errors, and the charts. */
export const report = (statistics: Statistics, query: Window, layout: Table.Options) => {
  const { width = Number.POSITIVE_INFINITY } = layout
  const about = Text.wrap(Printable.escape(headline(statistics, query)), width).map(Text.toLine)
  const charts =
    statistics.totalAssemblies === 0
      ? [Text.toLine(Text.truncate("No Assemblies in this period.", width))]
      : Chart.terminal(seriesOf(statistics), windowOf(statistics, query), layout)
  return [...about, Text.blank, ...tables(statistics, layout), Text.blank, ...charts]
}

const { data_from_ts: _from, ...bucketFields } = AssemblyStatistics.StatsBucket.fields

/** The columns of the CSV after `from`: the other fields of a bucket. */
const fields = Struct.keys(bucketFields)

/**
 * A line with the names of the columns, and one line for each bucket of the service, with its start in ISO 8601 (UTC).
 * Sizes are in bytes, durations in seconds, and speeds in megabits per second.
 */
export const csv = ({ stats }: Statistics): ReadonlyArray<string> => [
  ["from", ...fields].join(","),
  ...stats.map((bucket) => {
    const at = Option.match(DateTime.make(bucket.data_from_ts * 1000), {
      onNone: () => String(bucket.data_from_ts),
      onSome: DateTime.formatIso
    })
    return [at, ...fields.map((field) => String(bucket[field]))].join(",")
  })
]

/** Which Assemblies, which region and which period the report covers, in one line. */
const headline = (statistics: Statistics, query: Window): string => {
  const { from, to } = windowOf(statistics, query)
  const [start, end] = [from, to].map((millis) => Table.minute(Option.getOrUndefined(DateTime.make(millis))))
  const region = query.region === "all" ? "all regions" : `region ${query.region}`
  const words: Readonly<Record<string, string>> = { all: "with and without a Template", none: "without a Template" }
  const template = words[query.template] ?? `of the Template ${query.template}`
  return `Assemblies ${template} in ${region}, ${start} to ${end} UTC`
}

/** The charts as one picture, which is readable on light and dark backgrounds. */
export const svg = (statistics: Statistics, query: Window): string =>
  Chart.picture(seriesOf(statistics), windowOf(statistics, query), headline(statistics, query))

/** The report as one file without scripts and without links to other files. The picture brings the colours. */
export const html = (statistics: Statistics, query: Window): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assembly statistics</title>
<style>
:root { color-scheme: light dark }
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 800px; padding: 16px }
div, pre { overflow-x: auto }
svg { min-width: 600px }
</style>
</head>
<body>
<h1>Assembly statistics</h1>
<p>${Chart.escape(headline(statistics, query))}</p>
<div>
${svg(statistics, query)}
</div>
<pre>
${tables(statistics, {}).map(Chart.escape).join("\n")}
</pre>
</body>
</html>`

/** The id of the Template that the statistics are about, because the service counts by id. */
const templateIdOf = (template: string) => {
  if (template === "none") return Effect.succeed({})
  return template === "all" ? Effect.succeed({ templateId: "all" }) : TemplateId.inParams({ templateId: template })
}

/** `assembly stats`: shows totals and charts since a moment. */
export const stats = Cli.command(
  "stats",
  {
    region: Cli.region,
    since: Cli.startFlag("since", "7d"),
    template: Flag.withDefault(Cli.text("template", "template"), "all"),
    json: Cli.json(AssemblyStatistics.Statistics),
    csv: Cli.flag("csv"),
    svg: Cli.flag("svg"),
    html: Cli.flag("html")
  },
  Effect.fnUntraced(function* ({ json, region, since, template, ...wanted }) {
    const now = yield* DateTime.now
    const statistics = yield* Effect.catchTag(
      Assemblies.statistics({ region, since, ...(yield* templateIdOf(template)) }),
      ["StatisticsInvalidTime", "InvalidRequest"],
      () => Effect.fail(Cli.refusedStart(since))
    )
    const window = { from: since, to: now, region, template }
    if (wanted.csv) return yield* Output.lines(csv(statistics))
    if (wanted.svg) return yield* Output.lines(svg(statistics, window).split("\n"))
    if (wanted.html) return yield* Output.lines(html(statistics, window).split("\n"))
    yield* Output.show(json, AssemblyStatistics.Statistics, statistics, (layout) => report(statistics, window, layout))
  }),
  (given) =>
    [given.csv, given.html, given.json !== false, given.svg].filter(Boolean).length > 1
      ? "give at most one of --json, --csv, --svg and --html"
      : undefined
)
