/** `UploadJournalSql.layer` in a database that several processes share. */
import { SqliteClient } from "@assembly-effect/sqlite"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { UploadJournal } from "@assembly-effect/tus"
import * as UploadJournalSql from "@assembly-effect/tus/UploadJournalSql"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { folder } from "./support.ts"

/** Connections of five processes to one database. */
const processes = 5

type Database = Layer.Layer<SqlClient.SqlClient, unknown>

const postgres = Effect.map(Server.make.pipe(Effect.flatMap((server) => server.database("journal"))), (url): Database =>
  PgClient.layer({ url })
)
const sqlite = Effect.map(folder, ({ database }): Database => SqliteClient.layer({ path: database }))

layer(NodeFileSystem.layer)("A journal in SQL", (it) => {
  for (const [name, database] of [
    ["SQLite", sqlite],
    ["Postgres", postgres]
  ] as const) {
    it.effect(`in ${name} is created by ${processes} processes at once: a key has one holder at a time`, function* () {
      const client = yield* database
      const journals = yield* Effect.forEach(
        Array.from({ length: processes }),
        () =>
          Layer.build(UploadJournalSql.layer({ table: "my_uploads" }).pipe(Layer.provide(client), Layer.fresh)).pipe(
            Effect.map(Context.get(UploadJournal.UploadJournal))
          ),
        { concurrency: "unbounded" }
      )
      for (let round = 0; round < 20; round++) {
        const scope = yield* Scope.make()
        const leases = yield* Effect.forEach(
          journals,
          (journal) => Effect.option(Scope.provide(journal.lease(`k${round % 3}`), scope)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(leases.filter(Option.isSome), 1, `round ${round}`)
        yield* Scope.close(scope, Exit.void)
      }
      // What one process has written, the others read.
      const entry = { _tag: "Created" as const, assemblyId: "0".repeat(32) as never, writtenAt: Date.now() }
      yield* journals[0]!.assemblies.put("joba", entry)
      yield* journals[1]!.assemblies.put("joba", { ...entry, _tag: "Completed" })
      for (const { assemblies } of journals) {
        assert.strictEqual(Option.getOrThrow(yield* assemblies.get("joba"))._tag, "Completed")
        assert.deepStrictEqual(
          (yield* assemblies.list).map(({ key }) => key),
          ["joba"]
        )
      }
    })
  }
})
