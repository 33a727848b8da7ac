/** The Layers for Postgres. */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { fork } from "node:child_process"
import { once } from "node:events"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { select } from "./selecting.ts"
import { old, other, pathsOf, warnings, young } from "./support.ts"

const example = new URL("../../../docs/examples/durable-postgres.ts", import.meta.url)

const secret = Redacted.make("a secret of a deployment, not for use in it")

/** Clients that send no request in these tests. */
const clients = AssemblyNode.layer({ baseUrl: "http://127.0.0.1:1", key: "key", secret: Redacted.make("secret") })

const nowhere = { url: Redacted.make("postgres://nobody:hidden-password@127.0.0.1:1/none") }

const refusal = (options: Partial<DurablePostgres.Options>) =>
  Layer.build(DurablePostgres.runner({ database: nowhere, secrets: [secret], ...options })).pipe(
    Effect.provide(clients),
    Effect.scoped,
    Effect.flip
  )

describe("A runner with Postgres", () => {
  it.effect.each(["2 seconds", "6 minutes"] as const)("refuses an expiry of %s", function* (expiry) {
    assert.deepStrictEqual(pathsOf(yield* refusal({ expiry })), ["expiry"])
  })
  it.live("that cannot reach Postgres fails, and does not show the password", function* () {
    const error = yield* refusal({})
    assert.strictEqual(error._tag, "StoreFailed")
    assert.notInclude(String(error), "hidden-password")
    assert.include(error.message, "ECONNREFUSED")
  })
})

layer(Layer.empty)("A deployment with Postgres", (test) => {
  test.effect("stores jobs of a client without any runner, which the first runner runs", function* () {
    const postgres = yield* Server.make
    const database = yield* postgres.database("client")
    const cluster = yield* Cluster.make({ database })
    const made = yield* cluster.file("early", 1000)
    yield* Effect.gen(function* () {
      yield* Durable.start(made.job)
      assert.strictEqual((yield* Durable.status("early")).state, "Queued")
      assert.deepStrictEqual(cluster.front.assemblies, [])
      yield* cluster.runner("A")
      const status = yield* Durable.await("early")
      assert.strictEqual(status.uploads?.[0]?.sha256, made.sha256)
      const sql = yield* PgClient.PgClient
      assert.lengthOf(yield* sql`SELECT id FROM durable_runners`, 1, "the client is no runner")
    }).pipe(Effect.provide(Layer.merge(cluster.client, PgClient.layer({ url: database }))))
  })

  test.effect("is asked and told by a client what an operator wants", function* () {
    const postgres = yield* Server.make
    const cluster = yield* Cluster.make({ database: yield* postgres.database("operator") })
    const made = yield* cluster.file("a", 10)
    yield* Effect.provide(select(made.job.files), cluster.client)
  })

  test.effect(
    "runs the program of docs/examples: a client waits for the runner, and fails if a job fails",
    function* () {
      const postgres = yield* Server.make
      const database = yield* postgres.database("example")
      const cluster = yield* Cluster.make({ database })
      const made = yield* cluster.file("a.bin", 1000)
      const path = made.job.files[0]?.source
      assert(path?._tag === "Path")
      const { baseUrl, credentials } = cluster.emulator
      const env = {
        ...process.env,
        DATABASE_URL: Redacted.value(database),
        DEPLOYMENT_SECRET: Redacted.value(secret),
        ASSEMBLY_BASE_URL: baseUrl,
        ASSEMBLY_AUTH_KEY: credentials.key,
        ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
      }
      const start = (paths: ReadonlyArray<string>) =>
        Effect.acquireRelease(
          Effect.sync(() => fork(example, [...paths], { env, execArgv: [], silent: true })),
          (process) => Effect.sync(() => process.kill("SIGKILL"))
        )
      yield* start([])
      const client = yield* start([path.path, `${path.path}.missing`])
      const printed = { stdout: "", stderr: "" }
      client.stdout?.on("data", (text) => (printed.stdout += text))
      client.stderr?.on("data", (text) => (printed.stderr += text))
      const [code] = yield* Effect.promise(() => once(client, "close"))
      assert.deepInclude({ code, ...printed }, { code: 1, stdout: `${path.path}: ASSEMBLY_COMPLETED\n` })
      assert.match(printed.stderr, /\.missing: /u)
    }
  )
})

layer(Layer.empty)("A deployment of several runners", (test) => {
  test.effect("refuses a runner with other secrets, and lets each runner rotate on its own", function* () {
    const postgres = yield* Server.make
    const url = yield* postgres.database("secrets")
    const start = (secrets: ReadonlyArray<Redacted.Redacted>, kind: "runner" | "client" = "runner") =>
      Layer.build(DurablePostgres[kind]({ database: { url }, secrets })).pipe(
        Effect.provide(clients),
        Effect.scoped,
        warnings
      )
    const refused = (...how: Parameters<typeof start>) => Effect.map(Effect.flip(start(...how)), ({ _tag }) => _tag)

    // A client comes first, and decides nothing.
    assert.deepStrictEqual(yield* start([other], "client"), [])
    assert.deepStrictEqual(yield* start([old]), [])
    assert.strictEqual(yield* refused([other]), "InvalidSecret")
    assert.strictEqual(yield* refused([other], "client"), "InvalidSecret")

    // The new secret is added to each runner, becomes the first one of each, and then the old one is removed.
    const rounds = [[old, young], [young, old], [young]]
    for (const [round, secrets] of rounds.entries()) {
      const before = rounds[round - 1] ?? [old]
      // A runner of the round before still starts, until the last of them is replaced.
      for (const one of [secrets, before, secrets]) yield* start(one)
    }
    assert.strictEqual(yield* refused([other]), "InvalidSecret")

    const sql = yield* PgClient.make({ url }).pipe(Effect.provide(Reactivity.layer))
    const rows = yield* sql`SELECT secret FROM durable_deployment`
    assert.lengthOf(rows, 1)
  })

  test.effect("is founded by one of several runners that start at the same time", function* () {
    const postgres = yield* Server.make
    const url = yield* postgres.database("founded")
    const results = yield* Effect.forEach(
      [old, young, other],
      (one) =>
        Layer.build(DurablePostgres.runner({ database: { url }, secrets: [one] })).pipe(
          Effect.provide(clients),
          Effect.scoped,
          Effect.match({ onFailure: ({ _tag }) => _tag as string, onSuccess: () => "joined" })
        ),
      { concurrency: 3 }
    )
    assert.deepStrictEqual(results.toSorted(), ["InvalidSecret", "InvalidSecret", "joined"])
  })
})
