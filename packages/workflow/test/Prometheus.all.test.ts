/** Runs the queries of docs/examples/durable-metrics.ts in a Prometheus that reads the metrics of a runner. */
import * as Faults from "@assembly-effect/emulator/Faults"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableSqlite from "@assembly-effect/workflow/DurableSqlite"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { spawn, spawnSync } from "node:child_process"
import { createServer } from "node:http"
import { metrics, queries } from "../../../docs/examples/durable-metrics.ts"
import { folder, job, live, steps } from "./support.ts"

const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0

/** A port that is free now. Prometheus cannot say which port it has chosen. */
const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** A Prometheus that reads the metrics at `target` every second. Returns the function that asks it. */
const prometheus = Effect.fnUntraced(function* (path: string, target: string) {
  const fs = yield* FileSystem.FileSystem
  const port = yield* freePort
  yield* fs.writeFileString(
    `${path}/prometheus.yml`,
    `scrape_configs: [{ job_name: runner, scrape_interval: 1s, static_configs: [{ targets: ["${target}"] }] }]`
  )
  const options = [`--config.file=${path}/prometheus.yml`, `--storage.tsdb.path=${path}/tsdb`]
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn("prometheus", [...options, `--web.listen-address=127.0.0.1:${port}`], { stdio: "ignore" })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  return Effect.fnUntraced(function* (query: string) {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`
    const answer = yield* HttpClient.get(url)
    return (yield* answer.json) as {
      readonly status: string
      readonly data: { readonly result: ReadonlyArray<{ readonly metric: object; readonly value: [number, string] }> }
    }
  })
})

layer(live)("The metrics of durable jobs", (it) => {
  it.effect.skipIf(!hasPrometheus)("answer what docs/durable.md asks Prometheus", function* () {
    const { database, file, path } = yield* folder
    const content = yield* file("a.bin", 10)
    const faults = yield* Faults.Faults
    yield* Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      assert(address._tag === "InetAddressV4")
      const ask = yield* prometheus(path, `127.0.0.1:${address.port}`)
      const fail = { params: { steps: { fail: { robot: "/emulator/fail" } } } }
      const refuse = { status: 413, body: '{"error":"RATE_LIMIT_REACHED","info":{"retryIn":1}}' }
      // A rate needs two scrapes after the first job has ended, so jobs go on until every query has an answer.
      const run = Effect.gen(function* () {
        const at = performance.now()
        yield* faults.inject(Faults.Fault.Refuse({ method: "POST", ...refuse }))
        yield* Durable.run(job(`good ${at}`, [content], { params: { steps } }))
        yield* Effect.flip(Durable.run(job(`bad ${at}`, [content], fail)))
      })
      yield* Effect.forkScoped(Effect.repeat(run, Schedule.spaced("200 millis")))
      const asked = Effect.forEach(Object.entries(queries), ([name, query]) =>
        Effect.map(ask(query), (answer) => ({ name, ...answer }))
      )
      /** Jobs run all the time, so these are above 0 as soon as Prometheus has two scrapes of their counters. */
      const rising = new Set([
        "jobs a day",
        "refusals a million requests",
        "share of failures",
        "waits for the budget a second"
      ])
      const isAnswered = ({ data, name }: Effect.Success<typeof asked>[number]) =>
        rising.has(name) ? Number(data.result[0]?.value[1]) > 0 : data.result.length > 0
      const answers = yield* asked.pipe(
        Effect.retry(Schedule.spaced("200 millis")),
        Effect.repeat({ until: (all) => all.every(isAnswered), schedule: Schedule.spaced("500 millis") }),
        Effect.timeout("60 seconds")
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], ["success"])
      const states = answers.find(({ name }) => name === "jobs by state")?.data.result
      assert.includeDeepMembers(
        (states ?? []).map(({ metric }) => metric),
        [{ state: "Completed" }, { state: "Failed" }]
      )
    }).pipe(
      Effect.provide(
        HttpRouter.serve(metrics, { disableListenLog: true, disableLogger: true }).pipe(
          Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
          Layer.provideMerge(DurableSqlite.layer(database))
        )
      ),
      Effect.scoped
    )
  })
})
