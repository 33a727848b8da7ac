/** Tests that the counts of uploads match the rows, also in a database that is older than the counts. */
import { assert, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { DatabaseSync } from "node:sqlite"
import * as UploadStore from "../src/internal/files/uploadStore.ts"
import * as Database from "../src/internal/data/database.ts"
import { migrations } from "../src/internal/data/migrations.ts"

const Upload = Schema.Struct({
  assembly: Schema.Literals(["one", "two"]),
  kind: UploadStore.Kind,
  isFinished: Schema.Boolean,
  isTerminated: Schema.Boolean
})
const Uploads = Schema.Array(Upload).check(Schema.isMaxLength(20))
type Uploads = typeof Uploads.Type

/** The statements that create these uploads. Later statements finish and terminate the uploads, as in the emulator. */
const statements = (uploads: Uploads, from: number) =>
  uploads.flatMap(({ assembly, isFinished, isTerminated, kind }, index) => {
    const id = from + index
    // A file of a form is inserted as finished. Files of forms do not count as arrived.
    const finishedAt = kind === "form" ? "1" : "NULL"
    return [
      `INSERT INTO uploads (id, assembly_id, kind, metadata, filename, fieldname, user_meta, created_at, finished_at)
       VALUES ('${id}', '${assembly}', '${kind}', '', 'a', 'file', '{}', 0, ${finishedAt})`,
      // Another request that finishes the same upload changes nothing.
      ...(isFinished && kind !== "form" ? Array(2).fill(`UPDATE uploads SET finished_at = 1 WHERE id = '${id}'`) : []),
      ...(isTerminated ? [`UPDATE uploads SET terminated_at = 2 WHERE id = '${id}'`] : [])
    ] as ReadonlyArray<string>
  })

const assembly = (id: string) =>
  `INSERT INTO assemblies (id, workspace, region, state, steps, fields, expected_uploads, created_at)
   VALUES ('${id}', 'w', 'r', 'uploading', '[]', '{}', 1, 0)`

const expected = (uploads: Uploads) =>
  (["one", "two"] as const).flatMap((id) => {
    const own = uploads.filter((upload) => upload.assembly === id)
    const arrived = own.filter(({ isFinished, kind }) => isFinished && (kind === "ordinary" || kind === "final"))
    return own.length === 0 ? [] : [[id, own.length, arrived.length]]
  })

it.live("counts are those of the rows, whatever happens before and after the counts exist", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const both = Arbitrary.schema(Schema.Struct({ before: Uploads, after: Uploads }))
    const before9 = Object.entries(migrations).slice(0, 9)
    for (const [index, { after, before }] of (yield* Arbitrary.sampleEffect(both, { count: 25, seed: 1 })).entries()) {
      const path = `${folder}/${index}.sqlite`
      const earlier = new DatabaseSync(path)
      for (const [, script] of before9) earlier.exec(script.join(";\n"))
      for (const sql of [assembly("one"), assembly("two"), ...statements(before, 0)]) earlier.exec(sql)
      earlier.exec("PRAGMA user_version = 9")
      earlier.close()
      const counts = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const statement of statements(after, before.length)) yield* sql.unsafe(statement)
        return yield* sql`SELECT assembly_id, created, arrived FROM upload_counts ORDER BY assembly_id`.values
      }).pipe(Effect.provide(Database.layer(path)))
      assert.deepStrictEqual(counts, expected([...before, ...after]))
    }
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
)
