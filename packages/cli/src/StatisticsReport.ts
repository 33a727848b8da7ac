/**
 * Assembly statistics as a table of totals and as charts over time.
 */
import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Chart from "./Chart.ts"
import * as Format from "./Format.ts"
import * as Outcomes from "./internal/outcomes.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"
import * as Text from "./internal/text.ts"

/**
 * The charts show the time from `from` to `to`, by default from the start of the first bucket to the start of the last
 * bucket.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly from?: DateTime.DateTime | undefined
  readonly to?: DateTime.DateTime | undefined
  readonly width?: number | undefined
  readonly style?: Style.Style | undefined
}

/**
 * A total with its unit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Total {
  readonly name: string
  readonly value: string
}

const seconds = (value: number): string => Format.duration(Duration.seconds(value))

/**
 * The totals in words and units.
 *
 * @since 0.1.0
 * @category formatting
 */
export const totals = (statistics: AssemblyStatistics.Statistics): ReadonlyArray<Total> => [
  { name: "Assemblies", value: Format.count(statistics.totalAssemblies) },
  ...Outcomes.all.flatMap((outcome) => {
    const count = Outcomes.total(statistics, outcome)
    // Unfinished Assemblies are the exception, so a report without them does not mention them.
    return count === 0 && outcome.key === "unfinished"
      ? []
      : [{ name: `  ${outcome.name.toLowerCase()}`, value: Format.count(count) }]
  }),
  { name: "Received", value: Format.bytes(statistics.totalBytesUploaded) },
  { name: "Results", value: Format.count(statistics.totalOutputFilesProcessed) },
  { name: "Result bytes", value: Format.bytes(statistics.totalOutputBytesProcessed) },
  { name: "Processed files", value: Format.count(statistics.totalFilesProcessed) },
  { name: "Processed bytes", value: Format.bytes(statistics.totalBytesProcessed) },
  { name: "Usage", value: Format.bytes(statistics.totalUsage) },
  { name: "Time uploading", value: seconds(statistics.totalUploadDuration) },
  { name: "Time in queue", value: seconds(statistics.totalLiveQueueDuration) },
  { name: "Time executing", value: seconds(statistics.totalExecutionDuration) }
]

const totalColumns: ReadonlyArray<Table.Column<Total>> = [
  { title: "Statistics", value: ({ name }) => name },
  { title: "Total", align: "right", value: ({ value }) => value }
]

const errorColumns: ReadonlyArray<Table.Column<AssemblyStatistics.ErrorTotal>> = [
  { title: "Error", value: ({ error }) => error, style: (text, _, style) => style.red(text) },
  { title: "Assemblies", align: "right", value: (total) => Format.count(total.num_erroneous_assemblies) }
]

/**
 * Renders the totals and, if there were errors, a table of errors.
 *
 * @since 0.1.0
 * @category formatting
 */
export const tables = (statistics: AssemblyStatistics.Statistics, options?: Options): ReadonlyArray<Style.Line> => [
  ...Table.render(totalColumns, totals(statistics), options),
  ...(statistics.errorStatsTotals.length === 0
    ? []
    : [Style.blank, ...Table.render(errorColumns, statistics.errorStatsTotals, options)])
]

const colours = { completed: "green", failed: "red", canceled: "yellow", unfinished: "cyan" } as const

/**
 * Renders the number of Assemblies of each outcome and the received bytes over time. All charts have the same time
 * axis.
 *
 * @since 0.1.0
 * @category formatting
 */
export const charts = (statistics: AssemblyStatistics.Statistics, options: Options = {}): ReadonlyArray<Style.Line> => {
  const outcomes = Outcomes.all.filter(
    (outcome) => outcome.key !== "unfinished" || Outcomes.total(statistics, outcome) > 0
  )
  const series: ReadonlyArray<Chart.Series> = [
    ...outcomes.map(({ count, key, name }) => ({
      title: name,
      points: Outcomes.points(statistics, count),
      format: Format.count,
      colour: colours[key]
    })),
    {
      title: "Received",
      points: Outcomes.points(statistics, (bucket) => bucket.total_num_uploaded_bytes),
      format: Format.bytes,
      colour: "cyan"
    }
  ]
  const { style, width } = options
  return Chart.render(series, { ...Outcomes.windowOf(statistics, options), style, width })
}

/**
 * Renders the whole report.
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (statistics: AssemblyStatistics.Statistics, options?: Options): ReadonlyArray<Style.Line> => [
  ...tables(statistics, options),
  Style.blank,
  ...(statistics.totalAssemblies === 0
    ? [Style.toLine(Text.truncate("No Assemblies in this period.", options?.width ?? Number.POSITIVE_INFINITY))]
    : charts(statistics, options))
]
