import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Effect from "effect/Effect"
import * as SchemaParser from "effect/SchemaParser"
import * as Harness from "../harness.ts"

const hours = 91 * 24
const repeats = 20

const bucket = (index: number): AssemblyStatistics.StatsBucket => ({
  data_from_ts: 1_767_225_600 + index * 3600,
  avg_execution_duration: 1.5 + (index % 7) / 3,
  avg_input_file_sizes: 1_000_000 + index,
  avg_live_queue_duration: 0.25 + (index % 5) / 9,
  avg_output_file_sizes: 500_000 + index,
  avg_processing_speed: 12.75 + (index % 11),
  avg_upload_duration: 0.5 + (index % 3) / 7,
  avg_upload_speed: 80.5 + (index % 13),
  num_assemblies: index,
  num_bytes: index * 1_000_003,
  num_cancelled_assemblies: index % 3,
  num_erroneous_assemblies: index % 5,
  num_files: index * 2,
  num_request_aborted_assemblies: index % 2,
  num_successful_assemblies: index,
  total_bytes_usage: index * 2_000_003,
  total_execution_duration: index * 1.25,
  total_live_queue_duration: index * 0.5,
  total_num_output_files: index * 3,
  total_num_uploaded_bytes: index * 1_000_003,
  total_output_file_sizes: index * 500_009,
  total_upload_duration: index * 0.75
})

const body = JSON.stringify({
  ok: "ASSEMBLY_STATS_FOUND",
  granularity: 3600,
  stats: Array.from({ length: hours }, (_, index) => bucket(index)),
  errorStatsGranularity: 86_400,
  errorStats: Array.from({ length: 91 }, (_, index) => ({
    data_from_ts: 1_767_225_600 + index * 86_400,
    error: "INPUT_FILE_UNREADABLE",
    num_erroneous_assemblies: index
  })),
  errorStatsTotals: [{ error: "INPUT_FILE_UNREADABLE", num_erroneous_assemblies: 4095 }],
  totalAssemblies: 100_000,
  totalBytesProcessed: 1_000_000_000_000,
  totalBytesUploaded: 500_000_000_000,
  totalExecutionDuration: 123_456.75,
  totalFilesProcessed: 200_000,
  totalLiveQueueDuration: 1234.5,
  totalOutputBytesProcessed: 400_000_000_000,
  totalOutputFilesProcessed: 300_000,
  totalUploadDuration: 5432.25,
  totalUsage: 2_000_000_000_000
} satisfies AssemblyStatistics.Statistics)

const decode = SchemaParser.decodeUnknownEffect(AssemblyStatistics.Statistics, { errors: "all" })

const decodeAll = Harness.seconds(
  Effect.repeat(
    Effect.suspend(() => decode(JSON.parse(body))),
    { times: repeats - 1 }
  )
).pipe(Effect.mapError((issue) => new Harness.BenchError(String(issue))))

const parseAll = Harness.seconds(
  Effect.sync(() => {
    for (let index = 0; index < repeats; index++) JSON.parse(body)
  })
)

export const row: Harness.Row = {
  id: "P8",
  work: `decode statistics of ${hours} buckets, ${repeats} times`,
  run: Effect.gen(function* () {
    const samples = yield* Harness.alternate<"ours" | "parse", Harness.BenchError, never>(
      { ours: decodeAll, parse: parseAll },
      { rounds: 15, warmups: 3 }
    )
    return [
      Harness.ratio({
        peer: "JSON.parse alone",
        target: Harness.atMost(2.5),
        unit: "s",
        ours: samples.ours,
        theirs: samples.parse
      })
    ]
  })
}
