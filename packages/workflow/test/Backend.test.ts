/** Runs the program of docs/examples/backend.ts. */
import { Assemblies } from "@assembly-effect/api"
import { Durable, DurableSqlite } from "@assembly-effect/workflow"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Schedule } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import { backend, report } from "../../../docs/examples/backend.ts"
import { durableTests } from "./running.ts"
import { origin, storedIn } from "./support.ts"

const request = (url: string, init?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, init)
    return [response.status, await response.json()] as const
  })

const form = (album: string) => {
  const body = new FormData()
  body.set("album", album)
  body.set("file", new Blob(["12345"]), "a.txt")
  return { method: "POST", body, headers: { cookie: "user=ada" } }
}

durableTests("The backend of the example", (it) => {
  it.alone("takes files of forms and of a folder, with one database for all", function* ({ database, file, path }) {
    const content = yield* file("b.bin", 1000)
    const routes = Layer.unwrap(
      Effect.map(origin, (url) => HttpRouter.serve(backend(url, path), { disableListenLog: true, disableLogger: true }))
    )
    const server = routes.pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
      Layer.provideMerge(DurableSqlite.layer(database))
    )
    yield* Effect.gen(function* () {
      const url = yield* origin
      const uploads = `${url}/assembly-uploads`
      assert.strictEqual((yield* request(uploads, { ...form("a"), headers: {} }))[0], 401)
      const [refused, problem] = yield* request(uploads, form("a".repeat(101)))
      assert.deepStrictEqual([refused, problem.field], [400, "album"])
      const [stored, { bytes }] = yield* request(uploads, form("holidays"))
      assert.deepStrictEqual([stored, bytes], [200, 5])

      assert.deepStrictEqual(yield* request(`${url}/jobs/b.bin`, { method: "POST" }), [200, { state: "Queued" }])
      assert.deepStrictEqual(storedIn(yield* Durable.await("b.bin")), [content.sha256])
      assert.deepStrictEqual(yield* request(`${url}/jobs/b.bin`), [200, { state: "Completed" }])
      for (const [name, error] of [
        ["none", "JobUnknown"],
        ["..%2Fb.bin", "SchemaError"]
      ] as const) {
        assert.deepStrictEqual(yield* request(`${url}/jobs/${name}`), [400, { error }])
      }

      const sql = yield* SqlClient.SqlClient
      const handled = sql<{ readonly count: number }>`SELECT count(*) AS count FROM assembly_notifications`
      const schedule = Schedule.spaced("20 millis")
      yield* Effect.repeat(handled, { until: ([row]) => row?.count === 2, schedule })
    }).pipe(Effect.provide(server))
  })

  it.alone("reports the Assemblies that failed", function* ({ path }) {
    const { assembly_id } = yield* Assemblies.create({
      steps: { broken: { robot: "/emulator/fail", error: "BROKEN" } }
    })
    yield* report(`${path}/failures.ndjson`)
    const text = yield* (yield* FileSystem.FileSystem).readFileString(`${path}/failures.ndjson`)
    assert.deepInclude(JSON.parse(text), { id: assembly_id, error: "BROKEN" })
  })
})
