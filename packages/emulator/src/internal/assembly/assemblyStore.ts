import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as CreationOptions from "./creationOptions.ts"
import * as Database from "../data/database.ts"
import * as Slices from "../http/slices.ts"
import * as Turns from "../http/turns.ts"

/** The states of an Assembly, by the names that the list accepts as a filter (spec.md, "States and transitions"). */
export const State = Schema.Literals(["uploading", "executing", "canceled", "completed", "failed", "request_aborted"])
export type State = typeof State.Type

/** A new Assembly. Times are milliseconds since the epoch. */
export interface New {
  readonly id: string
  readonly workspace: string
  readonly region: string
  readonly params: Assembly.CreateParams
  readonly fields: Schema.JsonObject
  readonly redirectUrl: string | undefined
  /** Whether followers receive the progress of the execution. */
  readonly emitProgress: boolean
  /** The parts of the Status that its notifications omit. */
  readonly notificationPayload: ReadonlyArray<CreationOptions.Payload>
  readonly expectedUploads: number
  /** The Auth Key of the creation. Its secret signs the notification. */
  readonly authKey: string
  /** Whether the Auth Key signed the params, and with them the `notify_url`. */
  readonly isSigned: boolean
  /** The maximum size of an upload in bytes. */
  readonly maxSize: number | undefined
  /** The Assembly that this one replays. */
  readonly replayOf: Row | undefined
  /** Whether files follow in the body of the creation. */
  readonly receiving: boolean
  readonly createdAt: number
}

/** An Assembly in the database. */
export const Row = Schema.Struct({
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
  is_signed: Schema.Int,
  max_size: Schema.NullOr(Schema.Int),
  parent_id: Schema.NullOr(Schema.String),
  uploads_from: Schema.NullOr(Schema.String),
  emit_progress: Schema.Int,
  notification_payload: Schema.fromJsonString(Schema.Array(CreationOptions.Payload)),
  created_at: Schema.Int,
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

/** The files of an Assembly: those that it works on, and those that its Steps have made. */
export interface Made {
  readonly uploads: ReadonlyArray<Assembly.File>
  readonly results: Readonly<Record<string, ReadonlyArray<Assembly.File>>>
}

const MadeRow = Schema.Struct({
  uploads: Schema.fromJsonString(Schema.Array(Schema.Unknown)),
  results: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.Unknown)))
})

const decodeFile = Schema.decodeUnknownSync(Assembly.File)

/** What an Assembly has made when it ends. */
export interface Outcome extends Made {
  readonly failure: { readonly error: string; readonly message: string } | undefined
}

/** The Assemblies of every Workspace and the changes of their states. */
export class AssemblyStore extends Context.Service<
  AssemblyStore,
  {
    /** Answers false if the id is taken. */
    readonly insert: (assembly: New) => Effect.Effect<boolean, StorageFailed>
    readonly find: (id: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** Its files, as far as it has come. */
    readonly made: (id: string) => Effect.Effect<Made, StorageFailed>
    /** What a former process left: creations whose body never ended are aborted, the others are answered. */
    readonly recover: Effect.Effect<ReadonlyArray<Row>, StorageFailed>
    /** Records that the body of the creation has ended. */
    readonly received: (id: string) => Effect.Effect<void, StorageFailed>
    /** Starts the execution if every expected upload has arrived. Answers whether this call started it. */
    readonly beginExecution: (id: string) => Effect.Effect<boolean, StorageFailed>
    /** An Assembly begins to work on these files. */
    readonly works: (id: string, uploads: ReadonlyArray<Assembly.File>) => Effect.Effect<void, StorageFailed>
    /** What an Assembly that executes has made so far, as the JSON of its results. */
    readonly progress: (id: string, results: string) => Effect.Effect<void, StorageFailed>
    /** Ends an Assembly that is busy; whether it was this call that ended it. */
    readonly end: (id: string, outcome: Outcome) => Effect.Effect<boolean, StorageFailed>
    /** Cancels or aborts a busy Assembly. Answers whether this call ended it. */
    readonly stop: (id: string, state: "canceled" | "request_aborted") => Effect.Effect<boolean, StorageFailed>
  }
>()("@assembly-effect/emulator/AssemblyStore") {}

const insertSql = `
INSERT INTO assemblies
  (id, workspace, region, state, steps, template_id, fields, notify_url, redirect_url, expected_uploads, auth_key,
   is_signed, max_size, parent_id, uploads_from, receiving, emit_progress,
   notification_payload, created_at)
VALUES (:id, :workspace, :region, 'uploading', :steps, :templateId, :fields, :notifyUrl, :redirectUrl,
  :expectedUploads, :authKey, :isSigned, :maxSize, :parentId, :uploadsFrom, :receiving, :emitProgress,
  :notificationPayload, :createdAt)
ON CONFLICT DO NOTHING`

/** Only whole files count, not the parts of a concatenated upload (spec.md, "Create a tus upload"). */
const beginSql = `
UPDATE assemblies SET state = 'executing', uploaded_at = :now
WHERE id = :id AND state = 'uploading' AND receiving = 0 AND expected_uploads <= (
  SELECT count(*) FROM uploads
  WHERE assembly_id = :id AND finished_at IS NOT NULL AND kind IN ('ordinary', 'final')
)`

/** The columns of a row. Its files are read where they are told. */
const columns = Object.keys(Row.fields).join(", ")

const busy = "state IN ('uploading', 'executing')"

const endSql = `
UPDATE assemblies
SET state = :state, ended_at = :now, error = :error, message = :message, uploads = :uploads, results = :results,
  input_files = :inputFiles, input_bytes = :inputBytes, output_files = :outputFiles, output_bytes = :outputBytes
WHERE id = :id AND ${busy}`

const worksSql = `
UPDATE assemblies SET uploads = :uploads, results = '{}' WHERE id = :id AND state = 'executing'`

const progressSql = "UPDATE assemblies SET results = :results WHERE id = :id AND state = 'executing'"

const stopSql = `UPDATE assemblies SET state = :state, ended_at = :now WHERE id = :id AND ${busy}`

const abortReceivingSql = `
UPDATE assemblies SET state = 'request_aborted', ended_at = :now WHERE receiving = 1 AND ${busy}`

const totalBytes = (files: ReadonlyArray<Assembly.File>): number =>
  files.reduce((total, { size }) => total + (size ?? 0), 0)

const toEndParameters = (id: string, now: number, { failure, results, uploads }: Outcome): Database.Parameters => {
  const uploaded = new Set(uploads.map((file) => file.id))
  const outputs = Object.values(results)
    .flat()
    .filter((file) => !uploaded.has(file.id))
  return {
    id,
    now,
    state: (failure === undefined ? "completed" : "failed") satisfies State,
    error: failure?.error ?? null,
    message: failure?.message ?? null,
    uploads: JSON.stringify(uploads),
    results: JSON.stringify(results),
    inputFiles: uploads.length,
    inputBytes: totalBytes(uploads),
    outputFiles: outputs.length,
    outputBytes: totalBytes(outputs)
  }
}

const toInsertParameters = (assembly: New): Database.Parameters => ({
  id: assembly.id,
  workspace: assembly.workspace,
  region: assembly.region,
  steps: JSON.stringify(assembly.params.steps ?? {}),
  templateId: assembly.params.templateId ?? null,
  fields: JSON.stringify(assembly.fields),
  notifyUrl: assembly.params.notifyUrl ?? null,
  redirectUrl: assembly.redirectUrl ?? null,
  expectedUploads: assembly.expectedUploads,
  authKey: assembly.authKey,
  isSigned: assembly.isSigned ? 1 : 0,
  maxSize: assembly.maxSize ?? null,
  parentId: assembly.replayOf?.id ?? null,
  uploadsFrom: assembly.replayOf?.uploads_from ?? assembly.replayOf?.id ?? null,
  receiving: assembly.receiving ? 1 : 0,
  emitProgress: assembly.emitProgress ? 1 : 0,
  notificationPayload: JSON.stringify(assembly.notificationPayload),
  createdAt: assembly.createdAt
})

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const turns = yield* Turns.Turns
  const insert = database.command(insertSql)
  const byId = database.query(Row, `SELECT ${columns} FROM assemblies WHERE id = :id`)
  const madeById = database.query(MadeRow, "SELECT uploads, results FROM assemblies WHERE id = :id")
  const unfinished = database.query(Row, `SELECT ${columns} FROM assemblies WHERE ${busy}`)
  const abortReceiving = database.command(abortReceivingSql)
  const received = database.command("UPDATE assemblies SET receiving = 0 WHERE id = :id")
  const begin = database.command(beginSql)
  const works = database.command(worksSql)
  const progress = database.command(progressSql)
  const end = database.command(endSql)
  const stop = database.command(stopSql)
  const now = Effect.map(DateTime.now, ({ epochMilliseconds }) => epochMilliseconds)

  return AssemblyStore.of({
    insert: (assembly) => turns.share(database.run(() => insert(toInsertParameters(assembly)) === 1)),
    // Steps and fields may be a megabyte.
    find: (id) => turns.share(database.run(() => byId.first({ id }))),
    made: Effect.fnUntraced(function* (id) {
      const row = yield* turns.share(database.run(() => Option.getOrThrow(madeById.first({ id }))))
      return {
        uploads: yield* Slices.map(turns, row.uploads, (file) => decodeFile(file)),
        results: yield* Slices.mapRecord(turns, row.results, (file) => decodeFile(file))
      }
    }),
    recover: Effect.flatMap(now, (millis) =>
      database.run(() => {
        abortReceiving({ now: millis })
        return unfinished.all({})
      })
    ),
    received: (id) => database.run(() => void received({ id })),
    beginExecution: (id) => Effect.flatMap(now, (millis) => database.run(() => begin({ id, now: millis }) === 1)),
    works: (id, uploads) => turns.share(database.run(() => void works({ id, uploads: JSON.stringify(uploads) }))),
    progress: (id, results) => turns.share(database.run(() => void progress({ id, results }))),
    end: (id, outcome) =>
      Effect.flatMap(now, (millis) => turns.share(database.run(() => end(toEndParameters(id, millis, outcome)) === 1))),
    stop: (id, state) => Effect.flatMap(now, (millis) => database.run(() => stop({ id, state, now: millis }) === 1))
  })
})

export const layer: Layer.Layer<AssemblyStore, never, Database.Database | Turns.Turns> = Layer.effect(
  AssemblyStore,
  make
)
