/** The Layers for Postgres. */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { fork } from "node:child_process"
import { once } from "node:events"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { select } from "./selecting.ts"

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
    const error = yield* refusal({ expiry })
    assert(error._tag === "InvalidRequest", error._tag)
    assert.deepStrictEqual(error.issues[0]?.path, ["expiry"])
  })
  it.live("that cannot reach Postgres fails, and does not show the password", function* () {
    const error = yield* refusal({})
    assert.strictEqual(error._tag, "StoreFailed")
    assert.notInclude(String(error), "hidden-password")
    assert.include(error.message, "ECONNREFUSED")
  })
})

layer(Layer.empty)("A deployment with Postgres", (test) => {
  test.effect("whose user may create no tables fails with a typed error that says so", () =>
    Effect.gen(function* () {
      const postgres = yield* Server.make
      const database = yield* postgres.database("closed")
      const url = new URL(Redacted.value(database))
      const sql = yield* PgClient.make({ url: database }).pipe(Effect.provide(Reactivity.layer))
      yield* sql`CREATE ROLE reader LOGIN PASSWORD 'reader'`
      url.username = "reader"
      url.password = "reader"
      const error = yield* refusal({ database: { url: Redacted.make(url.href) } })
      assert(error._tag === "StoreFailed", error.message)
      assert.include(error.message, "permission denied for schema public")
    }).pipe(Effect.scoped)
  )

  test.effect("stores jobs of a client without any runner, which the first runner runs", () =>
    Effect.gen(function* () {
      const postgres = yield* Server.make
      const database = yield* postgres.database("client")
      const cluster = yield* Cluster.make({ database })
      const made = yield* cluster.file("early", 1000)
      yield* Effect.gen(function* () {
        yield* Durable.start(made.job)
        assert.strictEqual((yield* Durable.status("early")).state, "Queued")
        assert.deepStrictEqual(
          yield* Stream.runCollect(Durable.list({ state: "Queued" })).pipe(
            Effect.map((all) => all.map(({ key }) => key))
          ),
          ["early"]
        )
        assert.deepStrictEqual(cluster.front.assemblies, [])
        yield* cluster.runner("A")
        const status = yield* Durable.await("early")
        assert.strictEqual(status.uploads?.[0]?.sha256, made.sha256)
        const sql = yield* PgClient.PgClient
        assert.lengthOf(yield* sql`SELECT id FROM durable_runners`, 1, "the client is no runner")
      }).pipe(Effect.provide(Layer.merge(cluster.client, PgClient.layer({ url: database }))))
    }).pipe(Effect.scoped)
  )

  test.effect("is asked and told by a client what an operator wants", () =>
    Effect.gen(function* () {
      const postgres = yield* Server.make
      const cluster = yield* Cluster.make({ database: yield* postgres.database("operator") })
      const made = yield* cluster.file("a", 10)
      yield* Effect.provide(select(made.job.files), cluster.client)
    }).pipe(Effect.scoped)
  )

  test.effect("runs the program of docs/examples: a client waits for the runner, and fails if a job fails", () =>
    Effect.gen(function* () {
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
      assert.deepStrictEqual(
        { code, stdout: printed.stdout },
        { code: 1, stdout: `${path.path}: ASSEMBLY_COMPLETED\n` }
      )
      assert.match(printed.stderr, /\.missing: /u)
    }).pipe(Effect.scoped)
  )
})
