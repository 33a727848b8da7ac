/** Tests that the counts of uploads match the rows. */
import { Arbitrary, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as UploadStore from "../src/internal/files/uploadStore.ts"
import * as Database from "../src/internal/data/database.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

const Upload = Schema.Struct({
  assembly: Schema.Literals(["one", "two"]),
  kind: UploadStore.Kind,
  isFinished: Schema.Boolean,
  isTerminated: Schema.Boolean
})
const Uploads = Schema.Array(Upload).check(Schema.isMaxLength(20))
type Uploads = typeof Uploads.Type

/** The statements that create these uploads. Later statements finish and terminate the uploads, as in the emulator. */
const statements = (uploads: Uploads) =>
  uploads.flatMap(({ assembly, isFinished, isTerminated, kind }, id) => {
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

it.effect("counts are those of the rows, after any creations, ends and terminations", function* () {
  for (const uploads of yield* Arbitrary.sampleEffect(Arbitrary.schema(Uploads), { count: 25, seed: 1 })) {
    const counts = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const statement of [assembly("one"), assembly("two"), ...statements(uploads)]) yield* sql.unsafe(statement)
      return yield* sql`SELECT assembly_id, created, arrived FROM upload_counts ORDER BY assembly_id`.values
    }).pipe(Effect.provide(Layer.fresh(Database.layer(":memory:"))))
    assert.deepStrictEqual(counts, expected(uploads))
  }
})
