import { HandledNotifications } from "@assembly-effect/http"
import { SqliteClient } from "@assembly-effect/sqlite"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"

const keyOf = (name: string) => createHash("sha256").update(name).digest("hex")
const lease = Duration.minutes(1)

const claim = (name: string) =>
  HandledNotifications.HandledNotifications.use((handled) => handled.claim(keyOf(name), lease))

/** Claims what must be free. */
const claimed = Effect.fnUntraced(function* (name: string) {
  const found = yield* claim(name)
  if (found._tag !== "Claimed") throw new Error(`${name} is ${found._tag}`)
  return found
})

const tagOf = (name: string) => Effect.map(claim(name), ({ _tag }) => _tag)

const sqlite = SqliteClient.layer({ path: ":memory:" })

const persistent = HandledNotifications.layerSql().pipe(Layer.provideMerge(sqlite))

const kinds = [
  ["memory", HandledNotifications.layerMemory],
  ["SQL", (options?: HandledNotifications.Options) => Layer.provide(HandledNotifications.layerSql(options), sqlite)]
] as const

describe.each(kinds)("HandledNotifications in %s", (_, make) => {
  const store = make()

  it.effect("knows what is done", store, function* () {
    yield* (yield* claimed("done")).done
    assert.deepStrictEqual([yield* tagOf("done"), yield* tagOf("done")], ["Done", "Done"])
    yield* claimed("another")
  })

  it.effect("does not know what was released", store, function* () {
    yield* (yield* claimed("released")).release
    yield* (yield* claimed("released")).done
    assert.strictEqual(yield* tagOf("released"), "Done")
  })

  it.effect("does not forget what is done after a late renewal and the time of its lease", store, function* () {
    const late = yield* claimed("late")
    yield* late.done
    yield* late.renew
    yield* TestClock.adjust("61 seconds")
    assert.strictEqual(yield* tagOf("late"), "Done")
  })

  it.effect("forgets what is done after 7 days", store, function* () {
    yield* (yield* claimed("old")).done
    yield* TestClock.adjust("6 days")
    assert.strictEqual(yield* tagOf("old"), "Done")
    yield* TestClock.adjust("2 days")
    yield* claimed("old")
  })

  it.effect("forgets what is done after the time that it is told", make({ timeToLive: "1 hour" }), function* () {
    yield* (yield* claimed("brief")).done
    yield* TestClock.adjust("59 minutes")
    assert.strictEqual(yield* tagOf("brief"), "Done")
    yield* TestClock.adjust("2 minutes")
    yield* claimed("brief")
  })

  it.effect("keeps many at once", store, function* () {
    const names = Array.from({ length: 300 }, (__, index) => `many ${index}`)
    yield* Effect.forEach(names, (name) => Effect.flatMap(claimed(name), ({ done }) => done), { concurrency: 20 })
    for (const name of names) assert.strictEqual(yield* tagOf(name), "Done")
  })
})

describe("HandledNotifications.layerMemory", () => {
  const two = HandledNotifications.layerMemory({ capacity: 2 })

  it.effect("keeps the newest ones only", two, function* () {
    for (const name of ["a", "b", "a", "c"]) {
      const found = yield* claim(name)
      if (found._tag === "Claimed") yield* found.done
    }
    assert.deepStrictEqual([yield* tagOf("a"), yield* tagOf("b"), yield* tagOf("c")], ["Claimed", "Done", "Done"])
  })

  it.effect("counts a notification as new when it is handled again after its time", two, function* () {
    for (const name of ["a", "b"]) yield* (yield* claimed(name)).done
    yield* TestClock.adjust("8 days")
    for (const name of ["a", "c"]) yield* (yield* claimed(name)).done
    assert.deepStrictEqual([yield* tagOf("a"), yield* tagOf("c")], ["Done", "Done"])
  })

  it.effect("keeps 10,000 by default", HandledNotifications.layerMemory(), function* () {
    for (let index = 0; index <= 10_000; index++) yield* (yield* claimed(`name ${index}`)).done
    const found = yield* Effect.forEach([0, 1, 10_000], (index) => tagOf(`name ${index}`))
    assert.deepStrictEqual(found, ["Claimed", "Done", "Done"])
  })
})

describe("HandledNotifications.layerSql", () => {
  const inProcess = <A, E>(effect: Effect.Effect<A, E, HandledNotifications.HandledNotifications>) =>
    Effect.provide(effect, HandledNotifications.layerSql())

  it.effect("lets one process handle a notification at a time, and the next one after the lease", sqlite, function* () {
    const first = yield* inProcess(claimed("a"))
    assert.strictEqual(yield* inProcess(tagOf("a")), "Busy")
    yield* TestClock.adjust("61 seconds")
    const second = yield* inProcess(claimed("a"))
    // The first process is late: it must not free what another one holds.
    yield* first.release
    assert.strictEqual(yield* inProcess(tagOf("a")), "Busy")
    yield* second.done
    yield* second.release
    assert.strictEqual(yield* inProcess(tagOf("a")), "Done")
  })

  it.effect("keeps a renewed claim, and does not renew the claim of another process", sqlite, function* () {
    const first = yield* inProcess(claimed("a"))
    for (let minute = 0; minute < 10; minute++) {
      yield* TestClock.adjust("59 seconds")
      yield* first.renew
      assert.strictEqual(yield* inProcess(tagOf("a")), "Busy")
    }
    yield* TestClock.adjust("61 seconds")
    const second = yield* inProcess(claimed("a"))
    yield* TestClock.adjust("30 seconds")
    yield* first.renew
    yield* TestClock.adjust("31 seconds")
    yield* inProcess(claimed("a"))
    yield* second.done
    yield* first.renew
    yield* TestClock.adjust("1 day")
    assert.strictEqual(yield* inProcess(tagOf("a")), "Done")
  })

  it.effect("deletes what it has forgotten, although the database has failed before", persistent, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* (yield* claimed("a")).done
    yield* sql`ALTER TABLE assembly_notifications RENAME TO locked`
    yield* TestClock.adjust("2 hours")
    yield* sql`ALTER TABLE locked RENAME TO assembly_notifications`
    yield* TestClock.adjust("8 days")
    assert.deepStrictEqual(yield* sql`SELECT * FROM assembly_notifications`, [])
  })

  it.effect("is busy when another process has released the notification within a claim", persistent, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TRIGGER released AFTER INSERT ON assembly_notifications
      BEGIN DELETE FROM assembly_notifications WHERE id = NEW.id; END`
    assert.strictEqual(yield* tagOf("a"), "Busy")
    yield* sql`DROP TRIGGER released`
    yield* claimed("a")
  })

  it.effect("fails with StoreFailed when its table is gone", persistent, function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DROP TABLE assembly_notifications`
    const error = yield* Effect.flip(claim("a"))
    assert.strictEqual(error._tag, "StoreFailed")
  })
})
