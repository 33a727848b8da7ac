/** The Layers for Postgres, and what they store. */
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as ObjectStores from "@assembly-effect/workflow/ObjectStores"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fork } from "node:child_process"
import { once } from "node:events"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Wait from "@assembly-effect/testkit/cluster/Wait"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"

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
  for (const [options, path] of [
    [{ expiry: "2 seconds" }, "expiry"],
    [{ expiry: "6 minutes" }, "expiry"],
    [{ expiry: "0 seconds" }, "expiry"],
    [{ database: { ...nowhere, maxConnections: 0 } }, "database.maxConnections"]
  ] satisfies ReadonlyArray<readonly [Partial<DurablePostgres.Options>, string]>) {
    it.effect(`refuses ${JSON.stringify(options)}, naming the field`, () =>
      Effect.gen(function* () {
        const error = yield* refusal(options)
        assert.strictEqual(error._tag, "InvalidRequest")
        if (error._tag === "InvalidRequest") assert.strictEqual(error.issues[0]?.path.join("."), path)
      })
    )
  }

  it.effect("refuses to run without a secret, or with a short one, before it connects", () =>
    Effect.gen(function* () {
      for (const secrets of [[], [Redacted.make("")], [Redacted.make("short")]]) {
        assert.strictEqual((yield* refusal({ secrets }))._tag, "InvalidSecret")
      }
    })
  )

  it.live("that cannot reach Postgres fails, and does not show the password", () =>
    Effect.gen(function* () {
      const error = yield* refusal({})
      assert.strictEqual(error._tag, "StoreFailed")
      assert.notInclude(String(error), "hidden-password")
      assert.include(error.message, "ECONNREFUSED")
    })
  )
})

/** Every row of every table, as text. */
const dump = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name`
  const rows = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(sql<{ readonly row: string }>`SELECT row_to_json(t)::text AS row FROM ${sql(name)} t`, (all) => [
      name,
      ...all.map(({ row }) => row)
    ])
  )
  return { tables: tables.map(({ name }) => name), text: rows.flat().join("\n") }
})

layer(Layer.empty, { excludeTestServices: true })("A deployment with Postgres", (test) => {
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

  test.effect("stores no URL, no signature, no secret and no id of an Assembly", () =>
    Effect.gen(function* () {
      const postgres = yield* Server.make
      const database = yield* postgres.database("dump")
      const cluster = yield* Cluster.make({ database })
      const { emulator, front } = cluster
      const presigned = "https://store.example/file?X-Signature=presigned-and-secret"
      const stores = ObjectStores.layer({
        store: () =>
          Effect.succeed({
            ...UploadSource.fromBytes(new TextEncoder().encode(presigned)),
            identity: Effect.succeed("etag-1")
          })
      })
      const services = AssemblyNode.layer({
        baseUrl: emulator.baseUrl,
        key: emulator.credentials.key,
        secret: emulator.credentials.secret
      })
      const runner = DurablePostgres.runner({ database: { url: database }, secrets: [secret] }).pipe(
        Layer.provide([services, stores])
      )
      front.speed = 512 * 1024
      const small = yield* cluster.file("small", 1000)
      const large = yield* cluster.file("large", 4 * 1024 * 1024)
      yield* Effect.gen(function* () {
        yield* Durable.run(small.job)
        yield* Durable.run({
          ...small.job,
          key: "object",
          files: [{ source: DurableJob.object("store", "key"), filename: "object.bin" }]
        })
        yield* Durable.start({ ...small.job, key: "failed", params: { templateId: "unknown-template" } })
        assert.strictEqual((yield* Effect.flip(Durable.await("failed")))._tag, "JobFailed")
        const failing = { steps: { fail: { robot: "/emulator/fail", error: "MINE" } } }
        const failed = yield* Effect.flip(Durable.run({ ...small.job, key: "of-assembly", params: failing }))
        assert.include(failed.message, "the Assembly failed with MINE")
        yield* Durable.start(large.job)
        yield* Wait.until("bytes", () => front.sendings.some(({ bytes }) => bytes > 100_000))
        const during = yield* dump
        yield* Durable.cancel("large")
        assert.strictEqual((yield* Effect.flip(Durable.await("large")))._tag, "JobCanceled")
        const after = yield* dump
        assert.includeMembers(after.tables, ["durable_jobs", "durable_runners", "durable_uploads"])
        for (const { text } of [during, after]) {
          // The dump must contain rows, and the forbidden values must exist.
          assert.include(text, "small")
          assert.isAtLeast(front.assemblies.length, 3)
          assert.isAtLeast(front.uploads.length, 3)
          for (const forbidden of [
            ...front.assemblies,
            ...front.uploads,
            ...front.uploads.map((url) => url.slice(url.lastIndexOf("/") + 1)),
            front.url,
            "/resumable/files",
            "/assemblies/",
            "http",
            "signature",
            "X-Signature",
            "presigned",
            emulator.credentials.key,
            Redacted.value(emulator.credentials.secret),
            Redacted.value(secret),
            new URL(Redacted.value(database)).password
          ]) {
            assert.notInclude(text, forbidden)
          }
          for (const id of front.assemblies) assert.notMatch(text, new RegExp(`(?<![0-9a-f])${id.slice(0, 6)}`, "u"))
        }
      }).pipe(Effect.provide(Layer.merge(runner, PgClient.layer({ url: database }))))
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
