import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Statement from "../data/statement.ts"
import * as Turns from "../http/turns.ts"

/**
 * Changes the id of an Assembly, so that a new Assembly can have the old id. Everything that refers to the Assembly,
 * such as its uploads, refers to the new id afterwards. An Assembly that is busy or belongs to another Workspace keeps
 * its id. The caller must run this function inside a transaction.
 *
 * The old Assembly is not deleted, because its replays and its assets need its uploads, and because statistics count
 * the Assembly. Notifications of the old Assembly that were not sent yet are deleted.
 */
const archive = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { id, to, workspace }: { readonly id: string; readonly to: string; readonly workspace: string }
) {
  // SQLite checks foreign keys at the end of the transaction, because the rows that refer to the Assembly change later.
  yield* sql`PRAGMA defer_foreign_keys = ON`.raw
  const renamed = yield* sql`
    UPDATE assemblies SET id = ${to}, notify_url = NULL
    WHERE id = ${id} AND workspace = ${workspace} AND state NOT IN ('uploading', 'executing') RETURNING id`
  if (renamed.length === 0) return
  yield* sql`DELETE FROM notifications WHERE assembly_id = ${id} AND due_at IS NOT NULL`.raw
  yield* sql`
    UPDATE notifications SET status = 'error', error = 'The Assembly was replaced.'
    WHERE assembly_id = ${id} AND status = 'processing'`.raw
  for (const table of ["notifications", "uploads", "upload_counts", "searches"]) {
    yield* sql`UPDATE ${sql.literal(table)} SET assembly_id = ${to} WHERE assembly_id = ${id}`.raw
  }
  yield* sql`UPDATE assemblies SET parent_id = ${to} WHERE parent_id = ${id}`.raw
  yield* sql`UPDATE assemblies SET uploads_from = ${to} WHERE uploads_from = ${id}`.raw
  // `made_by` starts with the id of the Assembly that stored the version. The new Assembly gets the old id. If
  // `made_by` kept the old id, the new Assembly would treat the versions of the old Assembly as its own, and would
  // store nothing. `0` is the character after `/`, so the condition selects every text that starts with the old id and
  // `/`.
  yield* sql`
    UPDATE versions SET made_by = ${to} || substr(made_by, ${id.length + 1})
    WHERE made_by > ${`${id}/`} AND made_by < ${`${id}0`}`.raw
})

/**
 * The states of an Assembly. The names of the states are the filters of the Assembly list (spec.md, "States and
 * transitions").
 */
export const State = Schema.Literals(["uploading", "executing", "canceled", "completed", "failed", "request_aborted"])
export type State = typeof State.Type

/**
 * What an Assembly in the database has from its creation. Times are milliseconds since the epoch.
 *
 * - `auth_key`: the Auth Key that created the Assembly. The secret of this Auth Key signs the notification.
 * - `is_signed`: whether the Auth Key signed the params, and with them the `notify_url`.
 * - `max_size`: the maximum size of an upload in bytes.
 * - `emit_progress`: whether the live updates contain the progress of the execution.
 * - `notification_payload`: the parts of the Status that notifications omit.
 * - `parent_id`: the original Assembly, if the Assembly is a replay.
 */
const given = {
  id: Assembly.AssemblyId,
  workspace: Schema.String,
  region: Schema.String,
  state: State,
  steps: Schema.fromJsonString(Schema.Record(Schema.String, Assembly.Step)),
  template_id: Schema.NullOr(Schema.String),
  fields: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)),
  notify_url: Schema.NullOr(Schema.String),
  redirect_url: Schema.NullOr(Schema.String),
  expected_uploads: Schema.Int,
  auth_key: Schema.NullOr(Schema.String),
  is_signed: Schema.BooleanFromBit,
  max_size: Schema.NullOr(Schema.Int),
  parent_id: Schema.NullOr(Schema.String),
  uploads_from: Schema.NullOr(Schema.String),
  emit_progress: Schema.BooleanFromBit,
  notification_payload: Schema.fromJsonString(Schema.Array(Assembly.NotificationPayload)),
  created_at: Schema.Int
}

/** An Assembly in the database. */
export const Row = Schema.Struct({
  ...given,
  uploaded_at: Schema.NullOr(Schema.Int),
  ended_at: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  message: Schema.NullOr(Schema.String),
  input_files: Schema.Int,
  input_bytes: Schema.Int,
  output_files: Schema.Int,
  output_bytes: Schema.Int
})
export type Row = typeof Row.Type

/** A new Assembly. `receiving`: whether files follow in the body of the request that creates the Assembly. */
const New = Schema.Struct({ ...given, receiving: Schema.BooleanFromBit })
export type New = typeof New.Type

/** The files of an Assembly: the uploads that its Steps process, and the results of its Steps. */
interface Made {
  readonly uploads: ReadonlyArray<Assembly.File>
  readonly results: Readonly<Record<string, ReadonlyArray<Assembly.File>>>
}

const MadeRow = Schema.Struct({
  uploads: Schema.fromJsonString(Schema.Array(Schema.Unknown)),
  results: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.Unknown)))
})

const decodeFile = Schema.decodeUnknownSync(Assembly.File)

/** The number of finished Steps of one robot, and the bytes of their input and output files. */
export interface RobotUsage {
  readonly steps: number
  readonly input_bytes: number
  readonly output_bytes: number
}

/** The outcome of an Assembly: its files, its failure, and the usage of each robot. */
export interface Outcome extends Made {
  readonly failure: { readonly error: string; readonly message: string } | undefined
  readonly usage: Readonly<Record<string, RobotUsage>>
}

const totalBytes = (files: ReadonlyArray<Assembly.File>): number =>
  files.reduce((total, { size }) => total + (size ?? 0), 0)

const toEnd = ({ failure, results, uploads, usage }: Outcome, now: number) => {
  const uploaded = new Set(uploads.map((file) => file.id))
  const outputs = Object.values(results)
    .flat()
    .filter((file) => !uploaded.has(file.id))
  return {
    state: (failure === undefined ? "completed" : "failed") satisfies State,
    ended_at: now,
    error: failure?.error,
    message: failure?.message,
    uploads: JSON.stringify(uploads),
    results: JSON.stringify(results),
    input_files: uploads.length,
    input_bytes: totalBytes(uploads),
    output_files: outputs.length,
    output_bytes: totalBytes(outputs),
    usage: JSON.stringify(usage)
  }
}

const encodeNew = Schema.encodeSync(New)
const { all, first } = Statement.rows(Row)
const made = Statement.rows(MadeRow).one

/** Stores the Assemblies of every Workspace and changes their states. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /** Steps, fields and files may be megabytes long, so their JSON is written and parsed in a turn of `Turns`. */
  const turn = <A>(work: () => Effect.Effect<A, StorageFailed>) => Turns.share(Effect.suspend(work))
  /** The columns of a `Row`. The files are in other columns, which only `made` reads. */
  const columns = sql.literal(Object.keys(Row.fields).join(", "))
  const busy = sql.literal("state IN ('uploading', 'executing')")

  const insert = (assembly: New) =>
    Statement.isChange(sql`INSERT INTO assemblies ${sql.insert(encodeNew(assembly))} ON CONFLICT DO NOTHING`)

  const find = (id: string) => turn(() => first(sql`SELECT ${columns} FROM assemblies WHERE id = ${id}`))

  /** Ends a busy Assembly. Returns whether this call ended the Assembly. */
  const close = (id: string, columnsOf: (ended_at: number) => Readonly<Record<string, number | string | undefined>>) =>
    Effect.flatMap(Clock.currentTimeMillis, (millis) =>
      turn(() =>
        Statement.isChange(sql`UPDATE assemblies SET ${sql.update(columnsOf(millis))} WHERE id = ${id} AND ${busy}`)
      )
    )

  return {
    /** Returns false if an Assembly with this id exists. */
    insert: (assembly: New) => turn(() => insert(assembly)),
    /**
     * Inserts an Assembly. If an ended Assembly of the same Workspace has the id of the new Assembly, the ended
     * Assembly gets the id `oldId` first. Returns false if an Assembly that cannot be replaced has the id.
     */
    replace: (assembly: New, oldId: string) =>
      turn(() =>
        archive(sql, { id: assembly.id, to: oldId, workspace: assembly.workspace }).pipe(
          Effect.andThen(insert(assembly)),
          sql.withTransaction,
          Statement.stored
        )
      ),
    find,
    /** Finds an Assembly of a Workspace. */
    findIn: (workspace: string, id: string) =>
      find(id).pipe(Effect.map(Option.filter((row) => row.workspace === workspace))),
    /** The files of an Assembly. During its execution, `results` contains the results of the finished Steps. */
    made: Effect.fnUntraced(function* (id: string) {
      const row = yield* turn(() => made(sql`SELECT uploads, results FROM assemblies WHERE id = ${id}`))
      return {
        uploads: yield* Turns.map(row.uploads, (file) => decodeFile(file)),
        results: yield* Turns.mapRecord(row.results, (file) => decodeFile(file))
      }
    }),
    recover: Effect.gen(function* () {
      const aborted = { state: "request_aborted", ended_at: yield* Clock.currentTimeMillis } as const
      yield* Statement.run(sql`UPDATE assemblies SET ${sql.update(aborted)} WHERE receiving = 1 AND ${busy}`)
      return yield* all(sql`SELECT ${columns} FROM assemblies WHERE ${busy}`)
    }).pipe(sql.withTransaction, Statement.stored),
    /** Records that the request that created the Assembly sends no more files. */
    received: (id: string) => Statement.run(sql`UPDATE assemblies SET receiving = 0 WHERE id = ${id}`),
    /**
     * Changes the state to `executing` if every expected upload and every file of the form has arrived. Returns whether
     * this call changed the state. Partial uploads do not count (spec.md, "Create a tus upload").
     */
    beginExecution: (id: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) =>
        Statement.isChange(sql`
          UPDATE assemblies SET state = 'executing', uploaded_at = ${millis}
          WHERE id = ${id} AND state = 'uploading' AND receiving = 0
            AND expected_uploads <= coalesce((SELECT arrived FROM upload_counts WHERE assembly_id = ${id}), 0)`)
      ),
    /** Records the files that the execution of an Assembly works on. */
    works: (id: string, uploads: ReadonlyArray<Assembly.File>) =>
      turn(() =>
        Statement.run(sql`
          UPDATE assemblies SET ${sql.update({ uploads: JSON.stringify(uploads), results: "{}" })}
          WHERE id = ${id} AND state = 'executing'`)
      ),
    /** Records the results of the finished Steps of an Assembly, as JSON. */
    progress: (id: string, results: string) =>
      turn(() =>
        Statement.run(sql`UPDATE assemblies SET results = ${results} WHERE id = ${id} AND state = 'executing'`)
      ),
    end: (id: string, outcome: Outcome) => close(id, (millis) => toEnd(outcome, millis)),
    stop: (id: string, state: "canceled" | "request_aborted") => close(id, (ended_at) => ({ state, ended_at }))
  }
})
