/** A Postgres whose disk is full: no job stays behind when it has space again. */
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { Durable } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { gated } from "./gates.ts"
import { assemblies, folder, job, live, storedIn } from "./support.ts"

/** Every statement that writes fails as on a full disk. The sequence counts these statements, also after a rollback. */
const full = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tables = ["durable_jobs", "durable_uploads", "durable_runners"]
  yield* sql`CREATE SEQUENCE tries`
  yield* sql`
    CREATE FUNCTION refuse() RETURNS trigger AS $$
    BEGIN
      PERFORM nextval('tries');
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$ LANGUAGE plpgsql`
  for (const table of tables) {
    yield* sql`CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE OR DELETE ON ${sql(table)} EXECUTE FUNCTION refuse()`
    yield* sql`ALTER TABLE ${sql(table)} DISABLE TRIGGER full_disk`
  }
  return {
    fill: Effect.forEach(tables, (table) => sql`ALTER TABLE ${sql(table)} ENABLE TRIGGER full_disk`),
    empty: Effect.forEach(tables, (table) => sql`ALTER TABLE ${sql(table)} DISABLE TRIGGER full_disk`),
    tries: Effect.map(sql<{ readonly n: unknown }>`SELECT last_value AS n FROM tries`, ([row]) => Number(row?.n))
  }
})

layer(live)("A Postgres that is full for longer than the expiry of the runner", (it) => {
  it.effect("leaves no job behind: each is one completed Assembly with one upload", function* () {
    const server = yield* Server.make
    const url = yield* server.database("full")
    const { file } = yield* folder
    const gate = yield* gated
    const contents = yield* Effect.forEach(["a", "b", "c"], (name) => file(name, 1000))
    const before = (yield* assemblies()).length
    const runner = DurablePostgres.runner({
      database: { url },
      secrets: [Redacted.make("the secret of a deployment for tests")],
      expiry: "3 seconds",
      uploads: 1
    })
    yield* Effect.gen(function* () {
      const { empty, fill, tries } = yield* full
      yield* Durable.start(job("begun", [], { files: [gate.file("begun")] }))
      yield* gate.reached
      for (const content of contents) yield* Durable.start(job(content.path, [content]))
      yield* fill
      const refused = yield* Effect.flip(Durable.start(job("refused", contents)))
      assert(refused._tag === "StoreFailed", refused.message)
      assert.include(refused.message, "No space left on device")
      // The runner stops its upload when its row has expired, and tries to join again.
      yield* gate.stopped
      yield* gate.open
      const failed = yield* tries
      yield* Effect.repeat(tries, { until: (now) => now > failed + 3, schedule: Schedule.spaced("50 millis") })
      yield* empty
      assert.deepStrictEqual(storedIn(yield* Durable.await("begun")), [gate.sha256])
      for (const { path, sha256 } of contents) {
        const status = yield* Durable.await(path)
        assert.deepInclude(status, { started_tus_uploads: 1, finished_tus_uploads: 1 })
        assert.deepStrictEqual(storedIn(status), [sha256])
      }
      assert.strictEqual((yield* assemblies()).length - before, 1 + contents.length)
    }).pipe(Effect.provide(Layer.provide(Layer.merge(runner, PgClient.layer({ url })), gate.layer)))
  })
})
