/**
 * A runner ends before it gets the response to a creation, or with all bytes stored: the next runner finds what was
 * created, and creates nothing twice.
 */
import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { Durable } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Schedule } from "effect"
import { durableTests } from "./running.ts"
import { assemblies, hurried, job, query, storedIn, withRunner } from "./support.ts"

/** The ids of all Assemblies. */
const ids = Effect.map(assemblies(), (all) => all.map(({ id }) => Assembly.AssemblyId.make(String(id))))

/** Waits for an Assembly that is not in `known` and whose Status `fits`. */
const created = (known: ReadonlyArray<string>, fits: (status: Assembly.Status) => boolean) =>
  Effect.gen(function* () {
    for (const id of yield* ids) {
      if (known.includes(id)) continue
      const status = yield* Assemblies.get(id)
      if (fits(status)) return status
    }
    return yield* Effect.fail("not yet")
  }).pipe(Effect.retry(Schedule.spaced("20 millis")))

const hour = "1 hour"

const lost: ReadonlyArray<readonly [string, Faults.Fault, (status: Assembly.Status) => boolean]> = [
  [
    "an Assembly",
    Faults.Fault.FinishSlowly({ method: "POST", path: "/assemblies/:assemblyId", duration: hour }),
    () => true
  ],
  [
    "an upload",
    Faults.Fault.FinishSlowly({ method: "POST", path: "/resumable/files/", duration: hour }),
    (status) => status["started_tus_uploads"] === 1
  ]
]

durableTests("A runner that ends", (it) => {
  for (const [what, fault, fits] of lost) {
    for (const size of [1000, 700_000]) {
      it.alone(`while it creates ${what} of ${size} bytes has a successor`, function* ({ database, file, faults }) {
        const content = yield* file("a.bin", size)
        const known = yield* ids
        yield* Effect.gen(function* () {
          yield* faults.inject(fault)
          yield* Durable.start(job("lost", [content]))
          yield* created(known, fits)
        }).pipe(withRunner(database))
        yield* faults.clear
        const status = yield* Durable.await("lost").pipe(withRunner(database), hurried())
        assert.deepInclude(status, { started_tus_uploads: 1, finished_tus_uploads: 1 })
        assert.deepStrictEqual(storedIn(status), [content.sha256])
        assert.strictEqual((yield* ids).length - known.length, 1)
      })
    }
  }

  it.alone("after all bytes are stored has a successor that sends nothing", function* ({ database, file }) {
    const content = yield* file("a.bin", 1000)
    const before = yield* Durable.run(job("again", [content])).pipe(withRunner(database))
    yield* query(database, "UPDATE durable_jobs SET state = 'Processing', runner = 'dead', due_at = 1, ended_at = NULL")
    const after = yield* Durable.await("again").pipe(withRunner(database))
    assert.strictEqual(after.assembly_id, before.assembly_id)
    assert.deepStrictEqual(storedIn(after), storedIn(before))
    assert.deepInclude(after, { started_tus_uploads: 1, finished_tus_uploads: 1 })
  })
})
