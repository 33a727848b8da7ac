/**
 * The table of jobs. Each row is the current attempt of one job.
 *
 * Each UPDATE names the states in which it is allowed. So if a change moves an attempt to another state, only one of
 * two processes can make this change.
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SchemaParser from "effect/SchemaParser"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import type { StoreFailed } from "../DurableError.ts"
import { Failure, type State, type Summary, Waiting } from "../DurableJob.ts"
import * as Schema from "effect/Schema"
import type { Root } from "./derive.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as StoreError from "./storeError.ts"

/** Columns as the databases return them: Postgres returns large integers as text. */
interface Columns {
  readonly job_key: string
  readonly attempt: number | string
  readonly state: State
  readonly job: string
  readonly sources: string
  readonly size: string
  readonly begins: number | string
  readonly secret: string | null
  readonly salt: string | null
  readonly creations: string | null
  readonly queued_at: number | string
  readonly ended_at: number | string | null
  readonly failure: string | null
  readonly waiting: string | null
  readonly canceled_at: number | string | null
}

/**
 * The current attempt of a job.
 *
 * - `job`: see `JobAtRest`.
 * - `begins`: how often a runner has begun the attempt. If `begins` is above 0, the Assembly of the attempt may exist.
 * - `creations`: for each file, how often the creation of its upload was announced. If this number is above 0, the
 *   upload may exist.
 * - `canceledAt`: when the cancellation of the attempt was stored. If an earlier version stored the cancellation
 *   without this time, `canceledAt` is when the cancellation first failed.
 */
export interface Row extends Summary, Root {
  readonly job: string
  readonly sources: ReadonlyArray<JobAtRest.SourceAtRest>
  readonly begins: number
  readonly creations: ReadonlyArray<number>
  readonly canceledAt: number | undefined
}

/** An attempt that is to be stored in the table. */
export interface NewRow {
  readonly key: string
  readonly job: string
  readonly sources: ReadonlyArray<JobAtRest.SourceAtRest>
  readonly shard: number
}

const FailureText = Schema.fromJsonString(Failure)
const encodeSources = SchemaParser.encodeSync(JobAtRest.Sources)
const decodeSources = SchemaParser.decodeUnknownSync(JobAtRest.Sources)
const encodeCreations = SchemaParser.encodeSync(JobAtRest.Creations)
const decodeCreations = SchemaParser.decodeUnknownSync(JobAtRest.Creations)
const encodeFailure = SchemaParser.encodeSync(FailureText)
const decodeFailure = SchemaParser.decodeUnknownSync(FailureText)
const WaitingText = Schema.fromJsonString(Waiting)
const encodeWaiting = SchemaParser.encodeSync(WaitingText)
const decodeWaiting = SchemaParser.decodeUnknownSync(WaitingText)

const toRow = (columns: Columns): Row => ({
  key: columns.job_key,
  attempt: Number(columns.attempt),
  state: columns.state,
  size: BigInt(columns.size),
  queuedAt: Number(columns.queued_at),
  endedAt: columns.ended_at === null ? undefined : Number(columns.ended_at),
  failure: columns.failure === null ? undefined : decodeFailure(columns.failure),
  waiting: columns.waiting === null ? undefined : decodeWaiting(columns.waiting),
  job: columns.job,
  sources: decodeSources(columns.sources),
  begins: Number(columns.begins),
  secret: columns.secret ?? undefined,
  salt: columns.salt ?? undefined,
  creations: columns.creations === null ? [] : decodeCreations(columns.creations),
  canceledAt: columns.canceled_at === null ? undefined : Number(columns.canceled_at)
})

/** The part of a row that a program may see. */
export const toSummary = ({ attempt, endedAt, failure, key, queuedAt, size, state, waiting }: Row): Summary => ({
  key,
  attempt,
  state,
  size,
  queuedAt,
  endedAt,
  failure,
  waiting
})

const totalSize = (sources: ReadonlyArray<JobAtRest.SourceAtRest>): string =>
  String(sources.reduce((sum, { size }) => sum + BigInt(size), 0n))

/** Identifies the attempt that a statement changes. The statement does not change a later attempt of the same key. */
export interface Attempt {
  readonly key: string
  readonly attempt: number
}

/** An attempt with its place in the queue. */
export interface Queued extends Attempt {
  readonly queuedAt: number
}

const ended = ["Completed", "Failed", "Canceled"] as const satisfies ReadonlyArray<State>

/** Whether the attempt has ended. The state of an ended attempt does not change any more. */
export const hasEnded = ({ state }: { readonly state: State }): boolean => ended.some((end) => end === state)

const tableName = "durable_jobs"

/** Whether the embedded database has jobs that have begun. This query may run before the tables exist. */
export const hasBegun = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = ${tableName}`
  if (tables.length === 0) return false
  return (yield* sql`SELECT 1 FROM ${sql(tableName)} WHERE secret IS NOT NULL LIMIT 1`).length > 0
}).pipe(Effect.mapError(StoreError.of("open")))

export const make = Effect.gen(function* () {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const table = sql(tableName)

  const attempting =
    (operation: string) =>
    <A, R>(access: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, StoreFailed, R> =>
      Effect.mapError(access, StoreError.of(operation))

  const one = (rows: ReadonlyArray<Columns>): Option.Option<Row> =>
    rows[0] === undefined ? Option.none() : Option.some(toRow(rows[0]))

  /** The row of a key. */
  const find = (key: string) =>
    sql<Columns>`SELECT * FROM ${table} WHERE job_key = ${key}`.pipe(Effect.map(one), attempting("find"))

  /** Queues the jobs whose keys are not in the table, and returns the rows of these jobs. */
  const insert = (rows: Arr.NonEmptyReadonlyArray<NewRow>) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const values = Arr.map(rows, ({ job, key, shard, sources }) => ({
        job_key: key,
        attempt: 1,
        state: "Queued",
        job,
        sources: encodeSources(sources),
        size: totalSize(sources),
        shard,
        begins: 0,
        queued_at: now
      }))
      const inserted = yield* sql<Columns>`
        INSERT INTO ${table} ${sql.insert(values)} ON CONFLICT (job_key) DO NOTHING RETURNING *`
      return inserted.map(toRow)
    }).pipe(attempting("insert"))

  /**
   * Records that the Assembly may exist from now on. Returns None if the attempt is neither `Queued` nor `Uploading`.
   * The salt and the secret from which the ids are derived are stored only once, because the ids of an attempt must not
   * change. An attempt that began before the table had salts keeps its ids, which have no salt.
   */
  const begin = (
    { attempt, key }: Attempt,
    { salt, secret }: { readonly [Name in keyof Root]: string },
    lookup: string
  ) =>
    sql<Columns>`
      UPDATE ${table}
      SET state = 'Uploading', begins = begins + 1,
        salt = CASE WHEN begins = 0 THEN ${salt} ELSE salt END,
        secret = COALESCE(secret, ${secret}), lookup = COALESCE(lookup, ${lookup})
      WHERE job_key = ${key} AND attempt = ${attempt} AND state IN ('Queued', 'Uploading')
      RETURNING *`.pipe(Effect.map(one), attempting("begin"))

  /** Records that uploads may be created from now on. Returns false if the attempt is not `Uploading` any more. */
  const announce = ({ attempt, key }: Attempt, creations: ReadonlyArray<number>) =>
    sql`
      UPDATE ${table} SET creations = ${encodeCreations(creations)}
      WHERE job_key = ${key} AND attempt = ${attempt} AND state = 'Uploading'
      RETURNING attempt`.pipe(
      Effect.map(({ length }) => length > 0),
      attempting("announce")
    )

  /** Records why an attempt waits. Without `failure`, records that the attempt no longer waits. */
  const wait = ({ attempt, key }: Attempt, failure: Failure | undefined) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const waiting = failure === undefined ? null : encodeWaiting({ ...failure, at: now })
      yield* sql`
        UPDATE ${table}
        SET waiting = ${waiting},
          canceled_at = CASE state WHEN 'Canceling' THEN COALESCE(canceled_at, ${now}) ELSE canceled_at END
        WHERE job_key = ${key} AND attempt = ${attempt} AND state IN ('Uploading', 'Processing', 'Canceling')`
    }).pipe(attempting("wait"))

  /** Records that all bytes are stored. Returns false if the attempt is not `Uploading` any more. */
  const stored = ({ attempt, key }: Attempt) =>
    sql`
      UPDATE ${table} SET state = 'Processing', waiting = NULL
      WHERE job_key = ${key} AND attempt = ${attempt} AND state = 'Uploading'
      RETURNING attempt`.pipe(
      Effect.map(({ length }) => length > 0),
      attempting("stored")
    )

  /** Records how an attempt ended. Changes nothing if the state of the attempt is not one of `from`. */
  const end = (
    { attempt, key }: Attempt,
    state: (typeof ended)[number],
    from: Arr.NonEmptyReadonlyArray<State>,
    failure?: Failure
  ) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      yield* sql`
        UPDATE ${table}
        SET state = ${state}, waiting = NULL, ended_at = ${now}, failure = ${failure === undefined ? null : encodeFailure(failure)}
        WHERE job_key = ${key} AND attempt = ${attempt} AND ${sql.in("state", from)}`
    }).pipe(attempting("end"))

  /**
   * Records that the job shall be canceled. A queued job is canceled at once. Returns None if the job is unknown, has
   * ended, or is already being canceled.
   */
  const cancel = (key: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return one(
        yield* sql<Columns>`
          UPDATE ${table}
          SET state = CASE state WHEN 'Queued' THEN 'Canceled' ELSE 'Canceling' END,
            ended_at = CASE state WHEN 'Queued' THEN ${now} ELSE NULL END,
            canceled_at = ${now}, waiting = NULL
          WHERE job_key = ${key} AND state IN ('Queued', 'Uploading', 'Processing')
          RETURNING *`
      )
    }).pipe(attempting("cancel"))

  /**
   * Queues the next attempt of a job. Returns None if the current attempt is not `before`, or has neither failed nor
   * been canceled.
   */
  const retry = (before: number, { job, key, shard, sources }: NewRow) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return one(
        yield* sql<Columns>`
          UPDATE ${table}
          SET attempt = attempt + 1, state = 'Queued', job = ${job}, sources = ${encodeSources(sources)},
            size = ${totalSize(sources)}, shard = ${shard}, begins = 0, secret = NULL, salt = NULL, lookup = NULL,
            creations = NULL, queued_at = ${now}, ended_at = NULL, failure = NULL, waiting = NULL, canceled_at = NULL
          WHERE job_key = ${key} AND attempt = ${before} AND state IN ('Failed', 'Canceled')
          RETURNING *`
      )
    }).pipe(attempting("retry"))

  /** A page of the attempts in the given state and the given shards, the oldest first. */
  const inShards = (options: {
    readonly state: "Queued" | "Canceling"
    readonly shards: ReadonlyArray<number>
    readonly limit: number
    readonly after: Queued | undefined
  }) => {
    const { after, limit, shards, state } = options
    if (shards.length === 0) return Effect.succeed([])
    const own = sql.and([sql`state = ${state}`, sql.in("shard", shards)])
    const which =
      after === undefined
        ? own
        : sql.and([
            own,
            sql`(queued_at > ${after.queuedAt} OR (queued_at = ${after.queuedAt} AND job_key > ${after.key}))`
          ])
    return sql<Pick<Columns, "job_key" | "attempt" | "queued_at">>`
      SELECT job_key, attempt, queued_at FROM ${table}
      WHERE ${which}
      ORDER BY queued_at, job_key LIMIT ${limit}`.pipe(
      Effect.map((rows) =>
        rows.map((row): Queued => ({ key: row.job_key, attempt: Number(row.attempt), queuedAt: Number(row.queued_at) }))
      ),
      attempting("read")
    )
  }

  /** The rows of these keys. */
  const findAll = (keys: ReadonlyArray<string>) =>
    keys.length === 0
      ? Effect.succeed([])
      : sql<Columns>`SELECT * FROM ${table} WHERE ${sql.in("job_key", keys)}`.pipe(
          Effect.map((rows) => rows.map(toRow)),
          attempting("read")
        )

  /** A page of rows after a key. */
  const page = (options: { readonly state?: State | undefined; readonly after: string; readonly limit: number }) => {
    const after = sql`job_key > ${options.after}`
    const which = options.state === undefined ? after : sql.and([sql`state = ${options.state}`, after])
    return sql<Columns>`SELECT * FROM ${table} WHERE ${which} ORDER BY job_key LIMIT ${options.limit}`.pipe(
      Effect.map((rows) => rows.map(toRow)),
      attempting("list")
    )
  }

  /** Finds the attempt whose Assembly has one of these lookups. */
  const byLookup = (lookups: ReadonlyArray<string>) =>
    sql<Columns>`SELECT * FROM ${table} WHERE ${sql.in("lookup", lookups)}`.pipe(Effect.map(one), attempting("look up"))

  /** Attempts that ended before a time. */
  const endedBefore = (time: number, limit: number) =>
    sql<Pick<Columns, "job_key" | "attempt">>`
      SELECT job_key, attempt FROM ${table} WHERE ended_at < ${time} ORDER BY ended_at LIMIT ${limit}`.pipe(
      Effect.map((rows) => rows.map((row): Attempt => ({ key: row.job_key, attempt: Number(row.attempt) }))),
      attempting("read")
    )

  /** Removes an attempt that has ended. */
  const remove = ({ attempt, key }: Attempt) =>
    sql`
      DELETE FROM ${table}
      WHERE job_key = ${key} AND attempt = ${attempt} AND ended_at IS NOT NULL`.pipe(
      Effect.asVoid,
      attempting("remove")
    )

  return {
    find,
    findAll,
    insert,
    begin,
    announce,
    wait,
    stored,
    end,
    cancel,
    retry,
    inShards,
    page,
    byLookup,
    endedBefore,
    remove
  }
})

export type Store = Effect.Success<typeof make>
