/**
 * The database is a wire format: a runner continues the jobs of an earlier version. Each file of `fixtures` was written by
 * a version, and is never written again. `DURABLE_FIXTURE=<file>` writes the database of this version.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Faults from "@assembly-effect/emulator/Faults"
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

/** The tables of the first version, and the second one, in which attempts have a salt. */
const fixtures = ["v1.sql", "v2.sql"].map(
  (name) => [name, new URL(`fixtures/${name}`, import.meta.url).pathname] as const
)
const output = process.env["DURABLE_FIXTURE"]
const options = { secrets: [Redacted.make("the secret of the fixture, 32 bytes and more")] }
const slow = { ...steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 600 } }

const until = (key: string, state: DurableJob.State) =>
  Durable.status(key).pipe(
    Effect.repeat({ until: (status) => status.state === state, schedule: Schedule.spaced("20 millis") })
  )

/** Whether a job waits for its clock. The runner has locked the database, so a copy is read. */
const hasClock = (database: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const copy = `${database}.copy`
    for (const suffix of ["", "-wal"]) yield* fs.copyFile(`${database}${suffix}`, `${copy}${suffix}`)
    const opened = new DatabaseSync(copy)
    const clocks = opened.prepare("SELECT 1 FROM cluster_messages WHERE entity_type = 'Workflow/-/DurableClock'").all()
    opened.close()
    return clocks.length > 0
  })

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
        const faults = yield* Faults.Faults
        const fs = yield* FileSystem.FileSystem
        const id = yield* Effect.gen(function* () {
          yield* gate.open
          yield* Durable.start(job("processing", [], { files: [gate.file("processing")], params: { steps: slow } }))
          yield* until("processing", "Processing")
          // The first look ends after 2 seconds; then the job waits for its clock.
          yield* Effect.repeat(hasClock(database), {
            until: (has) => has,
            schedule: Schedule.spaced("100 millis")
          })
          const [own] = yield* Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0) }))
          return own?.id
        }).pipe(withRunner(database, options), Effect.provide(gate.layer))
        const second = yield* gated
        yield* Effect.gen(function* () {
          yield* Durable.start(job("uploading", [], { files: [second.file("uploading")] }))
          yield* second.reached
          yield* faults.inject(Faults.Fault.Refuse({ method: "POST", status: 402, times: Infinity }))
          yield* Durable.start(job("refused", [], { files: [second.file("refused")] }))
          yield* Effect.repeat(Durable.status("refused"), {
            until: ({ waiting }) => waiting !== undefined,
            schedule: Schedule.spaced("20 millis")
          })
          yield* Durable.start(job("queued", [], { files: [second.file("queued")] }))
        }).pipe(withRunner(database, { ...options, uploads: 2 }), Effect.provide(second.layer))
        yield* fs.writeFileString(output, `-- ${id}\n${toSql(database)}\n`)
      })
    )
    return
  }

  for (const [name, fixture] of fixtures) {
    it.effect(`continues the jobs of ${name}`, () =>
      Effect.gen(function* () {
        const { database } = yield* folder
        const gate = yield* gated
        const fs = yield* FileSystem.FileSystem
        const sql = yield* fs.readFileString(fixture)
        const stored = new DatabaseSync(database)
        stored.exec(sql)
        stored.close()
        const assemblyId = Assembly.AssemblyId.make(/^-- ([0-9a-f]{32})\n/u.exec(sql)?.[1] ?? "")
        // The service of the fixture is gone. This Assembly stands for the one that was processed.
        yield* Assemblies.create({ assemblyId, steps, numExpectedUploadFiles: 0 })
        yield* gate.open
        yield* Effect.gen(function* () {
          assert.strictEqual((yield* Durable.await("processing")).assembly_id, assemblyId)
          const keys = yield* Stream.runCollect(Durable.list()).pipe(
            Effect.map((jobs) => jobs.map(({ key }) => key).filter((key) => key !== "processing"))
          )
          assert.includeMembers(keys, ["uploading", "queued"])
          for (const key of keys) {
            assert.deepStrictEqual(storedIn(yield* Durable.await(key)), [gate.sha256])
          }
        }).pipe(withRunner(database, options), Effect.provide(gate.layer))
      })
    )
  }
})
