/**
 * The database is a wire format: a runner continues the jobs of an earlier version. The first version has written
 * `fixtures/v1.sql`, which is never changed. With `DURABLE_FIXTURE=<file>`, the test writes a database of this version.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Durable from "@assembly-effect/workflow/Durable"
import type * as DurableJob from "@assembly-effect/workflow/DurableJob"
import { assert, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import { gated } from "./gates.ts"
import { folder, job, live, steps, storedIn, withRunner } from "./support.ts"

const fixture = new URL("fixtures/v1.sql", import.meta.url).pathname
const output = process.env["DURABLE_FIXTURE"]
const options = { secrets: [Redacted.make("the secret of the fixture, 32 bytes and more")] }
const slow = { ...steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 600 } }

const until = (key: string, state: DurableJob.State) =>
  Durable.status(key).pipe(
    Effect.repeat({ until: (status) => status.state === state, schedule: Schedule.spaced("20 millis") })
  )

/** A database as statements that create it. */
const toSql = (path: string): string => {
  const database = new DatabaseSync(path)
  const schema = database
    .prepare("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    .all()
  const inserts = schema
    .filter(({ type }) => type === "table")
    .flatMap(({ name }) => {
      const columns = database
        .prepare(`SELECT name FROM pragma_table_info('${String(name)}')`)
        .all()
        .map((column) => `"${String(column["name"])}"`)
      const values = columns.map((column) => `quote(${column})`).join(" || ', ' || ")
      const rows = database.prepare(`SELECT ${values} AS row FROM "${String(name)}" ORDER BY rowid`).all()
      return rows.map(({ row }) => `INSERT INTO "${String(name)}" (${columns.join(", ")}) VALUES (${String(row)});`)
    })
  database.close()
  return [...schema.map(({ sql }) => `${String(sql)};`), ...inserts].join("\n")
}

layer(live, { excludeTestServices: true })("A runner of this version", (it) => {
  if (output !== undefined) {
    it.effect("writes the fixture", () =>
      Effect.gen(function* () {
        const { database } = yield* folder
        const gate = yield* gated
        const fs = yield* FileSystem.FileSystem
        const id = yield* Effect.gen(function* () {
          yield* gate.open
          yield* Durable.start(job("processing", [], { files: [gate.file("processing")], params: { steps: slow } }))
          yield* until("processing", "Processing")
          // The first look at the Assembly ends after 2 seconds; then the job waits for its durable clock.
          yield* Effect.sleep("4 seconds")
          const [own] = yield* Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0) }))
          return own?.id
        }).pipe(withRunner(database, options), Effect.provide(gate.layer))
        const second = yield* gated
        yield* Effect.gen(function* () {
          yield* Durable.start(job("uploading", [], { files: [second.file("uploading")] }))
          yield* second.reached
          yield* Durable.start(job("queued", [], { files: [second.file("queued")] }))
        }).pipe(withRunner(database, { ...options, uploads: 1 }), Effect.provide(second.layer))
        yield* fs.writeFileString(output, `-- ${id}\n${toSql(database)}\n`)
      })
    )
    return
  }

  it.effect("continues the jobs of the first version", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const gate = yield* gated
      const fs = yield* FileSystem.FileSystem
      const sql = yield* fs.readFileString(fixture)
      const stored = new DatabaseSync(database)
      stored.exec(sql)
      stored.close()
      const assemblyId = Assembly.AssemblyId.make(/^-- ([0-9a-f]{32})\n/u.exec(sql)?.[1] ?? "")
      // The emulator of the fixture no longer exists. This Assembly replaces the one that was processed.
      yield* Assemblies.create({ assemblyId, steps, numExpectedUploadFiles: 0 })
      yield* gate.open
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Durable.await("processing")).assembly_id, assemblyId)
        for (const key of ["uploading", "queued"]) {
          assert.deepStrictEqual(storedIn(yield* Durable.await(key)), [gate.sha256])
        }
      }).pipe(withRunner(database, options), Effect.provide(gate.layer))
    })
  )
})
