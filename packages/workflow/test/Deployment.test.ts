/** The secrets and the `expiry` of a deployment: a process that does not fit is refused, and a rotation is not. */
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as DurableSqlite from "@assembly-effect/workflow/DurableSqlite"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import { DatabaseSync } from "node:sqlite"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { folder, job, live, withRunner } from "./support.ts"

const secretOf = (letter: string) => Redacted.make(letter.repeat(32))
const [old, young, other] = [secretOf("o"), secretOf("y"), secretOf("x")]

/** What a program logs at the level of a warning or above. */
const warnings = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const said: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn" || logLevel === "Error" || logLevel === "Fatal") said.push(String(message))
    })
    return Effect.as(Effect.provide(program, Logger.layer([logger]), { local: true }), said)
  })

/** What a runner logs that starts and ends. */
const lines = <E, R>(runner: Layer.Layer<Durable.Durable, E, R>) =>
  Effect.suspend(() => {
    const said: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void said.push(`${logLevel}: ${String(message)}`))
    return Effect.scoped(Layer.build(runner)).pipe(
      Effect.provide(Logger.layer([logger]), { local: true }),
      Effect.as(said)
    )
  })

layer(live, { excludeTestServices: true })("An embedded database", (it) => {
  const open = (database: string, secrets: ReadonlyArray<Redacted.Redacted> | undefined) =>
    warnings(withRunner(database, { secrets })(Effect.asVoid(Durable.Durable)))

  it.effect("refuses other secrets than those of its jobs, also after these were sent", () =>
    Effect.gen(function* () {
      const { database, file } = yield* folder
      const content = yield* file("a.bin", 10)
      yield* Durable.run(job("one", [content])).pipe(withRunner(database, { secrets: [old] }))
      const error = yield* Effect.flip(open(database, [other]))
      assert.strictEqual(error._tag, "InvalidSecret")
      assert.include(error.message, "add the earlier secret to the list")
      // Without `secrets`, the secret would be that of a file, which is missing.
      assert.strictEqual((yield* Effect.flip(open(database, undefined)))._tag, "InvalidSecret")
      assert.deepStrictEqual(yield* open(database, [old]), [])
    })
  )

  it.effect("accepts other secrets while no job has begun", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      for (const secrets of [[old], undefined, [young], [other]]) {
        assert.deepStrictEqual(yield* open(database, secrets), [])
      }
    })
  )

  it.effect("is named in the first and the last line of its runner", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const runner = DurableSqlite.layer(database, { uploads: 3 })
      assert.deepStrictEqual(yield* lines(runner), [], "a program with a runner inside prints only its own lines")
      const all = lines(runner).pipe(Effect.provideService(References.MinimumLogLevel, "Debug"))
      assert.deepStrictEqual(
        (yield* all).filter((line) => line.includes("runner of durable jobs")),
        [
          `Debug: A runner of durable jobs is ready: ${database}, 3 files at a time`,
          `Debug: The runner of durable jobs in ${database} has ended: its jobs continue when a process opens the database`
        ]
      )
    })
  )

  it.effect("contains nothing of a secret", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      yield* open(database, [old, young])
      const stored = new DatabaseSync(database)
      const rows = stored.prepare("SELECT * FROM durable_deployment").all()
      stored.close()
      assert.lengthOf(rows, 1)
      const text = JSON.stringify(rows)
      assert.match(text, /[0-9a-f]{32}/u)
      for (const secret of [old, young]) assert.notInclude(text, Redacted.value(secret).slice(0, 8))
    })
  )
})

layer(Layer.empty, { excludeTestServices: true })("A deployment of several runners", (it) => {
  it.effect(
    "refuses a runner with other secrets, and lets each runner rotate on its own",
    () =>
      Effect.gen(function* () {
        const postgres = yield* Server.make
        const url = yield* postgres.database("secrets")
        const services = AssemblyNode.layer({
          baseUrl: "http://127.0.0.1:1",
          key: "key",
          secret: Redacted.make("secret")
        })
        const start = (
          secrets: ReadonlyArray<Redacted.Redacted>,
          { expiry, kind = "runner" }: { readonly expiry?: string; readonly kind?: "runner" | "client" } = {}
        ) =>
          Layer.build(
            DurablePostgres[kind]({ database: { url }, secrets, expiry: expiry as "12 seconds" | undefined })
          ).pipe(Effect.provide(services), Effect.scoped, warnings)
        const refused = (secrets: ReadonlyArray<Redacted.Redacted>, kind: "runner" | "client" = "runner") =>
          Effect.map(Effect.flip(start(secrets, { kind })), ({ _tag }) => _tag)

        // A client comes first, and decides nothing.
        assert.deepStrictEqual(yield* start([other], { kind: "client" }), [])
        assert.deepStrictEqual(yield* start([old]), [])
        assert.strictEqual(yield* refused([other]), "InvalidSecret")
        assert.strictEqual(yield* refused([other], "client"), "InvalidSecret")

        // The new secret is added to each runner, becomes the first one of each, and then the old one is removed.
        const rounds = [[old, young], [young, old], [young]]
        for (const [round, secrets] of rounds.entries()) {
          const before = rounds[round - 1] ?? [old]
          assert.deepStrictEqual(yield* start(secrets), [], `round ${round}`)
          // A runner of the round before still starts.
          const said = yield* start(before)
          if (round === 0) assert.include(said.join(), "lack the secret that a runner added at")
          else assert.deepStrictEqual(said, [], `before round ${round}`)
        }
        assert.strictEqual(yield* refused([other]), "InvalidSecret")

        assert.deepStrictEqual(yield* start([young], { kind: "client", expiry: "30 seconds" }), [])
        const [expires] = yield* start([young], { expiry: "30 seconds" })
        assert.include(expires, "expiry of this runner is 30s, and that of the runner that started before is 12s")
        assert.deepStrictEqual(yield* start([young], { expiry: "30 seconds" }), [])

        const { host } = new URL(Redacted.value(url))
        const options = { database: { url }, secrets: [young], expiry: "30 seconds" } as const
        assert.deepStrictEqual(yield* Effect.provide(lines(DurablePostgres.runner(options)), services), [
          `Info: A runner of durable jobs is ready: Postgres ${host}/secrets, 8 files at a time, expiry 30s`,
          `Info: The runner of durable jobs in Postgres ${host}/secrets has ended: the other runners continue its jobs`
        ])
        assert.deepStrictEqual(yield* Effect.provide(lines(DurablePostgres.client(options)), services), [])

        const sql = yield* PgClient.make({ url }).pipe(Effect.provide(Reactivity.layer))
        const rows = yield* sql`SELECT secrets FROM durable_deployment`
        assert.lengthOf(rows, 1)
      }).pipe(Effect.scoped),
    { timeout: 60_000 }
  )

  it.effect(
    "is founded by one of several runners that start at the same time",
    () =>
      Effect.gen(function* () {
        const postgres = yield* Server.make
        const url = yield* postgres.database("founded")
        const services = AssemblyNode.layer({
          baseUrl: "http://127.0.0.1:1",
          key: "key",
          secret: Redacted.make("secret")
        })
        const results = yield* Effect.forEach(
          [old, young, other],
          (secret) =>
            Layer.build(DurablePostgres.runner({ database: { url }, secrets: [secret] })).pipe(
              Effect.provide(services),
              Effect.scoped,
              Effect.match({ onFailure: ({ _tag }) => _tag as string, onSuccess: () => "joined" })
            ),
          { concurrency: 3 }
        )
        assert.deepStrictEqual(results.toSorted(), ["InvalidSecret", "InvalidSecret", "joined"])
      }).pipe(Effect.scoped),
    { timeout: 60_000 }
  )
})
