/** Walks over the options of the hosts of durable jobs. */
import { AssemblyNode } from "@assembly-effect/node"
import { SqliteClient } from "@assembly-effect/sqlite"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import * as BudgetSql from "@assembly-effect/workflow/BudgetSql"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import { DurableSqlite } from "@assembly-effect/workflow"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted } from "effect"
import { folder } from "./support.ts"

/** Nothing listens here, and nothing is sent. */
const services = AssemblyNode.layer({ baseUrl: "http://127.0.0.1:1", key: "key", secret: Redacted.make("secret") })

const sqlite = (options: DurableSqlite.Options) =>
  Effect.flatMap(folder, ({ database }) => Layer.build(DurableSqlite.layer(database, options)))

const postgres = {
  database: { url: Redacted.make("postgres://nobody@127.0.0.1:1/none") },
  secrets: [Redacted.make("a secret of a deployment, not for use in it")]
}

/** No database listens. */
const client = (options: Partial<DurablePostgres.Options>) =>
  Effect.catchTag(Layer.build(DurablePostgres.client({ ...postgres, ...options })), "StoreFailed", () => Effect.void)

/** A number is a duration in milliseconds. */
const all: ReadonlyArray<HostileOptions.Entry<Layer.Success<typeof services>>> = [
  {
    name: "DurableSqlite.layer",
    options: ["uploads", "patience", "pollInterval", "retention", "upload"],
    build: sqlite,
    meaning: { patience: [0.5], pollInterval: [0.5], retention: [{}, { hour: 1 }], upload: [{}] }
  },
  { name: "DurableSqlite.layer upload", options: ["chunkSize"], build: (upload) => sqlite({ upload }) },
  {
    name: "DurableSqlite.layer retention",
    options: ["failures", "successes"],
    build: (retention) => sqlite({ retention }),
    meaning: { failures: [0.5], successes: [0.5] }
  },
  { name: "DurablePostgres.client", options: ["expiry", "uploads"], build: client },
  {
    name: "DurablePostgres.client database",
    options: ["maxConnections"],
    build: (database) => client({ database: { ...postgres.database, ...database } })
  }
]

layer(services)("A hostile value of an option", (it) => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})

layer(services)("A missing or plain option", (it) => {
  const none = undefined as never
  const plain = ["a secret in plain text, of 32 bytes or more"] as never
  const errorOf = <A, E, R>(made: Layer.Layer<A, E, R>) => Effect.scoped(Effect.flip(Layer.build(made)))
  const budget = (secrets: never) =>
    errorOf(Layer.provide(BudgetSql.layer({ secrets }), SqliteClient.layer({ path: ":memory:" })))
  it.effect.each([
    ["DurableSqlite.layer", "path", () => errorOf(DurableSqlite.layer(none))],
    ["DurableSqlite.layer", "secrets.0", () => errorOf(DurableSqlite.layer("/nowhere/at/all", { secrets: plain }))],
    ["DurablePostgres.client", "secrets", () => errorOf(DurablePostgres.client({ ...postgres, secrets: none }))],
    ["BudgetSql.layer", "secrets", () => budget(none)],
    ["BudgetSql.layer", "secrets.0", () => budget(plain)]
  ] as const)("%s: InvalidRequest that names %s and its rule", function* ([name, path, fails]) {
    const error = yield* fails()
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.include(error.message, `${name}: ${path}: Expected `)
    assert.notInclude(error.message, "plain text")
  })
})
