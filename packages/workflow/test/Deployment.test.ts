/** The secrets of a deployment: a process that does not fit is refused, and a rotation is not. */
import { Durable } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Redacted } from "effect"
import { old, other, warnings, young } from "./logged.ts"
import { durableTests } from "./running.ts"
import { job, query, withRunner } from "./support.ts"

durableTests("An embedded database", (it) => {
  const open = (database: string, secrets: ReadonlyArray<Redacted.Redacted> | undefined) =>
    warnings(withRunner(database, { secrets })(Effect.asVoid(Durable.Durable)))

  it.alone("refuses other secrets than those of its jobs, also after these were sent", function* ({ database, file }) {
    const content = yield* file("a.bin", 10)
    yield* Durable.run(job("one", [content])).pipe(withRunner(database, { secrets: [old] }))
    const error = yield* Effect.flip(open(database, [other]))
    assert.strictEqual(error._tag, "InvalidSecret")
    assert.include(error.message, "add the earlier secret to the list")
    // Without `secrets`, the secret would be that of a file, which is missing.
    assert.strictEqual((yield* Effect.flip(open(database, undefined)))._tag, "InvalidSecret")
    assert.deepStrictEqual(yield* open(database, [old]), [])
  })

  it.alone("accepts other secrets while no job has begun", function* ({ database }) {
    for (const secrets of [[old], undefined, [young], [other]]) {
      assert.deepStrictEqual(yield* open(database, secrets), [])
    }
  })

  it.alone("contains nothing of a secret", function* ({ database }) {
    yield* open(database, [old, young])
    const rows = yield* query(database, "SELECT * FROM durable_deployment")
    assert.lengthOf(rows, 1)
    const text = JSON.stringify(rows)
    assert.match(text, /[0-9a-f]{32}/u)
    for (const secret of [old, young]) assert.notInclude(text, Redacted.value(secret).slice(0, 8))
  })
})
