/**
 * How the Assemblies in a bucket of statistics have ended. All functions are pure.
 */
import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type * as Chart from "../Chart.ts"

type Bucket = AssemblyStatistics.StatsBucket

/** One outcome of Assemblies: its name, and the number of Assemblies with this outcome in a bucket. */
export interface Outcome {
  readonly name: string
  readonly key: "completed" | "failed" | "canceled" | "unfinished"
  readonly count: (bucket: Bucket) => number
}

const canceled = (bucket: Bucket): number => bucket.num_cancelled_assemblies + bucket.num_request_aborted_assemblies

/** Every Assembly of a bucket has exactly one of these outcomes. `Unfinished` Assemblies have not ended yet. */
export const all: ReadonlyArray<Outcome> = [
  { name: "Completed", key: "completed", count: (bucket) => bucket.num_successful_assemblies },
  { name: "Failed", key: "failed", count: (bucket) => bucket.num_erroneous_assemblies },
  { name: "Canceled or aborted", key: "canceled", count: canceled },
  {
    name: "Unfinished",
    key: "unfinished",
    count: (bucket) =>
      Math.max(
        0,
        bucket.num_assemblies - bucket.num_successful_assemblies - bucket.num_erroneous_assemblies - canceled(bucket)
      )
  }
]

/** The number of Assemblies with an outcome in all buckets. */
export const total = ({ stats }: AssemblyStatistics.Statistics, { count }: Outcome): number =>
  stats.reduce((sum, bucket) => sum + count(bucket), 0)

/** The points of a chart. A bucket whose time is not a valid date is left out. */
export const points = (
  { stats }: AssemblyStatistics.Statistics,
  value: (bucket: Bucket) => number
): ReadonlyArray<Chart.Point> =>
  stats.flatMap((bucket) =>
    Option.match(DateTime.make(bucket.data_from_ts * 1000), {
      onNone: () => [],
      onSome: (at) => [{ at, value: value(bucket) }]
    })
  )

/**
 * The window of a report, in milliseconds since 1970: the given times, else the start of the first bucket and the start
 * of the last bucket. `granularity` is the length of a bucket in milliseconds.
 */
export const windowOf = (
  statistics: AssemblyStatistics.Statistics,
  given: { readonly from?: DateTime.DateTime | undefined; readonly to?: DateTime.DateTime | undefined }
): { readonly from: number; readonly to: number; readonly granularity: number } => {
  const granularity = statistics.granularity * 1000
  const times = points(statistics, () => 0).map(({ at }) => at.epochMilliseconds)
  const latest = times.reduce((last, time) => Math.max(last, time), 0)
  const to = given.to?.epochMilliseconds ?? latest
  const from = given.from?.epochMilliseconds ?? times.reduce((first, time) => Math.min(first, time), to)
  return { from, to, granularity }
}
