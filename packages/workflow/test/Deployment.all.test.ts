/** The secrets of a deployment of several runners. */
import { AssemblyNode } from "@assembly-effect/node"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { old, other, warnings, young } from "./logged.ts"

/** Nothing listens here, and nothing is sent. */
const services = AssemblyNode.layer({ baseUrl: "http://127.0.0.1:1", key: "key", secret: Redacted.make("secret") })

layer(Layer.empty)("A deployment of several runners", (it) => {
  it.effect("refuses a runner with other secrets, and lets each runner rotate on its own", function* () {
    const postgres = yield* Server.make
    const url = yield* postgres.database("secrets")
    const start = (secrets: ReadonlyArray<Redacted.Redacted>, kind: "runner" | "client" = "runner") =>
      Layer.build(DurablePostgres[kind]({ database: { url }, secrets })).pipe(
        Effect.provide(services),
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

  it.effect("is founded by one of several runners that start at the same time", function* () {
    const postgres = yield* Server.make
    const url = yield* postgres.database("founded")
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
  })
})
