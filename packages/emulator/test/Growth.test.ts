/** Tests that the memory and the cost of an emulator do not grow with the number of requests. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Fragment from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Database from "../src/internal/data/database.ts"
import * as Statement from "../src/internal/data/statement.ts"
import * as TemplateStore from "../src/internal/templates/templateStore.ts"
import * as Updates from "../src/internal/assembly/updates.ts"
import * as UsedSignatures from "../src/internal/auth/usedSignatures.ts"
import * as Limits from "../src/Limits.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

/** Counts the objects that still exist after a garbage collection. */
const kept = (refs: ReadonlyArray<WeakRef<object>>) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve) => {
        // `deref` keeps an object alive until the end of the current task.
        setImmediate(() => {
          collectGarbage()
          resolve(refs.filter((ref) => ref.deref() !== undefined).length)
        })
      })
  )

it.live("a follower that does not read keeps no update of another Assembly", Updates.layer, function* () {
  const updates = yield* Updates.Updates
  const publish = (assemblyId: string) =>
    Effect.gen(function* () {
      const update = Updates.uploadingFinished(assemblyId)
      yield* updates.publish(update)
      return new WeakRef(update)
    })
  // The follower reads the first update of its Assembly, and then reads no more updates.
  const follower = updates.follow("followed", Effect.undefined).pipe(
    Stream.runForEach(() => Effect.never),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* follower
  yield* publish("followed")
  yield* Effect.yieldNow
  const own = yield* Effect.replicateEffect(publish("followed"), 5)
  const others = yield* Effect.replicateEffect(publish("another"), 100)
  assert.strictEqual(yield* kept(own), 5)
  assert.strictEqual(yield* kept(others), 0)
})

it.effect("the used signatures that are remembered are bounded, the latest are kept", () =>
  Effect.gen(function* () {
    const used = yield* UsedSignatures.make
    const sql = yield* SqlClient.SqlClient
    const expires = DateTime.makeUnsafe("2999-01-01T00:00:00Z")
    for (const signature of ["a", "b", "c", "d", "e"]) assert.isTrue(yield* used.use(signature, expires))
    assert.isFalse(yield* used.use("e", expires))
    assert.isFalse(yield* used.use("c", expires))
    const signatures = yield* sql`SELECT signature FROM used_signatures ORDER BY signature`.values
    assert.deepStrictEqual(signatures, [["c"], ["d"], ["e"]])
    assert.isTrue(yield* used.use("f", expires))
  }).pipe(
    Effect.provide(Database.layer(":memory:")),
    Effect.provideService(Limits.Limits, { ...Limits.defaults, signatures: 3 })
  )
)

it.effect("what a request asks of every row finds its rows by an index", Database.layer(":memory:"), function* () {
  const sql = yield* SqlClient.SqlClient
  const Plan = Schema.Struct({ detail: Schema.String })
  const plan = (statement: Fragment.Fragment) =>
    Effect.map(Statement.rows(Plan).all(sql`EXPLAIN QUERY PLAN ${statement}`), (rows) =>
      rows.map(({ detail }) => detail)
    )
  assert.deepStrictEqual(yield* plan(UsedSignatures.forget(sql, 0)), [
    "SEARCH used_signatures USING INDEX used_signatures_by_expiry (expires_at<?)"
  ])
  const listing = { from: 0, to: 1, keywords: [], sort: "last_used", order: "desc", limit: 10, offset: 0n } as const
  assert.include(
    yield* plan(TemplateStore.page(sql, "emulator", listing)),
    "SEARCH assemblies USING COVERING INDEX assemblies_by_template (workspace=? AND template_id=?)"
  )
})
