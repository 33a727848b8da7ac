import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlError from "effect/sql/SqlError"
import type * as Statement from "effect/sql/Statement"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as StorageFailure from "./storageFailure.ts"

/**
 * Runs work on the database. If the disk failed, the error is `StorageFailed`; any other SQL error is a defect.
 * Statements have no trace spans, because these spans would be among the spans of the application that embeds the
 * emulator.
 */
export const stored = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Extract<E, SqlError.SqlError>> | StorageFailed, R> =>
  work.pipe(
    Effect.catchIf(
      (error: E): error is Extract<E, SqlError.SqlError> => SqlError.isSqlError(error),
      StorageFailure.fromSql
    ),
    Effect.withTracerEnabled(false)
  )

type Rows = Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

const decodeChanges = Schema.decodeUnknownSync(Schema.Struct({ changes: Schema.Int }))

/** Runs a statement, and returns whether it changed a row. */
export const isChange = (statement: Statement.Statement<unknown>): Effect.Effect<boolean, StorageFailed> =>
  Effect.map(stored(statement.raw), (result) => decodeChanges(result).changes > 0)

/** Runs a statement without reading its rows. */
export const run = (statement: Statement.Statement<unknown>): Effect.Effect<void, StorageFailed> =>
  Effect.asVoid(stored(statement.raw))

/**
 * The ways to run a statement and decode its rows: `all` rows, the `first` row if there is a row, or the `one` row of a
 * statement that always returns a row. A row that does not match the schema is a defect.
 */
export const rows = <Row>(schema: Schema.ConstraintDecoder<Row>) => {
  const decode = Schema.decodeUnknownSync(schema)
  return {
    all: (statement: Rows): Effect.Effect<ReadonlyArray<Row>, StorageFailed> =>
      Effect.map(stored(statement), (found) => found.map((row) => decode(row))),
    first: (statement: Rows): Effect.Effect<Option.Option<Row>, StorageFailed> =>
      Effect.map(stored(statement), ([row]) => Option.map(Option.fromUndefinedOr(row), (some) => decode(some))),
    one: (statement: Rows): Effect.Effect<Row, StorageFailed> => Effect.map(stored(statement), ([row]) => decode(row))
  }
}

const counted = rows(Schema.Struct({ count: Schema.Int })).one

/** Reads the column `count` of a statement that counts rows. */
export const count = (statement: Rows): Effect.Effect<number, StorageFailed> =>
  Effect.map(counted(statement), ({ count: all }) => all)

/** Fails with `missing` if a look-up finds nothing. */
export const orFail =
  <Missing>(missing: Missing) =>
  <A, E, R>(lookup: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<A, E | Missing, R> =>
    Effect.flatMap(lookup, (found) => Effect.fromOption(found, () => missing))
