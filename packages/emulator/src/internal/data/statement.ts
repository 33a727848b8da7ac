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

const reading = <A>(decode: (row: unknown) => A) => ({
  all: (statement: Rows): Effect.Effect<ReadonlyArray<A>, StorageFailed> =>
    Effect.map(stored(statement), (found) => found.map((row) => decode(row))),
  first: (statement: Rows): Effect.Effect<Option.Option<A>, StorageFailed> =>
    Effect.map(stored(statement), ([row]) => Option.map(Option.fromUndefinedOr(row), decode)),
  one: (statement: Rows): Effect.Effect<A, StorageFailed> => Effect.map(stored(statement), ([row]) => decode(row))
})

/**
 * The ways to run a statement and decode its rows: `all` rows, the `first` row if there is a row, or the `one` row of a
 * statement that always returns a row. A row that does not match the schema is a defect.
 */
export const rows = <Row>(schema: Schema.ConstraintDecoder<Row>) => reading(Schema.decodeUnknownSync(schema))

/** Like {@link rows}, for a statement with one column: reads values instead of rows. */
export const column = <A>(schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownSync(schema)
  return reading((row) => decode(Object.values(Object(row))[0]))
}

/** Runs a statement that returns one integer, such as a number of rows. */
export const count = column(Schema.Int).one

/** Fails with `missing` if a look-up finds nothing. */
export const orFail =
  <Missing>(missing: Missing) =>
  <A, E, R>(lookup: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<A, E | Missing, R> =>
    Effect.flatMap(lookup, (found) => Effect.fromOption(found, () => missing))
