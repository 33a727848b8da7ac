/** The pipeline of docs/examples/publish-documents.ts with many rows, in its own process. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { SqliteClient } from "@assembly-effect/sqlite"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { DateTime, Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { fork } from "node:child_process"

/** Each body has 5 kB, so that bodies that are kept are more memory than the test allows. */
const rows = Number(process.env["PIPELINE_ROWS"] ?? 3000)

interface Sample {
  readonly published: number
  readonly heap: number
}

/** Runs the process to its end. */
const run = (args: ReadonlyArray<string>): Promise<{ readonly code: number | null; readonly samples: Array<Sample> }> =>
  new Promise((resolve) => {
    const samples: Array<Sample> = []
    const child = fork(new URL("publishing.ts", import.meta.url), [...args], { execArgv: ["--expose-gc"] })
    child.on("message", (sample: Sample) => void samples.push(sample))
    child.on("exit", (code) => resolve({ code, samples }))
  })

const most = (samples: ReadonlyArray<Sample>): number => Math.max(...samples.map(({ heap }) => heap)) / 2 ** 20

const live = Layer.provideMerge(
  Client.signed(),
  Layer.mergeAll(Emulator.layer(), NodeHttpClient.layerUndici, NodeServices.layer)
)

layer(live)("publish-documents.ts", (it) => {
  it.effect(
    `publishes ${rows} rows once each, and the memory does not grow with them`,
    function* () {
      const { baseUrl, credentials } = yield* Emulator.Emulator
      const path = `${yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped())}/documents.db`
      const filled = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE documents (id INTEGER PRIMARY KEY, body TEXT NOT NULL, url TEXT, error TEXT)`
        yield* sql`
            WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${rows})
            INSERT INTO documents (id, body) SELECT id, hex(randomblob(2500)) FROM ids`
      })
      yield* Effect.provide(filled, SqliteClient.layer({ path }))
      const secret = Redacted.value(credentials.secret)
      const { code, samples } = yield* Effect.promise(() => run([baseUrl, credentials.key, secret, path]))
      assert.strictEqual(code, 0)
      const [row] = yield* Effect.provide(
        SqlClient.SqlClient.use(
          (sql) => sql`SELECT count(DISTINCT url) AS urls, count(error) AS errors FROM documents`
        ),
        SqliteClient.layer({ path })
      )
      assert.deepStrictEqual({ ...row }, { urls: rows, errors: 0 })
      const fromDate = DateTime.makeUnsafe("2020-01-01")
      const all = yield* Stream.runCollect(Assemblies.listAll({ fromDate, type: "all" }))
      assert.lengthOf(all, 2 * rows)
      assert.isTrue(all.every(({ ok }) => ok === "ASSEMBLY_COMPLETED"))
      const early = most(samples.filter(({ published }) => published <= rows / 5))
      const late = most(samples.filter(({ published }) => published > rows / 5))
      console.log(`pipeline: ${early.toFixed(1)} MiB in the first fifth, ${late.toFixed(1)} MiB after it`)
      assert.isBelow(late, early + 8)
    },
    { timeout: 1_800_000 }
  )
})
