/** The rows of the table of jobs. Each row is the current attempt of one job. */
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Struct from "effect/Struct"
import type { StoreFailed } from "../DurableError.ts"
import { type Count, Failure, State, type Summary, Waiting } from "../DurableJob.ts"
import * as JobAtRest from "./jobAtRest.ts"
import { damaged } from "./database.ts"

const encodeSources = SchemaParser.encodeSync(JobAtRest.Sources)
const FailureText = Schema.fromJsonString(Failure)
export const encodeFailure = SchemaParser.encodeSync(FailureText)
const WaitingText = Schema.fromJsonString(Waiting)
export const encodeWaiting = SchemaParser.encodeSync(WaitingText)

/** SQLite returns whatever a column contains. */
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A time that a `Date` can have. */
const Time = whole(0, 8_640_000_000_000_000)

const Text = Schema.UndefinedOr(Schema.String)

const Columns = Schema.Struct({
  job_key: Schema.String,
  attempt: whole(0, 1_000_000),
  state: State,
  /** The runner that works on the attempt. */
  runner: Text,
  /** See `JobAtRest`. */
  job: Schema.String,
  sources: JobAtRest.Sources,
  size: JobAtRest.SourceAtRest.fields.size,
  /** The fingerprint of the secret that the attempt began with, or undefined if no runner has begun it. */
  secret: Text,
  /**
   * The sealed entry of the Assembly (see `journal.ts`), or undefined if no Assembly was announced. With an entry, the
   * Assembly may exist.
   */
  assembly: Text,
  /** How much of the `patience` is used, in milliseconds: the pauses after failures, and the tries between them. */
  waited: whole(0, Number.MAX_SAFE_INTEGER),
  queued_at: Time,
  ended_at: Schema.UndefinedOr(Time),
  failure: Schema.UndefinedOr(FailureText),
  waiting: Schema.UndefinedOr(WaitingText),
  /** See the migrations. */
  pack: Text,
  holder: Text
})
const decodeColumns = SchemaParser.decodeUnknownResult(Columns, { errors: "all" })
const decodeTime = SchemaParser.decodeUnknownResult(Time)

const toRow = ({ ended_at: endedAt, job_key: key, queued_at: queuedAt, size, ...columns }: typeof Columns.Type) => ({
  ...columns,
  key,
  size: BigInt(size),
  queuedAt,
  endedAt
})

/** The current attempt of a job. */
export type Row = ReturnType<typeof toRow>

/** A row as the database returns it. */
export interface Raw {
  readonly job_key: string
}

/** Large integers of Postgres are `bigint`, and a missing value is `null`. */
const plain = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : (value ?? undefined))

export const fromRaw = (raw: Raw): Result.Result<Row, StoreFailed> => {
  const values = Object.entries(raw).map(([name, value]: [string, unknown]) => [name, plain(value)])
  return Result.mapBoth(decodeColumns(Object.fromEntries(values)), {
    onFailure: (issue) =>
      damaged(
        raw.job_key,
        Input.fromSchemaIssue(issue).map(({ path }) => path[0])
      ),
    onSuccess: toRow
  })
}

/** Rows with their keys, or the errors of damaged rows. */
export const fromAll = (rows: ReadonlyArray<Raw>) => rows.map((raw) => [raw.job_key, fromRaw(raw)] as const)

/** The first row, if there is one. */
export const first = ([raw]: ReadonlyArray<Raw>): Effect.Effect<Option.Option<Row>, StoreFailed> =>
  raw === undefined ? Effect.succeedNone : Effect.asSome(Effect.fromResult(fromRaw(raw)))

/** The part of a row that a program may see. */
export const toSummary = (row: Row): Summary =>
  Struct.pick(row, ["key", "attempt", "state", "size", "queuedAt", "endedAt", "failure", "waiting"])

/** The columns of an attempt that is queued now. */
export const queued = ({ job, sources }: Pick<NewRow, "job" | "sources">, now: number) => ({
  job,
  sources: encodeSources(sources),
  size: String(sources.reduce((sum, { size }) => sum + BigInt(size), 0n)),
  waited: 0,
  queued_at: now
})

/** How many jobs are in a state, as the database returns it. */
export interface RawCount {
  readonly state: string
  readonly jobs: unknown
  readonly oldest: unknown
}

/** The counts of all states, also of those without a job. */
export const toCounts = (rows: ReadonlyArray<RawCount>): ReadonlyArray<Count> =>
  State.literals.map((state) => {
    const row = rows.find((one) => one.state === state)
    return { state, jobs: Number(row?.jobs ?? 0), oldest: Result.getOrUndefined(decodeTime(plain(row?.oldest))) }
  })

/** The states of an attempt that has ended. */
export const ended = ["Completed", "Failed", "Canceled"] as const satisfies ReadonlyArray<State>

/** Whether the attempt has ended. The state of an ended attempt does not change any more. */
export const hasEnded = ({ state }: { readonly state: State }): boolean => ended.some((end) => end === state)

/** The beginning of the keys of packs. The key of a job has no control character. */
export const packPrefix = "\u0001"

/** Whether a row is a pack. */
export const isPack = ({ key }: { readonly key: string }): boolean => key.startsWith(packPrefix)

/** An attempt that is to be stored in the table. */
export interface NewRow {
  readonly key: string
  readonly pack?: string | undefined
  readonly job: string
  readonly sources: ReadonlyArray<JobAtRest.SourceAtRest>
}
