import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"

/** An attempt to send a notification. `duration` is in seconds. */
const Row = Schema.Struct({
  id: Schema.String,
  assembly_id: Assembly.AssemblyId,
  url: Schema.String,
  status: Schema.NullOr(Schema.Literals(["processing", "successful", "error"])),
  response_code: Schema.NullOr(Schema.Int),
  response_data: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  start: Schema.DateTimeUtcFromMillis,
  duration: Schema.NullOr(Schema.Finite)
})

/** The outcome of an attempt. `isFinal`: the attempt succeeded, or another attempt would fail in the same way. */
export interface Outcome {
  readonly code: number | undefined
  readonly data: string | undefined
  readonly error: string | undefined
  readonly isFinal: boolean
}

/**
 * An ended Assembly whose notification was not delivered: no attempt was successful, and no attempt is scheduled, or
 * only replays are scheduled. `attempts` is the number of all attempts for the Assembly, including replays.
 */
const Pending = Schema.Struct({ id: Schema.String, url: Schema.String, attempts: Schema.Int })

/** A scheduled attempt. `attempt` counts from 1. The number 0 means that the attempt is not repeated if it fails. */
const Due = Schema.Struct({
  id: Schema.String,
  assembly_id: Schema.String,
  url: Schema.String,
  is_signed: Schema.BooleanFromBit,
  attempt: Schema.Int
})
export type Due = typeof Due.Type

const encodeDue = Schema.encodeSync(Due)
const begun = Statement.rows(Due).all
const next = Statement.column(Schema.NullOr(Schema.Int)).one
const owner = Statement.column(Schema.String).one
const pending = Statement.rows(Pending).all
const rows = Statement.rows(Row).all

/** Stores the attempts to send the notifications of all Assemblies. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** Stores an attempt that becomes due after the given number of milliseconds. */
    schedule: Effect.fnUntraced(function* (due: Due, afterMillis: number) {
      const dueAt = (yield* Clock.currentTimeMillis) + afterMillis
      yield* Statement.run(
        sql`INSERT INTO notifications ${sql.insert({ ...encodeDue(due), started_at: dueAt, due_at: dueAt })}`
      )
    }),
    /** Marks at most `most` due attempts as started, the oldest first, and returns these attempts. */
    begin: (most: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) =>
        begun(sql`
          UPDATE notifications SET status = 'processing', started_at = ${millis}, due_at = NULL WHERE rowid IN (
            SELECT rowid FROM notifications WHERE due_at <= ${millis} ORDER BY due_at, rowid LIMIT ${most}
          ) RETURNING id, assembly_id, url, is_signed, attempt`)
      ),
    nextIn: Effect.gen(function* () {
      const due_at = yield* next(sql`SELECT min(due_at) AS due_at FROM notifications WHERE due_at IS NOT NULL`)
      const millis = yield* Clock.currentTimeMillis
      return Option.map(Option.fromNullishOr(due_at), (due) => Math.max(0, due - millis))
    }),
    /** Returns false if the Assembly was replaced after `begin` had returned the attempt. */
    isCurrent: ({ assembly_id, id }: Due) =>
      Effect.map(
        owner(sql`SELECT assembly_id FROM notifications WHERE id = ${id}`),
        (current) => current === assembly_id
      ),
    /** Stores the outcome of an attempt. Returns false if the Assembly was replaced after the attempt had started. */
    end: Effect.fnUntraced(function* ({ assembly_id, id }: Due, { code, data, error }: Outcome) {
      const outcome = { status: code === 200 ? "successful" : "error", response_code: code, response_data: data, error }
      const millis = yield* Clock.currentTimeMillis
      const current = yield* owner(sql`
        UPDATE notifications SET ${sql.update(outcome)}, duration = ${millis} - started_at
        WHERE id = ${id} RETURNING assembly_id`)
      return current === assembly_id
    }),
    /** The attempts for an Assembly, without scheduled attempts. */
    ofAssembly: (assemblyId: string) =>
      rows(sql`
        SELECT id, assembly_id, url, status, response_code, response_data, error, started_at AS start,
          duration / 1000.0 AS duration
        FROM notifications WHERE assembly_id = ${assemblyId} AND due_at IS NULL ORDER BY started_at, rowid`),
    recover: Effect.gen(function* () {
      yield* Statement.run(
        sql`UPDATE notifications SET status = 'error', error = 'The emulator was closed.' WHERE status = 'processing'`
      )
      return yield* pending(sql`
        SELECT id, notify_url AS url, (SELECT count(*) FROM notifications WHERE assembly_id = assemblies.id) AS attempts
        FROM assemblies
        WHERE notify_url IS NOT NULL AND ended_at IS NOT NULL AND auth_key IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM notifications
          WHERE assembly_id = assemblies.id AND (status = 'successful' OR (due_at IS NOT NULL AND attempt > 0))
        )`)
    }).pipe(sql.withTransaction, Statement.stored)
  }
})
