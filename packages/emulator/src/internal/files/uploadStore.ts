import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Database from "../data/database.ts"
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

/** What an upload is created with; `metadata` is the header as it came. */
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
    /** A file that came in a form. */
    readonly ofForm: (id: string) => Effect.Effect<Option.Option<Row>, StorageFailed>
    /** The number of uploads of an Assembly, including parts and terminated ones. */
    readonly count: (assemblyId: string) => Effect.Effect<number, StorageFailed>
    /** The files of an Assembly in the order of their creation. Finished files stay after their termination. */
    readonly ofAssembly: (assemblyId: string) => Effect.Effect<ReadonlyArray<Row>, StorageFailed>
    readonly setLength: (id: string, length: bigint) => Effect.Effect<void, StorageFailed>
    /** Marks an upload as finished. Answers whether this call finished it. */
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

const insertSql = `
INSERT INTO uploads (id, assembly_id, kind, concat, metadata, filename, fieldname, user_meta, length, created_at)
VALUES (:id, :assemblyId, :kind, :concat, :metadata, :filename, :fieldname, :userMeta, :length, :now)`

/** How many uploads are read in one turn. */
const slice = 200

const ofAssemblySql = `
SELECT *, rowid AS position FROM uploads
WHERE assembly_id = :assemblyId AND rowid > :after AND kind <> 'partial'
  AND (terminated_at IS NULL OR finished_at IS NOT NULL)
ORDER BY rowid LIMIT ${slice}`

const Id = Schema.Struct({ id: Schema.String })

const isExpired = "(finished_at IS NULL OR kind = 'partial') AND created_at < :createdBefore"

/** An unfinished upload is needed if a request can continue it: it is not from a form and not terminated. */
const isOfUse = `NOT (${isExpired}) AND (finished_at IS NOT NULL OR (terminated_at IS NULL AND kind <> 'form'))`

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const turns = yield* Turns.Turns
  const insert = database.command(insertSql)
  const byId = database.query(Row, "SELECT * FROM uploads WHERE id = :id AND terminated_at IS NULL AND kind <> 'form'")
  const ofForm = database.query(Row, "SELECT * FROM uploads WHERE id = :id AND kind = 'form'")
  const count = database.query(
    Schema.Struct({ count: Schema.Int }),
    "SELECT count(*) AS count FROM uploads WHERE assembly_id = :assemblyId"
  )
  const ofAssembly = database.query(PlacedRow, ofAssemblySql)
  const setLength = database.command("UPDATE uploads SET length = :length WHERE id = :id")
  const finish = database.command(
    `UPDATE uploads SET finished_at = :now, md5hash = :md5hash, sha256 = :sha256
     WHERE id = :id AND finished_at IS NULL`
  )
  const unfinished = database.query(
    Id,
    "SELECT id FROM uploads WHERE finished_at IS NULL AND terminated_at IS NULL AND kind <> 'form' ORDER BY rowid"
  )
  const kept = database.query(Id, `SELECT id FROM uploads WHERE ${isOfUse}`)
  const expired = database.query(Id, `SELECT id FROM uploads WHERE ${isExpired}`)
  const terminate = database.command("UPDATE uploads SET terminated_at = :now WHERE id = :id")

  return UploadStore.of({
    insert: Effect.fnUntraced(function* ({ concat = null, length, userMeta, ...upload }) {
      const now = (yield* DateTime.now).epochMilliseconds
      yield* database.run(() =>
        insert({ ...upload, concat, userMeta: JSON.stringify(userMeta), length: length?.toString() ?? null, now })
      )
    }),
    find: (id) => database.run(() => byId.first({ id })),
    ofForm: (id) => database.run(() => ofForm.first({ id })),
    count: (assemblyId) => database.run(() => Option.getOrThrow(count.first({ assemblyId })).count),
    ofAssembly: Effect.fnUntraced(function* (assemblyId) {
      const rows: Array<Row> = []
      for (let after = 0; ;) {
        const read = yield* turns.share(database.run(() => ofAssembly.all({ assemblyId, after })))
        rows.push(...read)
        if (read.length < slice) return rows
        after = read.at(-1)?.position ?? after
      }
    }),
    setLength: (id, length) => database.run(() => setLength({ id, length: length.toString() })),
    finish: Effect.fnUntraced(function* (id, digest) {
      const now = (yield* DateTime.now).epochMilliseconds
      return yield* database.run(
        () => finish({ id, now, md5hash: digest?.md5hash ?? null, sha256: digest?.sha256 ?? null }) === 1
      )
    }),
    unfinished: database.run(() => unfinished.all({}).map(({ id }) => id)),
    kept: (createdBefore) => database.run(() => kept.all({ createdBefore }).map(({ id }) => id)),
    expired: (createdBefore) => database.run(() => expired.all({ createdBefore }).map(({ id }) => id)),
    terminate: Effect.fnUntraced(function* (id) {
      const now = (yield* DateTime.now).epochMilliseconds
      yield* database.run(() => terminate({ id, now }))
    })
  })
})

export const layer: Layer.Layer<UploadStore, never, Database.Database | Turns.Turns> = Layer.effect(UploadStore, make)
