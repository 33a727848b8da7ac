import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { DatabaseSync } from "node:sqlite"
import { DataInUse, type StorageFailed } from "../../EmulatorError.ts"
import { migrations } from "./migrations.ts"
import * as StorageFailure from "./storageFailure.ts"

/** Named parameters of a statement, without their `:`. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>

/** The largest integer of SQLite. */
export const maxInteger = 2n ** 63n - 1n

/** The OFFSET of a page. A page below 1 is the first page; a page that is too high is empty. */
export const offsetOf = (page: number, pageSize: number): bigint => {
  const offset = BigInt(Math.max(1, page) - 1) * BigInt(pageSize)
  return offset > maxInteger ? maxInteger : offset
}

/** A prepared SELECT (or a statement with RETURNING) whose rows are decoded. */
export interface Query<Row> {
  readonly all: (parameters: Parameters) => ReadonlyArray<Row>
  readonly first: (parameters: Parameters) => Option.Option<Row>
}

/** A prepared statement that changes rows. It answers their number. */
export type Command = (parameters: Parameters) => number

/**
 * The database of the emulator. Statements are synchronous, so the work of `run` or `transaction` is atomic for all
 * other fibers. An error of the disk is `StorageFailed`; any other error of a statement is a defect.
 */
export class Database extends Context.Service<
  Database,
  {
    readonly query: <Row>(row: Schema.ConstraintDecoder<Row>, sql: string) => Query<Row>
    readonly command: (sql: string) => Command
    /** Runs statements without a transaction. */
    readonly run: <A>(work: () => A) => Effect.Effect<A, StorageFailed>
    /** Runs statements in a transaction. */
    readonly transaction: <A>(work: () => A) => Effect.Effect<A, StorageFailed>
    /** Runs statements in a transaction that is rolled back if `work` answers a failure. */
    readonly attempt: <A, E>(work: () => Result.Result<A, E>) => Effect.Effect<A, E | StorageFailed>
  }
>()("@assembly-effect/emulator/Database") {}

/** Turns an error of the disk into `StorageFailed`, and any other exception into a defect. */
const run = <A>(path: string, work: () => A): Effect.Effect<A, StorageFailed> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(work())
    } catch (problem) {
      const failed = StorageFailure.fromSqlite(path, problem)
      return failed === undefined ? Effect.die(problem) : Effect.fail(failed)
    }
  })

const open = (path: string) =>
  Effect.acquireRelease(
    run(path, () => new DatabaseSync(path, { enableForeignKeyConstraints: true })),
    (database) => Effect.sync(() => database.close())
  )

const isBusy = (problem: unknown): boolean =>
  Predicate.isObject(problem) && "errcode" in problem && problem.errcode === sqliteBusy

/** https://www.sqlite.org/rescode.html#busy */
const sqliteBusy = 5

/**
 * Locks the database for this process. The lock ends with the connection or the process. Committed data survives the
 * end of the process, but not a power failure: for that every answer would have to wait for the disk.
 */
const lock = (database: DatabaseSync, path: string): Effect.Effect<void, DataInUse | StorageFailed> =>
  run(path, () =>
    database.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
       BEGIN IMMEDIATE; COMMIT`
    )
  ).pipe(
    Effect.catchDefect((problem) => (isBusy(problem) ? Effect.fail(new DataInUse({ path })) : Effect.die(problem)))
  )

/** Rolls back, unless SQLite has done so already, as it does when the disk is full. */
const rollBack = (database: DatabaseSync): void => {
  if (database.isTransaction) database.exec("ROLLBACK")
}

const transact = <A>(database: DatabaseSync, work: () => A, isKept: (result: A) => boolean): A => {
  database.exec("BEGIN IMMEDIATE")
  try {
    const result = work()
    if (isKept(result)) database.exec("COMMIT")
    else rollBack(database)
    return result
  } catch (problem) {
    rollBack(database)
    throw problem
  }
}

const migrate = (database: DatabaseSync): void => {
  const [row] = database.prepare("PRAGMA user_version").all()
  const version = Number(row?.["user_version"] ?? 0)
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue
    // `user_version` takes no parameter. The number is not an input.
    transact(
      database,
      () => database.exec(`${script}; PRAGMA user_version = ${index + 1}`),
      () => true
    )
  }
}

const make = Effect.fnUntraced(function* (path: string) {
  const database = yield* open(path)
  yield* lock(database, path)
  yield* run(path, () => migrate(database))

  return Database.of({
    query: (row, sql) => {
      const statement = database.prepare(sql)
      const decode = Schema.decodeUnknownSync(row)
      return {
        all: (parameters) => statement.all(parameters).map((columns) => decode(columns)),
        first: (parameters) =>
          Option.map(Option.fromUndefinedOr(statement.get(parameters)), (columns) => decode(columns))
      }
    },
    command: (sql) => {
      const statement = database.prepare(sql)
      return (parameters) => Number(statement.run(parameters).changes)
    },
    run: (work) => run(path, work),
    transaction: (work) => run(path, () => transact(database, work, () => true)),
    attempt: (work) =>
      Effect.flatMap(
        run(path, () => transact(database, work, Result.isSuccess)),
        Effect.fromResult
      )
  })
})

/** A database in the file at `path`; `:memory:` forgets everything when the scope closes. */
export const layer = (path: string): Layer.Layer<Database, DataInUse | StorageFailed> =>
  Layer.effect(Database, make(path))
