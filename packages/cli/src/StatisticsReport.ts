/**
 * Assembly statistics as a table of totals and as charts over time.
 */
import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Chart from "./Chart.ts"
import * as Format from "./Format.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

/**
 * The charts show the time from `from` to `to`, by default the time that the buckets cover.
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

interface Total {
  readonly name: string
  readonly value: string
}

const seconds = (value: number): string => Format.duration(Duration.seconds(value))

const toTotals = (statistics: AssemblyStatistics.Statistics): ReadonlyArray<Total> => [
  { name: "Assemblies", value: Format.count(statistics.totalAssemblies) },
  { name: "Uploaded", value: Format.bytes(statistics.totalBytesUploaded) },
  { name: "Files processed", value: Format.count(statistics.totalFilesProcessed) },
  { name: "Bytes processed", value: Format.bytes(statistics.totalBytesProcessed) },
  { name: "Files produced", value: Format.count(statistics.totalOutputFilesProcessed) },
  { name: "Bytes produced", value: Format.bytes(statistics.totalOutputBytesProcessed) },
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
  ...Table.render(totalColumns, toTotals(statistics), options),
  ...(statistics.errorStatsTotals.length === 0
    ? []
    : [Style.blank, ...Table.render(errorColumns, statistics.errorStatsTotals, options)])
]

/**
 * Renders the number of Assemblies and the uploaded bytes over time.
 *
 * @since 0.1.0
 * @category formatting
 */
export const charts = (statistics: AssemblyStatistics.Statistics, options?: Options): ReadonlyArray<Style.Line> => {
  const points = (value: (bucket: AssemblyStatistics.StatsBucket) => number): ReadonlyArray<Chart.Point> =>
    Arr.getSomes(
      statistics.stats.map((bucket) =>
        Option.map(DateTime.make(bucket.data_from_ts * 1000), (at) => ({ at, value: value(bucket) }))
      )
    )
  const shared = { ...options, bucket: Duration.seconds(statistics.granularity), height: 6 }
  return [
    ...Chart.render(
      points((bucket) => bucket.num_assemblies),
      { ...shared, title: "Assemblies", format: Format.count }
    ),
    Style.blank,
    ...Chart.render(
      points((bucket) => bucket.total_num_uploaded_bytes),
      { ...shared, title: "Uploaded bytes", format: Format.bytes }
    )
  ]
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
  ...charts(statistics, options)
]
