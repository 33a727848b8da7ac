/**
 * Assembly statistics (spec.md, "Assembly statistics response" and "Retrieve Assembly statistics").
 *
 * The fields of responses have the same names as in the specification.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { Since } from "./internal/date.ts"
import { closed, named, strict, type Structure } from "./unstable/Struct.ts"
import { quick } from "./internal/quick.ts"
import { NonEmptyString, NonNegativeInt, NonNegativeNumber, PositiveInt } from "./unstable/Field.ts"

/**
 * The statistics of one time bucket. Durations are in seconds, speeds in megabits per second, sizes in bytes.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const StatsBucket = Schema.Struct({
  data_from_ts: NonNegativeInt,
  avg_execution_duration: NonNegativeNumber,
  avg_input_file_sizes: NonNegativeInt,
  avg_live_queue_duration: NonNegativeNumber,
  avg_output_file_sizes: NonNegativeInt,
  avg_processing_speed: NonNegativeNumber,
  avg_upload_duration: NonNegativeNumber,
  avg_upload_speed: NonNegativeNumber,
  num_assemblies: NonNegativeInt,
  num_bytes: NonNegativeInt,
  num_cancelled_assemblies: NonNegativeInt,
  num_erroneous_assemblies: NonNegativeInt,
  num_files: NonNegativeInt,
  num_request_aborted_assemblies: NonNegativeInt,
  num_successful_assemblies: NonNegativeInt,
  total_bytes_usage: NonNegativeInt,
  total_execution_duration: NonNegativeNumber,
  total_live_queue_duration: NonNegativeNumber,
  total_num_output_files: NonNegativeInt,
  total_num_uploaded_bytes: NonNegativeInt,
  total_output_file_sizes: NonNegativeInt,
  total_upload_duration: NonNegativeNumber
}).pipe(named<StatsBucket>())
/**
 * @since 0.1.0
 * @category models
 */
export interface StatsBucket extends Structure<typeof StatsBucket> {}

/**
 * The number of Assemblies that ended with one error code within one time bucket.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorBucket = Schema.Struct({
  data_from_ts: NonNegativeInt,
  error: NonEmptyString,
  num_erroneous_assemblies: NonNegativeInt
}).pipe(named<ErrorBucket>())
/**
 * @since 0.1.0
 * @category models
 */
export interface ErrorBucket extends Structure<typeof ErrorBucket> {}

/**
 * The number of Assemblies that ended with one error code in the whole time window.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorTotal = Schema.Struct({
  error: NonEmptyString,
  num_erroneous_assemblies: NonNegativeInt
}).pipe(named<ErrorTotal>())
/**
 * @since 0.1.0
 * @category models
 */
export interface ErrorTotal extends Structure<typeof ErrorTotal> {}

/**
 * The statistics of a time window. `granularity` is the length of a bucket of `stats` in seconds.
 *
 * Clause: spec.md, "Assembly statistics response".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Statistics = Schema.Struct({
  ok: Schema.Literal("ASSEMBLY_STATS_FOUND"),
  granularity: PositiveInt,
  stats: Schema.Array(quick(StatsBucket)),
  errorStatsGranularity: PositiveInt,
  errorStats: Schema.Array(ErrorBucket),
  errorStatsTotals: Schema.Array(ErrorTotal),
  totalAssemblies: NonNegativeInt,
  totalBytesProcessed: NonNegativeInt,
  totalBytesUploaded: NonNegativeInt,
  totalExecutionDuration: NonNegativeNumber,
  totalFilesProcessed: NonNegativeInt,
  totalLiveQueueDuration: NonNegativeNumber,
  totalOutputBytesProcessed: NonNegativeInt,
  totalOutputFilesProcessed: NonNegativeInt,
  totalUploadDuration: NonNegativeNumber,
  totalUsage: NonNegativeInt
}).pipe(named<Statistics>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Statistics extends Structure<typeof Statistics> {}

const makeStrict = () =>
  strict({
    ...Statistics.fields,
    stats: Schema.Array(strict(StatsBucket.fields)),
    errorStats: Schema.Array(strict(ErrorBucket.fields)),
    errorStatsTotals: Schema.Array(strict(ErrorTotal.fields))
  })

/**
 * {@link Statistics} in strict form: fields that the specification does not name are refused at every level.
 *
 * Clause: spec.md, "Assembly statistics response", "only these fields".
 *
 * @since 0.1.0
 * @category schemas
 */
export const StatisticsStrict = makeStrict()

const isTemplate = (id: string | null): id is string => id !== null && id !== "" && id !== "no_template"

/**
 * A Template ID, or `all` for the totals of all Templates. An absent value means Assemblies without a Template; on the
 * wire, null, an empty string and `no_template` also mean Assemblies without a Template.
 *
 * Clause: spec.md, "Retrieve Assembly statistics".
 */
const TemplateId = Schema.optionalKey(Schema.NullOr(Schema.String)).pipe(
  Schema.decodeTo(
    Schema.optionalKey(
      Schema.String.check(
        Schema.makeFilter(isTemplate, {
          expected: "a Template ID or all (leave it out for Assemblies without a Template)",
          arbitraryConstraint: { minLength: 1 }
        })
      )
    ),
    {
      decode: SchemaGetter.transformOptional((wire: Option.Option<string | null>) => Option.filter(wire, isTemplate)),
      encode: SchemaGetter.passthrough({ strict: false })
    }
  )
)

/**
 * The params of a statistics request. Unknown keys are refused.
 *
 * `since` is the start of the time window: a `DateTime.Utc`, which is sent as ISO 8601, or a text that the service can
 * parse, which is sent unchanged. `Assemblies.statistics` of `@assembly-effect/api`, which has a clock, checks that a
 * `DateTime.Utc`, or an ISO 8601 text with `Z` or an offset, is at most 91 days ago.
 *
 * Clause: spec.md, "Retrieve Assembly statistics", "no other keys are accepted".
 *
 * @example `{ region: "all", since: DateTime.subtract(now, { days: 7 }), templateId: "all" }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Query = named<Query>()(closed({ region: NonEmptyString, since: Since, templateId: TemplateId }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Query extends Structure<typeof Query> {}
