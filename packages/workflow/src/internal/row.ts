/** The rows of the table of jobs. Each row is the current attempt of one job. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { RequestOptions } from "@assembly-effect/tus/Upload"
import { Clock, DateTime, Effect, Result, Schema, SchemaParser, Struct } from "effect"
import { resolve } from "node:path"
import type { StoreFailed } from "../DurableError.ts"
import * as DurableJob from "../DurableJob.ts"
import { damaged } from "./database.ts"
import { KeyText } from "./keyText.ts"

const File = Schema.Struct({
  source: DurableJob.Source,
  filename: Schema.NonEmptyString,
  fieldname: Schema.optional(Schema.NonEmptyString),
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
})

/** What a runner needs of a job. */
const Parts = Schema.Struct({ params: Assembly.CreateParams, files: Schema.Array(File).check(Schema.isMinLength(1)) })

/** A database has no integer as large as the size of all files of a job may be. */
const Size = Schema.BigIntFromString.check(Schema.isGreaterThanOrEqualToBigInt(0n))

/** The size of a source in bytes, and the SHA-256 of its identity, when the attempt was queued. */
const SourceAtRest = Schema.Struct({ size: Size, identity: Schema.String })
export type SourceAtRest = typeof SourceAtRest.Type

const Sources = Schema.fromJsonString(Schema.Array(SourceAtRest))

const Key = KeyText.check(Schema.isMinLength(1))

/** Whether a text is a valid key of a job. An invalid key is not looked up, because a database may refuse the text. */
export const isKey = SchemaParser.is(Key)
const decodeParts = SchemaParser.decodeUnknownEffect(Parts)

/** In a process with another working directory, a relative path would lead to another file. */
const absolute = (file: DurableJob.File): DurableJob.File =>
  file.source._tag === "Path" ? { ...file, source: DurableJob.path(resolve(file.source.path)) } : file

/** A job as the database stores it, without its key. */
const Stored = Schema.Struct({ params: Schema.Json, files: Schema.Array(Schema.Json) })
export type Stored = typeof Stored.Type
const StoredText = Schema.fromJsonString(Stored)
const encodeStored = SchemaParser.encodeSync(StoredText)
const decodeText = SchemaParser.decodeSync(StoredText)

/** A job for the database, and its files. The paths of the files are absolute. */
export interface Encoded {
  readonly job: Stored
  readonly files: ReadonlyArray<DurableJob.File>
}

const encodeInput = Input.encoder(Schema.Struct({ key: Key, ...Parts.fields }))

/** Checks a job, and encodes it for the database. The error names `operation`, and every field that is wrong. */
export const encodeJob = Effect.fnUntraced(function* (operation: string, job: DurableJob.Job, upload: RequestOptions) {
  const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
  const encoded = encodeInput(job)
  const issues = Result.isFailure(encoded)
    ? encoded.failure
    : [
        ...Input.under(["params"], Assemblies.Create.check?.(job.params, now) ?? []),
        ...job.files.flatMap(({ fieldname = "file", filename, metadata }, index) =>
          Input.under(["files", index], Hosting.issues(upload, { ...metadata, filename, fieldname }))
        )
      ]
  if (issues.length > 0 || Result.isFailure(encoded)) return yield* new InvalidRequest({ operation, issues })
  const files = encoded.success.files.map(absolute)
  // What JSON leaves out is left out here, so that equal jobs are equal.
  return { job: decodeText(JSON.stringify({ params: encoded.success.params, files })), files } satisfies Encoded
})

/** Decodes a stored job. */
export const decodeJob = ({ job, key }: Pick<Row, "job" | "key">) =>
  Effect.mapError(decodeParts(job), () => damaged(key, ["job"]))

const encodeSources = SchemaParser.encodeSync(Sources)
const FailureText = Schema.fromJsonString(DurableJob.Failure)
export const encodeFailure = SchemaParser.encodeSync(FailureText)
const WaitingText = Schema.fromJsonString(DurableJob.Waiting)
export const encodeWaiting = SchemaParser.encodeSync(WaitingText)

/** SQLite returns whatever a column contains. */
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A time that a `Date` can have. */
const Time = whole(0, 8_640_000_000_000_000)

const Text = Schema.UndefinedOr(Schema.String)

const Columns = Schema.Struct({
  key: Schema.String,
  attempt: whole(0, 1_000_000),
  state: DurableJob.State,
  /** The runner that works on the attempt. */
  runner: Text,
  job: StoredText,
  sources: Sources,
  size: Size,
  /** The fingerprint of the secret that the attempt began with, or undefined if no runner has begun it. */
  secret: Text,
  /**
   * The sealed entry of the Assembly (see `journal.ts`), or undefined if no Assembly was announced. With an entry, the
   * Assembly may exist.
   */
  assembly: Text,
  /** How much of the `patience` is used, in milliseconds: the pauses after failures, and the tries between them. */
  waited: whole(0, Number.MAX_SAFE_INTEGER),
  queuedAt: Time,
  endedAt: Schema.UndefinedOr(Time),
  failure: Schema.UndefinedOr(FailureText),
  waiting: Schema.UndefinedOr(WaitingText),
  /** See the migrations. */
  pack: Text,
  holder: Text
}).pipe(Schema.encodeKeys({ key: "job_key", queuedAt: "queued_at", endedAt: "ended_at" }))
const decodeColumns = SchemaParser.decodeUnknownResult(Columns, { errors: "all" })
const decodeTime = SchemaParser.decodeUnknownResult(Time)

/** The current attempt of a job. */
export type Row = typeof Columns.Type

/** A row as the database returns it. */
export interface Raw {
  readonly job_key: string
}

/** Large integers of Postgres are `bigint`, and a missing value is `null`. */
const plain = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : (value ?? undefined))

export const fromRaw = (raw: Raw): Result.Result<Row, StoreFailed> => {
  const values = Object.entries(raw).map(([name, value]: [string, unknown]) => [name, plain(value)])
  return Result.mapError(decodeColumns(Object.fromEntries(values)), (issue) => {
    const paths = Input.fromSchemaIssue(issue).map(({ path }) => path[0])
    return damaged(raw.job_key, paths)
  })
}

/** Rows with their keys, or the errors of damaged rows. */
export const fromAll = (rows: ReadonlyArray<Raw>) => rows.map((raw) => [raw.job_key, fromRaw(raw)] as const)

/** The first row, if there is one. */
export const first = ([raw]: ReadonlyArray<Raw>): Effect.Effect<Row | undefined, StoreFailed> =>
  raw === undefined ? Effect.undefined : Effect.fromResult(fromRaw(raw))

/** The part of a row that a program may see. */
export const toSummary = (row: Row): DurableJob.Summary =>
  Struct.pick(row, ["key", "attempt", "state", "size", "queuedAt", "endedAt", "failure", "waiting"])

/** The columns of an attempt that is queued now. */
export const queued = ({ job, sources }: Pick<NewRow, "job" | "sources">, now: number) => ({
  job: encodeStored(job),
  sources: encodeSources(sources),
  size: String(sources.reduce((sum, { size }) => sum + size, 0n)),
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
export const toCounts = (rows: ReadonlyArray<RawCount>): ReadonlyArray<DurableJob.Count> =>
  DurableJob.State.literals.map((state) => {
    const row = rows.find((one) => one.state === state)
    return { state, jobs: Number(row?.jobs ?? 0), oldest: Result.getOrUndefined(decodeTime(plain(row?.oldest))) }
  })

/** The states of an attempt that has ended. */
export const ended = ["Completed", "Failed", "Canceled"] as const satisfies ReadonlyArray<DurableJob.State>

/** Whether the attempt has ended. The state of an ended attempt does not change any more. */
export const hasEnded = ({ state }: { readonly state: DurableJob.State }): boolean => ended.some((end) => end === state)

/** The beginning of the keys of packs. The key of a job has no control character. */
export const packPrefix = "\u0001"

/** Whether a row is a pack. */
export const isPack = ({ key }: { readonly key: string }): boolean => key.startsWith(packPrefix)

/** An attempt that is to be stored in the table. */
export interface NewRow {
  readonly key: string
  readonly pack?: string | undefined
  readonly job: Stored
  readonly sources: ReadonlyArray<SourceAtRest>
}
