import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { DatabaseSync } from "node:sqlite"
import { DataInUse } from "../EmulatorError.ts"
import { migrations } from "./migrations.ts"

/** Named parameters of a statement, without their `:`. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>

/** The largest that SQLite knows. */
export const maxInteger = 2n ** 63n - 1n

/** The OFFSET of a page. One below 1 is the first; one that is far too high is empty. */
export const offsetOf = (page: number, pageSize: number): bigint => {
  const offset = BigInt(Math.max(1, page) - 1) * BigInt(pageSize)
  return offset > maxInteger ? maxInteger : offset
}

/** A prepared SELECT (or a statement with RETURNING) whose rows are decoded. */
export interface Query<Row> {
  readonly all: (parameters: Parameters) => ReadonlyArray<Row>
  readonly first: (parameters: Parameters) => Option.Option<Row>
}

/** A prepared statement that changes rows; tells how many. */
export type Command = (parameters: Parameters) => number

/**
 * The emulator's state. Statements are synchronous, as `node:sqlite` is, so that what `transaction` runs is one step
 * for every other fiber. A statement that fails is a defect of the emulator, never an answer.
 */
export class Database extends Context.Service<
  Database,
  {
    readonly query: <Row>(row: Schema.ConstraintDecoder<Row>, sql: string) => Query<Row>
    readonly command: (sql: string) => Command
    readonly transaction: <A>(work: () => A) => Effect.Effect<A>
  }
>()("@assembly-effect/emulator/Database") {}

const open = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(path, { enableForeignKeyConstraints: true })),
    (database) => Effect.sync(() => database.close())
  )

const isBusy = (problem: unknown): boolean =>
  Predicate.isObject(problem) && "errcode" in problem && problem.errcode === sqliteBusy

/** https://www.sqlite.org/rescode.html#busy */
const sqliteBusy = 5

/**
 * Takes the database for this process alone until it is closed, or the process is gone, however it ends. What was
 * committed survives the end of the process, not that of the machine: for that every answer would wait for the disk.
 */
const lock = (database: DatabaseSync, path: string): Effect.Effect<void, DataInUse> =>
  Effect.suspend(() => {
    try {
      database.exec(
        `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         BEGIN IMMEDIATE; COMMIT`
      )
      return Effect.void
    } catch (problem) {
      return isBusy(problem) ? Effect.fail(new DataInUse({ path })) : Effect.die(problem)
    }
  })

const migrate = (database: DatabaseSync): void => {
  const [row] = database.prepare("PRAGMA user_version").all()
  const version = Number(row?.["user_version"] ?? 0)
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue
    // `user_version` takes no parameter; the number is our own.
    database.exec(`BEGIN; ${script}; PRAGMA user_version = ${index + 1}; COMMIT`)
  }
}

const transact = <A>(database: DatabaseSync, work: () => A): A => {
  database.exec("BEGIN IMMEDIATE")
  try {
    const result = work()
    database.exec("COMMIT")
    return result
  } catch (defect) {
    database.exec("ROLLBACK")
    throw defect
  }
}

const make = Effect.fnUntraced(function* (path: string) {
  const database = yield* open(path)
  yield* lock(database, path)
  yield* Effect.sync(() => migrate(database))

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
    transaction: (work) => Effect.sync(() => transact(database, work))
  })
})

/** A database in the file at `path`; `:memory:` forgets everything when the scope closes. */
export const layer = (path: string): Layer.Layer<Database, DataInUse> => Layer.effect(Database, make(path))
