import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Database from "./Database.ts"

/** The states by the names that the list filters by (spec.md, "States and transitions"). */
export const State = Schema.Literals(["uploading", "executing", "canceled", "completed", "failed", "request_aborted"])
export type State = typeof State.Type

/** What an Assembly is created with. Times are milliseconds since the epoch. */
export interface New {
  readonly id: string
  readonly workspace: string
  readonly region: string
  readonly params: Assembly.CreateParams
  readonly fields: Schema.JsonObject
  readonly expectedUploads: number
  readonly createdAt: number
}

/** An Assembly as it is kept. */
export const Row = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  region: Schema.String,
  state: State,
  steps: Schema.fromJsonString(Schema.Record(Schema.String, Assembly.Step)),
  template_id: Schema.NullOr(Schema.String),
  fields: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)),
  notify_url: Schema.NullOr(Schema.String),
  redirect_url: Schema.NullOr(Schema.String),
  expected_uploads: Schema.Int,
  created_at: Schema.Int,
  uploaded_at: Schema.NullOr(Schema.Int),
  ended_at: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  message: Schema.NullOr(Schema.String),
  uploads: Schema.fromJsonString(Schema.Array(Assembly.File)),
  results: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Assembly.File))),
  input_files: Schema.Int,
  input_bytes: Schema.Int,
  output_files: Schema.Int,
  output_bytes: Schema.Int
})
export type Row = typeof Row.Type

/** What an Assembly has made when it ends. */
export interface Outcome {
  readonly uploads: ReadonlyArray<Assembly.File>
  readonly results: Readonly<Record<string, ReadonlyArray<Assembly.File>>>
  readonly failure: { readonly error: string; readonly message: string } | undefined
}

/** The Assemblies of every Workspace and the changes of their states. */
export class AssemblyStore extends Context.Service<
  AssemblyStore,
  {
    /** Whether the id was free. */
    readonly insert: (assembly: New) => Effect.Effect<boolean>
    readonly find: (id: string) => Effect.Effect<Option.Option<Row>>
    readonly unfinished: Effect.Effect<ReadonlyArray<Row>>
    /** Begins to execute if every expected upload is there. Whether it was this call that began. */
    readonly beginExecution: (id: string) => Effect.Effect<boolean>
    readonly end: (id: string, outcome: Outcome) => Effect.Effect<void>
  }
>()("@assembly-effect/emulator/AssemblyStore") {}

const insertSql = `
INSERT INTO assemblies
  (id, workspace, region, state, steps, template_id, fields, notify_url, expected_uploads, created_at)
VALUES (:id, :workspace, :region, 'uploading', :steps, :templateId, :fields, :notifyUrl, :expectedUploads, :createdAt)
ON CONFLICT DO NOTHING`

const beginSql = `
UPDATE assemblies SET state = 'executing', uploaded_at = :now
WHERE id = :id AND state = 'uploading' AND expected_uploads <=
  (SELECT count(*) FROM uploads WHERE assembly_id = :id AND finished_at IS NOT NULL)`

const endSql = `
UPDATE assemblies
SET state = :state, ended_at = :now, error = :error, message = :message, uploads = :uploads, results = :results,
  input_files = :inputFiles, input_bytes = :inputBytes, output_files = :outputFiles, output_bytes = :outputBytes
WHERE id = :id`

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

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const insert = database.command(insertSql)
  const byId = database.query(Row, "SELECT * FROM assemblies WHERE id = :id")
  const unfinished = database.query(Row, "SELECT * FROM assemblies WHERE state IN ('uploading', 'executing')")
  const begin = database.command(beginSql)
  const end = database.command(endSql)

  return AssemblyStore.of({
    insert: ({ createdAt, expectedUploads, fields, id, params, region, workspace }) =>
      Effect.sync(
        () =>
          insert({
            id,
            workspace,
            region,
            steps: JSON.stringify(params.steps ?? {}),
            templateId: params.templateId ?? null,
            fields: JSON.stringify(fields),
            notifyUrl: params.notifyUrl ?? null,
            expectedUploads,
            createdAt
          }) === 1
      ),
    find: (id) => Effect.sync(() => byId.first({ id })),
    unfinished: Effect.sync(() => unfinished.all({})),
    beginExecution: Effect.fnUntraced(function* (id) {
      const now = yield* DateTime.now
      return begin({ id, now: now.epochMilliseconds }) === 1
    }),
    end: Effect.fnUntraced(function* (id, outcome) {
      const now = yield* DateTime.now
      end(toEndParameters(id, now.epochMilliseconds, outcome))
    })
  })
})

export const layer: Layer.Layer<AssemblyStore, never, Database.Database> = Layer.effect(AssemblyStore, make)
