/** Tests that the memory and the cost of an emulator do not grow with the number of requests. */
import { DateTime, Effect } from "effect"
import { SqlClient, type Statement as Fragment } from "effect/sql"
import { setFlagsFromString } from "node:v8"
import * as Database from "../src/internal/data/database.ts"
import * as TemplateStore from "../src/internal/templates/templates.ts"
import * as UsedSignatures from "../src/internal/auth/usedSignatures.ts"
import { defaults } from "@assembly-effect/emulator/Limits"
import * as Limits from "../src/internal/limits.ts"
import { planOf } from "./stores.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

setFlagsFromString("--expose-gc")
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
    Effect.provideService(Limits.Limits, { ...defaults, signatures: 3 })
  )
)

it.effect("what a request asks of every row finds its rows by an index", Database.layer(":memory:"), function* () {
  const sql = yield* SqlClient.SqlClient
  const plan = (statement: Fragment.Fragment) => planOf(...sql`${statement}`.compile())
  assert.deepStrictEqual(yield* plan(UsedSignatures.forget(sql, 0)), [
    "SEARCH used_signatures USING INDEX used_signatures_by_expiry (expires_at<?)"
  ])
  assert.include(
    yield* plan(TemplateStore.pageOf(sql, "emulator", { sort: "last_used" })),
    "SEARCH assemblies USING COVERING INDEX assemblies_by_template (workspace=? AND template_id=?)"
  )
})
