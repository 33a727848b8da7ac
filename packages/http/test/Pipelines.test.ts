/** The examples of docs/examples that connect uploads to folders and databases, against the emulator. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { SqliteClient } from "@assembly-effect/sqlite"
import { AssemblyUpload, Upload, UploadJournal } from "@assembly-effect/tus"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { DateTime, Effect, FileSystem, Layer, Redacted, Schedule, Stream } from "effect"
import { HttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { gunzipSync } from "node:zlib"
import { exportCustomers } from "../../../docs/examples/export-pipeline.ts"
import { publishDocuments } from "../../../docs/examples/publish-documents.ts"
import { uploadFolder } from "../../../docs/examples/nightly-upload.ts"

const live = Layer.merge(Upload.layer, AssemblyUpload.layerJournaled).pipe(
  Layer.provideMerge(Client.signed()),
  Layer.provideMerge(
    Layer.mergeAll(
      Emulator.layer(),
      NodeHttpClient.layerUndici,
      NodeServices.layer,
      UploadJournal.layerMemory(),
      SqliteClient.layer({ path: ":memory:" })
    )
  )
)

const completedAssemblies = Effect.map(
  Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe("2020-01-01"), type: "completed" })),
  ({ length }) => length
)

layer(live)("docs/examples", (it) => {
  it.effect("nightly-upload.ts skips what an earlier night has completed", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/a.txt`, "a")
    yield* fs.makeDirectory(`${folder}/folder`)
    assert.deepStrictEqual(yield* uploadFolder(folder), { Completed: 1, Skipped: 0, Failed: 0, Died: 0 })
    yield* fs.writeFileString(`${folder}/b.txt`, "b")
    assert.deepStrictEqual(yield* uploadFolder(folder), { Completed: 1, Skipped: 1, Failed: 0, Died: 0 })
  })

  it.effect("nightly-upload.ts ends the night if the secret is wrong", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/a.txt`, "a")
    const stranger = Client.signed({ secret: Redacted.make("another") })
    const error = yield* Effect.flip(uploadFolder(folder)).pipe(
      Effect.provide(AssemblyUpload.layerJournaled.pipe(Layer.provide([stranger, UploadJournal.layerMemory()])))
    )
    assert.strictEqual(error._tag, "AuthenticationFailed")
    assert.include(error.message, "check the secret of the Auth Key")
  })

  it.effect("export-pipeline.ts uploads every row of a table, and stores the files of the Steps", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)`
    yield* sql`CREATE TABLE exports (assembly_id TEXT, md5hash TEXT, name TEXT, size INTEGER, url TEXT)`
    const customers = Array.from({ length: 2500 }, (_, index): Record<string, unknown> => ({
      id: index + 1,
      name: `customer ${index}`
    }))
    yield* Effect.forEach(customers, (row) => sql`INSERT INTO customers ${sql.insert(row)}`, { discard: true })
    assert.strictEqual(yield* exportCustomers, 1)
    const [stored] = yield* sql`SELECT * FROM exports`
    assert(stored !== undefined)
    assert.strictEqual(stored["name"], "customers.jsonl.gz")
    const archive = yield* Effect.flatMap(HttpClient.get(String(stored["url"])), (response) => response.arrayBuffer)
    assert.strictEqual(archive.byteLength, Number(stored["size"]))
    const lines = gunzipSync(archive).toString().trim().split("\n")
    const seen = lines.map((line) => JSON.parse(line))
    assert.deepStrictEqual(seen, customers)
  })

  it.effect("export-pipeline.ts leaves no Assembly that waits if the database fails", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DROP TABLE IF EXISTS customers`
    const error = yield* Effect.flip(exportCustomers)
    assert.strictEqual(error._tag, "SqlError")
    const { items } = yield* Assemblies.list({ fromDate: DateTime.makeUnsafe("2020-01-01"), type: "uploading" })
    assert.deepStrictEqual(items, [])
  })

  it.effect("publish-documents.ts, left twice, publishes each row once, and records failures", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE documents (id INTEGER PRIMARY KEY, body TEXT NOT NULL, url TEXT, error TEXT)`
    const bodies = Array.from({ length: 60 }, (_, index) => JSON.stringify({ index, text: "words ".repeat(index) }))
    yield* Effect.forEach(bodies, (body, id) => sql`INSERT INTO documents ${sql.insert({ id: id + 1, body })}`)
    const published = Effect.map(sql`SELECT id FROM documents WHERE url IS NOT NULL`, ({ length }) => length)
    const before = yield* completedAssemblies
    for (const enough of [10, 35]) {
      const reached = Effect.repeat(published, { until: (count) => count >= enough, schedule: Schedule.spaced(1) })
      yield* Effect.raceFirst(publishDocuments, reached)
    }
    yield* publishDocuments
    const rows = yield* sql`SELECT id, url, error FROM documents ORDER BY id`
    const texts = yield* Effect.forEach(rows, ({ url }) =>
      Effect.flatMap(HttpClient.get(String(url)), (response) =>
        Effect.map(response.arrayBuffer, (bytes) => gunzipSync(bytes).toString())
      )
    )
    assert.deepStrictEqual(texts, bodies)
    assert.strictEqual((yield* completedAssemblies) - before, 2 * bodies.length)
    const stranger = AssemblyUpload.layer.pipe(Layer.provide(Client.signed({ secret: Redacted.make("another") })))
    yield* sql`UPDATE documents SET url = NULL WHERE id = 7`
    yield* Effect.provide(publishDocuments, stranger)
    const [row] = yield* sql`SELECT url, error FROM documents WHERE id = 7`
    assert.isNull(row?.["url"])
    assert.include(String(row?.["error"]), "check the secret of the Auth Key")
  })
})
