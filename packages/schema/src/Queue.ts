/**
 * Priority job slots: how many slots the jobs of a Workspace use now, and how many slots they used in the past.
 *
 * These schemas are beyond the specification: spec.md names the operations, but defines neither their params nor their
 * responses.
 *
 * The index does not export this module: `import * as Queue from "@assembly-effect/schema/Queue"`.
 */
import * as Schema from "effect/Schema"
import { Since } from "./internal/date.ts"
import { generateFew, lenient, NonEmptyString, NonNegativeNumber } from "./unstable/Field.ts"
import { kept, named, type Structure, success } from "./unstable/Struct.ts"

/**
 * Numbers of slots by name. The value of a name is a number, or an object with further names.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category models
 */
export interface Slots {
  readonly [name: string]: number | Slots
}

const SlotsCodec: Schema.Codec<Slots> = Schema.Record(
  Schema.String,
  Schema.Union([NonNegativeNumber, Schema.suspend(() => SlotsCodec)])
).check(generateFew(2))

/**
 * The priority job slots that are in use now: the total number in `count`, and the numbers by name in `slots`.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const JobSlots = success("PRIORITY_JOB_SLOTS_FOUND", {
  priority_job_slots: Schema.Struct({ count: NonNegativeNumber, slots: SlotsCodec })
}).pipe(named<JobSlots>())
/**
 * @since 0.1.0
 * @category models
 */
export interface JobSlots extends Structure<typeof JobSlots> {}

/**
 * The params of a request for the statistics of the job slots. `since` is the start of the time window. `aggregation`
 * selects the average (`avg`) or the maximum (`max`) of each time bucket. If `aggregation` is null or absent, the
 * service chooses.
 *
 * Beyond the specification.
 *
 * @example `{ region: "eu-west-1", since: DateTime.subtract(now, { days: 7 }), aggregation: "max" }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const StatisticsQuery = Schema.Struct({
  region: NonEmptyString,
  since: Since,
  aggregation: Schema.optionalKey(Schema.NullOr(Schema.Literals(["avg", "max"])))
}).pipe(named<StatisticsQuery>())
/**
 * @since 0.1.0
 * @category models
 */
export interface StatisticsQuery extends Structure<typeof StatisticsQuery> {}

const number = lenient(Schema.Finite)

/**
 * The slots of one time bucket. The bucket starts at `data_from_ts`, in seconds since 1970. Unknown fields are kept.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Bucket = named<Bucket, Schema.JsonObject>()(
  kept({ data_from_ts: NonNegativeNumber, avg_slot_count: number, max_slot_count: number, slot_count: number })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface Bucket extends Structure<typeof Bucket> {}
/**
 * The statistics of the job slots. `granularity` is the length of a bucket in seconds. Unknown fields are kept.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Statistics = kept({
  ok: Schema.Literal("PRIORITY_JOB_SLOT_STATS_FOUND"),
  message: lenient(Schema.String),
  aggregation: lenient(Schema.String),
  avgSlotCount: number,
  maxSlotCount: number,
  granularity: number,
  stats: Schema.Array(Bucket)
}).pipe(named<Statistics, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Statistics extends Structure<typeof Statistics> {}
