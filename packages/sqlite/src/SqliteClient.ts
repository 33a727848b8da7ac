/**
 * A client of `effect/sql` over `node:sqlite`, the SQLite module of Node.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import * as SqlError from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { SqliteError } from "./unstable/SqliteError.ts"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

/**
 * Options for opening a database.
 *
 * - `path`: the path of the file, or `:memory:`. A database in memory is deleted when the scope closes.
 * - `isExclusive`: whether this client locks the file until the scope closes or the process ends. While the file is
 *   locked, another client that opens it fails with a `SqlError` whose reason is `LockTimeoutError`. False by default.
 * - `isSynced`: whether each transaction is written to the disk before it ends (`synchronous = FULL`). If false, the
 *   last transactions may be missing after a power failure (`synchronous = NORMAL`). False by default.
 *
 * A database in a file uses a write-ahead log. Committed data survives the end of the process. Foreign keys are
 * enforced.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly path: string
  readonly isExclusive?: boolean | undefined
  readonly isSynced?: boolean | undefined
}

/** In errors of `node:sqlite`, the property `errcode` contains the result code. */
const toCause = (path: string, problem: unknown): unknown =>
  Predicate.hasProperty(problem, "errcode") && typeof problem.errcode === "number" && problem instanceof Error
    ? new SqliteError(problem.message, { errno: problem.errcode, path, cause: problem })
    : problem

/** Turns exceptions into `SqlError`s that name the operation. */
const attempting =
  (path: string) =>
  <A>(operation: string, work: () => A): Effect.Effect<A, SqlError.SqlError> =>
    Effect.try({
      try: work,
      catch: (problem) =>
        new SqlError.SqlError({
          reason: SqlError.classifySqliteError(toCause(path, problem), {
            message: `SQLite failed to ${operation}`,
            operation
          })
        })
    })

type Params = ReadonlyArray<unknown>
type TransformRows = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/**
 * Converts booleans to numbers, because SQLite has no booleans and Node 22.19 cannot bind booleans. `node:sqlite`
 * rejects other invalid types when a statement runs.
 */
const toInputs = (params: Params): ReadonlyArray<SQLInputValue> =>
  params.map((param) => (typeof param === "boolean" ? Number(param) : param)) as ReadonlyArray<SQLInputValue>

/**
 * Prepares a statement that returns integers as `bigint`: otherwise one integer of 2^53 or more would fail the statement
 * with all its rows.
 */
const prepareOne = (database: DatabaseSync, sql: string): StatementSync => {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}

/** Makes the integers of a row numbers, in place. An integer that a number cannot hold exactly stays a `bigint`. */
const narrow = <Row extends object>(row: Row): Row => {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) Reflect.set(row, name, Number(value))
  }
  return row
}

/** The maximum number of prepared statements that are kept for reuse. */
const maxPrepared = 200

/**
 * Makes a function that returns the prepared statement of an SQL text. The function keeps the newest statements, so
 * that it does not prepare them again.
 */
const preparer = (database: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>()
  return (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const statement = prepareOne(database, sql)
    prepared.set(sql, statement)
    const [oldest] = prepared.keys()
    if (prepared.size > maxPrepared && oldest !== undefined) prepared.delete(oldest)
    return statement
  }
}

const makeConnection = (database: DatabaseSync, attempt: ReturnType<typeof attempting>): SqlConnection.Connection => {
  const prepare = preparer(database)
  const all = (statement: StatementSync, params: Params, transform: TransformRows) => {
    const rows = statement.all(...toInputs(params)).map(narrow)
    return transform === undefined ? rows : transform(rows)
  }
  const values = (statement: StatementSync, params: Params) => {
    statement.setReturnArrays(true)
    try {
      return statement.all(...toInputs(params)).map(narrow) as unknown as ReadonlyArray<ReadonlyArray<unknown>>
    } finally {
      statement.setReturnArrays(false)
    }
  }
  return {
    execute: (sql, params, transform) => attempt("execute", () => all(prepare(sql), params, transform)),
    executeUnprepared: (sql, params, transform) =>
      attempt("execute", () => all(prepareOne(database, sql), params, transform)),
    // Returns the number of changed rows and the id of the last inserted row.
    executeRaw: (sql, params) => attempt("execute", () => narrow(prepare(sql).run(...toInputs(params)))),
    executeValues: (sql, params) => attempt("execute", () => values(prepare(sql), params)),
    executeValuesUnprepared: (sql, params) => attempt("execute", () => values(prepareOne(database, sql), params)),
    executeStream: (sql, params, transform) =>
      Stream.unwrap(
        // Each run has its own statement, because a second run of a shared statement would restart the first run.
        attempt("execute", () => prepareOne(database, sql).iterate(...toInputs(params))).pipe(
          Effect.map((rows) =>
            Stream.fromPull(
              Effect.succeed(
                Effect.suspend(() => {
                  const next = Result.try(() => rows.next())
                  if (Result.isFailure(next)) return attempt("read a row", () => Result.getOrThrow(next))
                  return Effect.succeed(next.success)
                }).pipe(
                  Effect.flatMap((next) => {
                    if (next.done === true) return Cause.done()
                    const row = [narrow(next.value)] as const
                    return Effect.succeed(transform === undefined ? row : (transform(row) as unknown as typeof row))
                  })
                )
              )
            )
          )
        )
      )
  }
}

const setUp = ({ isExclusive = false, isSynced = false }: Options): string =>
  `${isExclusive ? "PRAGMA locking_mode = EXCLUSIVE; " : "PRAGMA busy_timeout = 5000; "}` +
  // The empty transaction acquires the lock of the file, so that `make` fails if another client holds this lock.
  `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isSynced ? "FULL" : "NORMAL"}; BEGIN IMMEDIATE; COMMIT`

/**
 * Opens a database until the scope closes.
 *
 * **Details**
 *
 * One connection runs one statement or transaction at a time; other fibers wait. A transaction starts with `BEGIN
 * IMMEDIATE`. A statement blocks the thread of Node while it runs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const attempt = attempting(options.path)
  const database = yield* Effect.acquireRelease(
    attempt("open", () => new DatabaseSync(options.path, { enableForeignKeyConstraints: true })),
    (opened) => Effect.sync(() => opened.close())
  )
  yield* attempt("lock", () => database.exec(setUp(options)))
  const semaphore = yield* Semaphore.make(1)
  const connection = makeConnection(database, attempt)
  return yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore,
      isTransaction: () => database.isTransaction
    }),
    compiler: Statement.makeCompilerSqlite(),
    driver: "node:sqlite",
    spanAttributes: [["db.system.name", "sqlite"]],
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true
  })
})

/**
 * A `SqlClient` of one database.
 *
 * @example
 * const program = Effect.gen(function* () {
 *   const sql = yield* SqlClient.SqlClient
 *   return yield* sql`SELECT ${1} AS one`
 * })
 * Effect.provide(program, SqliteClient.layer({ path: ":memory:" }))
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effectContext(Effect.map(make(options), (client) => Context.make(SqlClient.SqlClient, client))).pipe(
    Layer.provide(Reactivity.layer)
  )
