import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import type * as FileStore from "./fileStore.ts"
import * as Turns from "../http/turns.ts"

/** The kind of an upload: an ordinary, partial or final tus upload, or a file in the form that creates an Assembly. */
export const Kind = Schema.Literals(["ordinary", "partial", "final", "form"])
export type Kind = typeof Kind.Type

/**
 * What an upload in the database has from its creation. The blob with the same id contains the bytes of the upload.
 *
 * - `concat`: the value of the `upload-concat` header.
 * - `metadata`: the unchanged value of the `upload-metadata` header.
 * - `length`: null until the length is known.
 */
const given = {
  id: Schema.String,
  assembly_id: Schema.String,
  kind: Kind,
  concat: Schema.NullOr(Schema.String),
  metadata: Schema.String,
  filename: Schema.String,
  fieldname: Schema.String,
  user_meta: Schema.fromJsonString(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  length: Schema.NullOr(TusUpload.UploadLength),
  created_at: Schema.Int
}

/** An upload in the database. */
export const Row = Schema.Struct({
  ...given,
  finished_at: Schema.NullOr(Schema.Int),
  md5hash: Schema.NullOr(Schema.String),
  sha256: Schema.NullOr(Schema.String),
  terminated_at: Schema.NullOr(Schema.Int)
})
export type Row = typeof Row.Type

const PlacedRow = Schema.Struct({ ...Row.fields, position: Schema.Int })

/** The number of uploads that are read in one turn. */
const slice = 200

const New = Schema.Struct(given)

const encodeNew = Schema.encodeSync(New)

/** The columns of a form file, whose length is known after its last byte. */
const absent = { concat: null, metadata: "", user_meta: {}, length: null }

type Given = Omit<typeof New.Type, "created_at" | keyof typeof absent> &
  Partial<Pick<typeof New.Type, keyof typeof absent>>
const { first, one } = Statement.rows(Row)
const count = Statement.column(Schema.Int).first
const page = Statement.rows(PlacedRow).all
const ids = Statement.column(Schema.String).all

/** Stores the uploads of all Assemblies, without their bytes. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // LIMIT is a literal, because SQLite would plan the statement again each time a LIMIT parameter is bound.
  const limit = sql.literal(String(slice))

  const isExpired = (createdBefore: number) =>
    sql`(finished_at IS NULL OR kind = 'partial') AND created_at < ${createdBefore}`

  return {
    insert: (upload: Given) =>
      Effect.flatMap(Clock.currentTimeMillis, (created_at) =>
        Statement.run(sql`INSERT INTO uploads ${sql.insert(encodeNew({ ...absent, ...upload, created_at }))}`)
      ),
    /** Finds a tus upload that was not terminated. */
    find: (id: string) =>
      first(sql`SELECT * FROM uploads WHERE id = ${id} AND terminated_at IS NULL AND kind <> 'form'`),
    /** Finds a file from the form that created an Assembly. */
    ofForm: (id: string) => one(sql`SELECT * FROM uploads WHERE id = ${id} AND kind = 'form'`),
    /** The number of uploads of an Assembly, including partial uploads and terminated uploads. */
    count: (assemblyId: string) =>
      Effect.map(
        count(sql`SELECT created FROM upload_counts WHERE assembly_id = ${assemblyId}`),
        Option.getOrElse(() => 0)
      ),
    /**
     * The uploads of an Assembly in the order of their creation, without partial uploads. A terminated upload is
     * included only if it was finished.
     */
    ofAssembly: Effect.fnUntraced(function* (assemblyId: string) {
      const rows: Array<Row> = []
      for (let after = 0; ;) {
        const statement = sql`
          SELECT *, rowid AS position FROM uploads
          WHERE assembly_id = ${assemblyId} AND rowid > ${after} AND kind <> 'partial'
            AND (terminated_at IS NULL OR finished_at IS NOT NULL)
          ORDER BY rowid LIMIT ${limit}`
        const read = yield* Turns.share(page(statement))
        rows.push(...read)
        if (read.length < slice) return rows
        after = read.at(-1)?.position ?? after
      }
    }),
    setLength: (id: string, length: bigint) =>
      Statement.run(sql`UPDATE uploads SET ${sql.update({ length: length.toString() })} WHERE id = ${id}`),
    /** Marks an upload as finished. Returns false if the upload was already finished. */
    finish: Effect.fnUntraced(function* (id: string, digest: FileStore.Digest | undefined) {
      const end = { finished_at: yield* Clock.currentTimeMillis, md5hash: digest?.md5hash, sha256: digest?.sha256 }
      return yield* Statement.isChange(
        sql`UPDATE uploads SET ${sql.update(end)} WHERE id = ${id} AND finished_at IS NULL`
      )
    }),
    unfinished: ids(
      sql`SELECT id FROM uploads WHERE finished_at IS NULL AND terminated_at IS NULL AND kind <> 'form' ORDER BY rowid`
    ),
    // The bytes of an unfinished upload are needed only if a request can continue the upload. No request can continue a
    // form file or a terminated upload.
    /**
     * The ids of the uploads whose bytes are needed. Unfinished uploads and partial uploads that were created before
     * `createdBefore` are not included, because they have expired.
     */
    kept: (createdBefore: number) =>
      ids(
        sql`SELECT id FROM uploads WHERE NOT (${isExpired(createdBefore)})
          AND (finished_at IS NOT NULL OR (terminated_at IS NULL AND kind <> 'form'))`
      ),
    /** The ids of the unfinished uploads and the partial uploads that were created before `createdBefore`. */
    expired: (createdBefore: number) => ids(sql`SELECT id FROM uploads WHERE ${isExpired(createdBefore)}`),
    /** Marks an upload as terminated. The row stays, because a finished upload remains a file of its Assembly. */
    terminate: (id: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) =>
        Statement.run(sql`UPDATE uploads SET terminated_at = ${millis} WHERE id = ${id}`)
      )
  }
})
