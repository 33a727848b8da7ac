import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Statement from "../data/statement.ts"
import type * as FileStore from "./fileStore.ts"
import * as Turns from "../http/turns.ts"

/** The origin of a file: a tus upload, a partial or final tus upload, or the form of the creation. */
export const Kind = Schema.Literals(["ordinary", "partial", "final", "form"])
export type Kind = typeof Kind.Type

/** An upload in the database. Its bytes are the blob with the same id. `length` is null while it is deferred. */
export const Row = Schema.Struct({
  id: Schema.String,
  assembly_id: Schema.String,
  kind: Kind,
  concat: Schema.NullOr(Schema.String),
  metadata: Schema.String,
  filename: Schema.String,
  fieldname: Schema.String,
  user_meta: Schema.fromJsonString(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  length: Schema.NullOr(TusUpload.UploadLength),
  created_at: Schema.Int,
  finished_at: Schema.NullOr(Schema.Int),
  md5hash: Schema.NullOr(Schema.String),
  sha256: Schema.NullOr(Schema.String),
  terminated_at: Schema.NullOr(Schema.Int)
})
export type Row = typeof Row.Type

const PlacedRow = Schema.Struct({ ...Row.fields, position: Schema.Int })

/** The values of a new upload. `metadata` is the unchanged header. */
export interface New {
  readonly id: string
  readonly assemblyId: string
  readonly kind: Kind
  /** The value of `upload-concat`. */
  readonly concat: string | undefined
  readonly metadata: string
  readonly filename: string
  readonly fieldname: string
  readonly userMeta: Readonly<Record<string, string | null>>
  readonly length: bigint | undefined
}

/** The uploads of all Assemblies, without their bytes. */
export class UploadStore extends Context.Service<
  UploadStore,
  {
    readonly insert: (upload: New) => Effect.Effect<void, StorageFailed>
    /** A tus upload that was not terminated. */
    readonly find: (id: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** A file from the form of a creation. */
    readonly ofForm: (id: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** The number of uploads of an Assembly, including parts and terminated ones. */
    readonly count: (assemblyId: string) => Effect.Effect<number, StorageFailed>
    /** The files of an Assembly in the order of their creation. Finished files stay after their termination. */
    readonly ofAssembly: (assemblyId: string) => Effect.Effect<ReadonlyArray<Row>, StorageFailed>
    readonly setLength: (id: string, length: bigint) => Effect.Effect<void, StorageFailed>
    /** Marks an upload as finished. Returns whether this call finished it. */
    readonly finish: (id: string, digest: FileStore.Digest | undefined) => Effect.Effect<boolean, StorageFailed>
    /** The ids of the uploads that a request can continue. */
    readonly unfinished: Effect.Effect<ReadonlyArray<string>, StorageFailed>
    /**
     * The ids of the uploads whose bytes are needed. Unfinished uploads and parts from before `createdBefore` have
     * expired.
     */
    readonly kept: (createdBefore: number) => Effect.Effect<ReadonlyArray<string>, StorageFailed>
    /** The ids of the unfinished uploads and parts from before `createdBefore`. */
    readonly expired: (createdBefore: number) => Effect.Effect<ReadonlyArray<string>, StorageFailed>
    /** Terminates an upload. The row of a finished one stays as its receipt. */
    readonly terminate: (id: string) => Effect.Effect<void, StorageFailed>
  }
>()("@assembly-effect/emulator/UploadStore") {}

/** The number of uploads that are read in one turn. */
const slice = 200

const first = Statement.first(Row)
const count = Statement.first(Schema.Struct({ created: Schema.Int }))
const page = Statement.all(PlacedRow)
const identified = Statement.all(Schema.Struct({ id: Schema.String }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* Turns.Turns
  // A literal, because SQLite would plan the statement again for each LIMIT that is a parameter.
  const limit = sql.literal(String(slice))
  const now = Effect.map(DateTime.now, ({ epochMilliseconds }) => epochMilliseconds)

  const identifiers = (statement: Parameters<typeof identified>[0]) =>
    Effect.map(identified(statement), (rows) => rows.map(({ id }) => id))

  const isExpired = (createdBefore: number) =>
    sql`(finished_at IS NULL OR kind = 'partial') AND created_at < ${createdBefore}`

  return UploadStore.of({
    insert: Effect.fnUntraced(function* ({ assemblyId, concat, length, userMeta, ...upload }) {
      const row = {
        ...upload,
        assembly_id: assemblyId,
        concat,
        user_meta: JSON.stringify(userMeta),
        length: length?.toString(),
        created_at: yield* now
      }
      yield* Statement.run(sql`INSERT INTO uploads ${sql.insert(row)}`)
    }),
    find: (id) => first(sql`SELECT * FROM uploads WHERE id = ${id} AND terminated_at IS NULL AND kind <> 'form'`),
    ofForm: (id) => first(sql`SELECT * FROM uploads WHERE id = ${id} AND kind = 'form'`),
    count: (assemblyId) =>
      Effect.map(
        count(sql`SELECT created FROM upload_counts WHERE assembly_id = ${assemblyId}`),
        Option.match({ onNone: () => 0, onSome: ({ created }) => created })
      ),
    ofAssembly: Effect.fnUntraced(function* (assemblyId) {
      const rows: Array<Row> = []
      for (let after = 0; ;) {
        const statement = sql`
          SELECT *, rowid AS position FROM uploads
          WHERE assembly_id = ${assemblyId} AND rowid > ${after} AND kind <> 'partial'
            AND (terminated_at IS NULL OR finished_at IS NOT NULL)
          ORDER BY rowid LIMIT ${limit}`
        const read = yield* turns.share(page(statement))
        rows.push(...read)
        if (read.length < slice) return rows
        after = read.at(-1)?.position ?? after
      }
    }),
    setLength: (id, length) =>
      Statement.run(sql`UPDATE uploads SET ${sql.update({ length: length.toString() })} WHERE id = ${id}`),
    finish: Effect.fnUntraced(function* (id, digest) {
      const end = { finished_at: yield* now, md5hash: digest?.md5hash, sha256: digest?.sha256 }
      return yield* Statement.isChange(
        sql`UPDATE uploads SET ${sql.update(end)} WHERE id = ${id} AND finished_at IS NULL`
      )
    }),
    unfinished: identifiers(
      sql`SELECT id FROM uploads WHERE finished_at IS NULL AND terminated_at IS NULL AND kind <> 'form' ORDER BY rowid`
    ),
    // An unfinished upload is needed if a request can continue it: it is not from a form and not terminated.
    kept: (createdBefore) =>
      identifiers(
        sql`SELECT id FROM uploads WHERE NOT (${isExpired(createdBefore)})
          AND (finished_at IS NOT NULL OR (terminated_at IS NULL AND kind <> 'form'))`
      ),
    expired: (createdBefore) => identifiers(sql`SELECT id FROM uploads WHERE ${isExpired(createdBefore)}`),
    terminate: (id) =>
      Effect.flatMap(now, (millis) => Statement.run(sql`UPDATE uploads SET terminated_at = ${millis} WHERE id = ${id}`))
  })
})

export const layer: Layer.Layer<UploadStore, never, SqlClient.SqlClient | Turns.Turns> = Layer.effect(UploadStore, make)
