/** Runs the examples of docs/examples: the nightly one every second, the one with notifications, and the one of many files. */
import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { Durable, DurableSqlite } from "@assembly-effect/workflow"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Cron, DateTime, Effect, Layer, Schedule } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { metrics, queries } from "../../../docs/examples/durable-metrics.ts"
import { uploadAll } from "../../../docs/examples/durable-files.ts"
import { nightly, queueFolder } from "../../../docs/examples/durable-nightly.ts"
import { count, notifications, upload } from "../../../docs/examples/durable-webhook.ts"
import { durableTests } from "./running.ts"
import { assemblies, folder, job, keysOf, origin, proxied, sentOnce, slow, storedIn } from "./support.ts"

durableTests("The example of a nightly upload", (it) => {
  it.alone("queues every file of a folder once a night", function* ({ fs, database, file, path }) {
    yield* fs.makeDirectory(`${path}/outbox`)
    const contents = [yield* file("outbox/a.bin", 1000), yield* file("outbox/b.bin", 2000)]
    const everySecond = Cron.parseUnsafe("* * * * * *", "UTC")
    const host = DurableSqlite.layer(database)
    const hashes = yield* Effect.gen(function* () {
      // The first night.
      const schedule = Schedule.spaced("50 millis")
      const keys = yield* Effect.repeat(keysOf(), { until: ({ length }) => length >= 2, schedule })
      const [first = ""] = keys
      const night = first.slice(0, first.indexOf("/"))
      assert.isTrue(DateTime.isDateTime(DateTime.makeUnsafe(night)))
      assert.strictEqual(yield* queueFolder(`${path}/outbox`, night), 0)
      const statuses = yield* Effect.forEach(["a.bin", "b.bin"], (name) => Durable.await(`${night}/${name}`))
      return statuses.flatMap(storedIn)
    }).pipe(Effect.provide(Layer.provideMerge(nightly(`${path}/outbox`, everySecond), host)))
    const expected = contents.map(({ sha256 }) => sha256)
    assert.deepStrictEqual(hashes, expected)
  })
})

durableTests("The example with notifications", (it) => {
  it.alone("ends its wait with a notification, and counts each one once", function* ({ database, file }) {
    const content = yield* file("a.bin", 1000)
    // Longer than the looks before the first pause.
    const host = DurableSqlite.layer(database, { pollInterval: "1 hour" })
    const routes = HttpRouter.serve(notifications, { disableListenLog: true, disableLogger: true })
    const server = routes.pipe(
      Layer.provideMerge(Layer.merge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }), host))
    )
    yield* Effect.gen(function* () {
      yield* upload(yield* origin, content.path, { steps: slow(4) })
      assert.deepInclude(yield* Durable.status(content.path), { state: "Completed", attempt: 1 })
      const sql = yield* SqlClient.SqlClient
      const totals = sql`SELECT * FROM totals`
      assert.deepStrictEqual(yield* totals, [{ state: "Completed", assemblies: 1 }])
      const status = yield* Durable.await(content.path)
      for (const key of ["other", "other"]) yield* count({ key, status })
      assert.deepStrictEqual(yield* totals, [{ state: "Completed", assemblies: 2 }])
    }).pipe(Effect.provide(server))
  })
})

durableTests("The example of many files", (it) => {
  it.alone("returns when all jobs have ended, also if it runs again", function* ({ database, file }) {
    const contents = [yield* file("a.bin", 1000), yield* file("b.bin", 2000)]
    const paths = contents.map(({ path }) => path)
    yield* Effect.gen(function* () {
      yield* uploadAll(paths)
      for (const { path, sha256 } of contents) {
        assert.deepStrictEqual(storedIn(yield* Durable.await(path)), [sha256])
        assert.deepInclude(yield* Durable.status(path), { state: "Completed" })
      }
      yield* uploadAll(paths)
    }).pipe(Effect.provide(DurableSqlite.layer(database)))
  })
})

durableTests("The example of metrics", (it) => {
  it.alone("writes every metric of its queries, after a refusal and a job", function* ({ database, file, faults }) {
    const body = '{"error":"RATE_LIMIT_REACHED","info":{"retryIn":1}}'
    yield* faults.inject(Faults.Fault.Refuse({ method: "POST", status: 413, body }))
    const server = HttpRouter.serve(metrics, { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
      Layer.provideMerge(DurableSqlite.layer(database))
    )
    yield* Effect.gen(function* () {
      yield* Durable.run(job("one", [yield* file("a.bin", 10)]))
      const url = yield* origin
      const response = yield* Effect.promise(() => fetch(`${url}/metrics`))
      const text = yield* Effect.promise(() => response.text())
      assert.match(text, /^durable_jobs\{state="Completed"\} 1$/mu)
      assert.match(text, /^durable_jobs_ended\{state="Completed"\} [1-9]/mu)
      const asked = Object.values(queries).flatMap((query) => query.match(/(?:durable|assembly)_\w+/gu) ?? [])
      assert.isEmpty(asked.filter((name) => !text.includes(`# TYPE ${name.replace(/_count$/u, "")} `)))
    }).pipe(Effect.provide(server))
  })
})

const example = new URL("../../../docs/examples/durable-activity.ts", import.meta.url)

/** So large that the last process has something left, however slowly the others are killed. */
const size = 12 * 1024 * 1024

/** After how many bytes each process is killed: during the requests before the file, and then during the file. */
const points = [1, 400, 1100, 2500, 512 * 1024, 512 * 1024]

layer(NodeFileSystem.layer)("An upload inside an Activity", (it) => {
  it.effect(`whose process is killed at ${points.length} points is one Assembly with one upload`, function* () {
    const { clients, orders, proxy } = yield* proxied(4 * 1024 * 1024)
    const { file, path } = yield* folder
    const content = yield* file("a.bin", size)
    const env = {
      ...process.env,
      ASSEMBLY_BASE_URL: orders.baseUrl,
      ASSEMBLY_AUTH_KEY: orders.key,
      ASSEMBLY_AUTH_SECRET: orders.secret
    }
    const start = Effect.acquireRelease(
      Effect.sync(() => fork(example, ["a.bin"], { env, cwd: path, execArgv: [], silent: true })),
      (process) => Effect.sync(() => process.kill("SIGKILL"))
    )
    for (const point of points) {
      yield* Effect.gen(function* () {
        const before = proxy.sent()
        const child = yield* start
        yield* proxy.reached(before + point)
        assert.isNull(child.exitCode, "the process ended before it was killed")
        child.kill("SIGKILL")
        yield* Effect.promise(() => once(child, "exit"))
      }).pipe(Effect.scoped)
    }
    const printed = yield* Effect.gen(function* () {
      const child = yield* start
      let text = ""
      child.stdout?.on("data", (piece) => (text += piece))
      child.stderr?.on("data", (piece) => (text += piece))
      yield* Effect.promise(() => once(child, "close"))
      return text
    }).pipe(Effect.scoped)
    assert.strictEqual(printed, "a.bin: 1 stored\n")
    yield* Effect.gen(function* () {
      const all = yield* assemblies()
      assert.lengthOf(all, 1)
      const status = yield* Assemblies.get(String(all[0]?.id) as Parameters<typeof Assemblies.get>[0])
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
      sentOnce(status, content)
    }).pipe(Effect.provide(clients))
  })
})
