/**
 * The table of jobs. Each row is the current attempt of one job.
 *
 * Each UPDATE names the states in which it is allowed. So if a change moves an attempt to another state, only one of
 * two processes can make this change.
 */
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import type { StoreFailed } from "../DurableError.ts"
import { Failure, State, type Summary, Waiting } from "../DurableJob.ts"
import * as Deployment from "./deployment.ts"
import type { Root } from "./derive.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as StoreError from "./storeError.ts"

/**
 * The current attempt of a job.
 *
 * - `job`: see `JobAtRest`.
 * - `begins`: how often a runner has begun the attempt. If `begins` is above 0, the Assembly of the attempt may exist.
 * - `creations`: for each file, how often the creation of its upload was announced. If this number is above 0, the
 *   upload may exist.
 * - `canceledAt`: when the cancellation of the attempt was stored.
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

const encodeSources = SchemaParser.encodeSync(JobAtRest.Sources)
const encodeCreations = SchemaParser.encodeSync(JobAtRest.Creations)
const FailureText = Schema.fromJsonString(Failure)
const encodeFailure = SchemaParser.encodeSync(FailureText)
const WaitingText = Schema.fromJsonString(Waiting)
const encodeWaiting = SchemaParser.encodeSync(WaitingText)

/** SQLite returns whatever a column contains. */
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The work of removing a job grows with its attempts. */
const AttemptNumber = whole(1, 1_000_000)

/** A time that a `Date` can have. */
const Time = whole(0, 8_640_000_000_000_000)

const Text = Schema.UndefinedOr(Schema.String)

const Columns = Schema.Struct({
  job_key: Schema.String,
  attempt: AttemptNumber,
  state: State,
  job: Schema.String,
  sources: JobAtRest.Sources,
  size: JobAtRest.SourceAtRest.fields.size,
  begins: whole(0, Number.MAX_SAFE_INTEGER),
  secret: Text,
  salt: Text,
  creations: Schema.UndefinedOr(JobAtRest.Creations),
  queued_at: Time,
  ended_at: Schema.UndefinedOr(Time),
  failure: Schema.UndefinedOr(FailureText),
  waiting: Schema.UndefinedOr(WaitingText),
  canceled_at: Schema.UndefinedOr(Time)
})
const decodeColumns = SchemaParser.decodeUnknownResult(Columns, { errors: "all" })
const decodeTime = SchemaParser.decodeUnknownResult(Time)
const decodeAttempt = SchemaParser.decodeUnknownResult(AttemptNumber)

/** A row as the database returns it. */
interface Raw {
  readonly job_key: string
}

/** Large integers of Postgres are `bigint`, and a missing value is `null`. */
const plain = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : (value ?? undefined))

const plainRow = (raw: Raw) =>
  Object.fromEntries(Object.entries(raw).map(([name, value]: [string, unknown]) => [name, plain(value)]))

const toRow = (raw: Raw): Result.Result<Row, StoreFailed> =>
  Result.mapBoth(decodeColumns(plainRow(raw)), {
    onFailure: (issue) =>
      StoreError.damaged(
        raw.job_key,
        Input.fromSchemaIssue(issue).map(({ path }) => path[0])
      ),
    onSuccess: ({ begins, creations = [], failure, job, salt, secret, sources, state, waiting, ...columns }): Row => ({
      key: columns.job_key,
      attempt: columns.attempt,
      state,
      size: BigInt(columns.size),
      queuedAt: columns.queued_at,
      endedAt: columns.ended_at,
      failure,
      waiting,
      job,
      sources,
      begins,
      secret,
      salt,
      creations,
      canceledAt: columns.canceled_at
    })
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

/** A place in the queue, as the database returned it. */
export interface Place {
  readonly queued_at: number | bigint
  readonly job_key: string
}

/** The attempts of a page whose numbers are valid. A damaged row is found when its job is read. */
const attemptsOf = (rows: ReadonlyArray<{ readonly job_key: string; readonly attempt: unknown }>) =>
  rows.flatMap(({ attempt, job_key }): ReadonlyArray<Attempt> =>
    Result.match(decodeAttempt(plain(attempt)), {
      onFailure: () => [],
      onSuccess: (number) => [{ key: job_key, attempt: number }]
    })
  )

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
  const deployment = sql(Deployment.tableName)

  const attempting =
    (operation: string) =>
    <A, R>(access: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, StoreFailed, R> =>
      Effect.mapError(access, StoreError.of(operation))

  const one = ([raw]: ReadonlyArray<Raw>): Effect.Effect<Option.Option<Row>, StoreFailed> =>
    raw === undefined ? Effect.succeedNone : Effect.asSome(Effect.fromResult(toRow(raw)))

  /** The row of a key. */
  const find = (key: string) =>
    sql<Raw>`SELECT * FROM ${table} WHERE job_key = ${key}`.pipe(attempting("find"), Effect.flatMap(one))

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
      return yield* sql<Raw>`
        INSERT INTO ${table} ${sql.insert(values)} ON CONFLICT (job_key) DO NOTHING RETURNING *`
    }).pipe(attempting("insert"), Effect.flatMap(Effect.forEach((raw) => Effect.fromResult(toRow(raw)))))

  /**
   * Records that the Assembly may exist from now on. Returns None if the attempt is neither `Queued` nor `Uploading`.
   * The salt and the secret from which the ids are derived are stored only once, because the ids of an attempt must not
   * change.
   */
  const begin = (
    { attempt, key }: Attempt,
    { salt, secret }: { readonly [Name in keyof Root]: string },
    lookup: string
  ) =>
    sql<Raw>`
      UPDATE ${table}
      SET state = 'Uploading', begins = begins + 1, salt = COALESCE(salt, ${salt}),
        secret = COALESCE(secret, ${secret}), lookup = COALESCE(lookup, ${lookup})
      WHERE job_key = ${key} AND attempt = ${attempt} AND state IN ('Queued', 'Uploading')
      RETURNING *`.pipe(attempting("begin"), Effect.flatMap(one))

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
        UPDATE ${table} SET waiting = ${waiting}
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
      return yield* sql<Raw>`
        UPDATE ${table}
        SET state = CASE state WHEN 'Queued' THEN 'Canceled' ELSE 'Canceling' END,
          ended_at = CASE state WHEN 'Queued' THEN ${now} ELSE NULL END,
          canceled_at = ${now}, waiting = NULL
        WHERE job_key = ${key} AND state IN ('Queued', 'Uploading', 'Processing')
        RETURNING *`
    }).pipe(attempting("cancel"), Effect.flatMap(one))

  /**
   * Queues the next attempt of a job. Returns None if the current attempt is not `before`, or has neither failed nor
   * been canceled.
   */
  const retry = (before: number, { job, key, shard, sources }: NewRow) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return yield* sql<Raw>`
        UPDATE ${table}
        SET attempt = attempt + 1, state = 'Queued', job = ${job}, sources = ${encodeSources(sources)},
          size = ${totalSize(sources)}, shard = ${shard}, begins = 0, secret = NULL, salt = NULL, lookup = NULL,
          creations = NULL, queued_at = ${now}, ended_at = NULL, failure = NULL, waiting = NULL, canceled_at = NULL
        WHERE job_key = ${key} AND attempt = ${before} AND state IN ('Failed', 'Canceled')
        RETURNING *`
    }).pipe(attempting("retry"), Effect.flatMap(one))

  /**
   * A page of the attempts in the given state and the given shards, the oldest first. `next`: the place after which the
   * next page begins, or undefined after the last page.
   */
  const inShards = (options: {
    readonly state: "Queued" | "Canceling"
    readonly shards: ReadonlyArray<number>
    readonly limit: number
    readonly after: Place | undefined
  }) => {
    const { after, limit, shards, state } = options
    if (shards.length === 0) return Effect.succeed({ attempts: [], next: undefined })
    const own = sql.and([sql`state = ${state}`, sql.in("shard", shards)])
    const which =
      after === undefined
        ? own
        : sql.and([
            own,
            sql`(queued_at > ${after.queued_at} OR (queued_at = ${after.queued_at} AND job_key > ${after.job_key}))`
          ])
    return sql<Place & { readonly attempt: unknown }>`
      SELECT job_key, attempt, queued_at FROM ${table}
      WHERE ${which}
      ORDER BY queued_at, job_key LIMIT ${limit}`.pipe(
      Effect.map((rows) => ({ attempts: attemptsOf(rows), next: rows.length < limit ? undefined : rows.at(-1) })),
      attempting("read")
    )
  }

  /** The rows of these keys, or the error of a damaged row. */
  const findAll = (keys: ReadonlyArray<string>) =>
    keys.length === 0
      ? Effect.succeed([])
      : sql<Raw>`SELECT * FROM ${table} WHERE ${sql.in("job_key", keys)}`.pipe(
          Effect.map(Arr.map((raw) => [raw.job_key, toRow(raw)] as const)),
          attempting("read")
        )

  /** A page of rows after a key. `next` is the key after which the next page begins. */
  const page = (options: { readonly state?: State | undefined; readonly after: string; readonly limit: number }) => {
    const after = sql`job_key > ${options.after}`
    const which = options.state === undefined ? after : sql.and([sql`state = ${options.state}`, after])
    return sql<Raw>`SELECT * FROM ${table} WHERE ${which} ORDER BY job_key LIMIT ${options.limit}`.pipe(
      Effect.map((rows) => ({
        rows: rows.map(toRow),
        next: rows.length < options.limit ? undefined : rows.at(-1)?.job_key
      })),
      attempting("list")
    )
  }

  /** Finds the attempt whose Assembly has one of these lookups. */
  const byLookup = (lookups: ReadonlyArray<string>) =>
    sql<Raw>`SELECT * FROM ${table} WHERE ${sql.in("lookup", lookups)}`.pipe(attempting("look up"), Effect.flatMap(one))

  /** Attempts that ended before a time. */
  const endedBefore = (time: number, limit: number) =>
    sql<{ readonly job_key: string; readonly attempt: unknown; readonly ended_at: unknown }>`
      SELECT job_key, attempt, ended_at FROM ${table} WHERE ended_at < ${time} ORDER BY ended_at LIMIT ${limit}`.pipe(
      // Nothing is removed because of a damaged time.
      Effect.map((rows) => attemptsOf(rows.filter(({ ended_at }) => Result.isSuccess(decodeTime(plain(ended_at)))))),
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

  /** The end of the last pause that the service requested, in milliseconds since 1970. */
  const pausedUntil = sql<{ readonly paused_until: unknown }>`
    SELECT paused_until FROM ${deployment} WHERE id = 1`.pipe(
    Effect.map(([row]) => Result.getOrElse(decodeTime(plain(row?.paused_until)), () => 0)),
    attempting("read")
  )

  /** Records a pause that the service requested. Never shortens a pause. */
  const pause = (until: number) =>
    sql`
      UPDATE ${deployment} SET paused_until = ${until}
      WHERE id = 1 AND (paused_until IS NULL OR paused_until < ${until})`.pipe(Effect.asVoid, attempting("pause"))

  return {
    pausedUntil,
    pause,
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
