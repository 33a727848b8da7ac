/** The tables of the jobs: what a change leaves if somebody else has changed the job before. */
import { ApiError, Assemblies, AssemblyClient } from "@assembly-effect/api"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import { Assembly } from "@assembly-effect/schema"
import { SqliteClient } from "@assembly-effect/sqlite"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Duration, Effect, Layer, Redacted } from "effect"
import * as Database from "../src/internal/database.ts"
import * as Jobs from "../src/internal/jobs.ts"
import * as Packs from "../src/internal/packs.ts"
import type * as Row from "../src/internal/row.ts"
import * as Secrets from "../src/internal/secrets.ts"
import * as Verdict from "../src/internal/verdict.ts"
import * as Work from "../src/internal/work.ts"

const runner = "1".repeat(32)
const assemblyId = Assembly.AssemblyId.make("a".repeat(32))
const failure = { reason: "AssemblyFailed", message: "failed" }

/** The kind of jobs of which 8 are a full pack. */
const kind = JSON.stringify({ files: 8, bytes: 1000, within: 3_600_000, params: "" })

const newRow = (key: string, pack?: string): Row.NewRow => ({
  key,
  pack,
  job: { params: {}, files: [{ source: { _tag: "Path", path: "/a" }, filename: "a" }] },
  sources: [{ size: 1n, identity: "" }]
})

const statements = Effect.gen(function* () {
  yield* Database.migrate
  const secrets = yield* Secrets.make([Redacted.make("a secret of the deployment, 32 bytes or more")])
  const jobs = yield* Jobs.make(secrets, Duration.minutes(1))
  const packs = yield* Packs.make(jobs, secrets)
  const claim = (state: Row.Row["state"]) =>
    Effect.flatMap(jobs.claim(runner, 1, [state]), ([first]) => Effect.fromResult(first?.[1] ?? assert.fail()))
  /** Queues 8 jobs that wait for their pack, and claims what is ready. */
  const pack = (name: string) =>
    Effect.gen(function* () {
      yield* jobs.insert([newRow(`${name}1`, kind), ...[2, 3, 4, 5, 6, 7, 8].map((n) => newRow(`${name}${n}`, kind))])
      const rows = yield* packs.form(runner, 1)
      return yield* Effect.fromResult(rows[0]?.[1] ?? assert.fail())
    })
  const work = Work.make({
    jobs,
    packs,
    secrets,
    upload: {},
    patience: Duration.hours(1),
    pollInterval: Duration.minutes(1),
    outage: Database.outage(),
    ended: () => Effect.void
  })
  /** Records that all bytes of a claimed job are stored for its Assembly. */
  const store = (row: Row.Row) =>
    Effect.gen(function* () {
      const entry = yield* Hosting.encodeAssembly({ _tag: "Created", assemblyId, writtenAt: 0 })
      yield* jobs.setAssembly(row, yield* secrets.seal(row, entry), "lookup")
      yield* jobs.stored(row)
      return (yield* jobs.findClaimed(row)) ?? assert.fail()
    })
  return { jobs, packs, claim, pack, work, store }
})

/** A service whose Assembly runs. */
const executing = AssemblyClient.layerTest([
  AssemblyClient.handler(Assemblies.Get, () => Effect.succeed({ ok: "ASSEMBLY_EXECUTING", assembly_id: assemblyId }))
])

const database = Layer.fresh(SqliteClient.layer({ path: ":memory:" }))

describe("A claimed job", () => {
  it.effect.each([
    { what: "the entry of an upload", write: ({ setUpload }: Jobs.Jobs, row: Row.Row) => setUpload(row, "a", "b") },
    { what: "its Assembly", write: ({ setAssembly }: Jobs.Jobs, row: Row.Row) => setAssembly(row, "a", "b") },
    { what: "that all bytes are stored", write: ({ stored }: Jobs.Jobs, row: Row.Row) => stored(row) }
  ])("that is canceled during its upload refuses $what", database, function* ({ write }) {
    const { claim, jobs } = yield* statements
    yield* jobs.insert([newRow("a")])
    const row = yield* claim("Queued")
    assert.isTrue(yield* write(jobs, row))
    yield* jobs.cancel("a")
    assert.isFalse(yield* write(jobs, row))
  })

  it.effect("whose second attempt failed has no second retry of its first attempt", database, function* () {
    const { claim, jobs } = yield* statements
    yield* jobs.insert([newRow("a")])
    const failed = Effect.flatMap(claim("Queued"), (row) => jobs.end(row, "Failed", ["Uploading"], failure))
    yield* failed
    assert.deepInclude(yield* jobs.retry(1, newRow("a")), { attempt: 2, state: "Queued" })
    yield* failed
    assert.isUndefined(yield* jobs.retry(1, newRow("a")))
    assert.deepInclude(yield* jobs.find("a"), { attempt: 2, state: "Failed" })
  })

  it.effect("whose Assembly runs keeps its place among the running Assemblies with each look", () =>
    Effect.gen(function* () {
      const { claim, jobs, store, work } = yield* statements
      yield* jobs.insert([newRow("a")])
      const row = yield* Effect.flatMap(claim("Queued"), store)
      const told: Array<string> = []
      const tell = (what: string) => (url: string, id: string) => Effect.sync(() => told.push(`${what} ${url} ${id}`))
      const budget = {
        enter: () => Effect.void,
        pause: () => Effect.void,
        keep: tell("keep"),
        release: tell("release")
      }
      const look = Effect.flatMap(jobs.findClaimed(row), (now) => work.look(now ?? assert.fail()))
      yield* Effect.gen(function* () {
        yield* look
        yield* Effect.sleep("1 minute")
        yield* claim("Processing")
        yield* look
      }).pipe(Effect.provideService(Budget.Budget, budget), Effect.provide(executing))
      assert.deepStrictEqual(told, Array(2).fill(`keep https://api2.example.com ${assemblyId}`))
    }).pipe(Effect.provide(database), Idle.passTime)
  )

  it.effect(
    "that is canceled while its upload fails is still to be canceled",
    Layer.merge(executing, database),
    function* () {
      const { claim, jobs, work } = yield* statements
      yield* jobs.insert([newRow("a")])
      const row = yield* claim("Queued")
      yield* work.guarded(row, Effect.andThen(jobs.cancel("a"), Effect.die("the upload failed")))
      assert.deepInclude(yield* jobs.find("a"), { state: "Canceling" })
    }
  )

  it.effect("is looked at again after 5 s if its notification came before its Assembly ended", () =>
    Effect.gen(function* () {
      const { claim, jobs, store, work } = yield* statements
      const row = newRow("a")
      yield* jobs.insert([{ ...row, job: { ...row.job, params: { notify_url: "https://example.com" } } }])
      yield* work.look(yield* Effect.flatMap(claim("Queued"), store))
      assert.isTrue(yield* jobs.notified(["lookup"]))
      yield* work.look(yield* claim("Processing"))
      assert.lengthOf(yield* jobs.claim(runner, 1, ["Processing"]), 0)
      yield* Effect.sleep("5 seconds")
      assert.lengthOf(yield* jobs.claim(runner, 1, ["Processing"]), 1)
    }).pipe(Effect.provide([executing, database]), Idle.passTime)
  )
})

describe("A pack", () => {
  it.effect(
    "one of whose jobs is canceled while its last bytes are sent: Canceled, and the others are Completed",
    database,
    function* () {
      const { jobs, pack, packs } = yield* statements
      const row = yield* pack("a")
      yield* jobs.cancel("a3")
      assert.isTrue(yield* packs.stored(row, assemblyId, ["1", "2", "3", "4", "5", "6", "7", "8"]))
      assert.deepInclude(yield* jobs.find("a3"), { state: "Canceling" })
      const ended = yield* packs.end(row, Packs.completed)
      const states = ended.map(([key, state]) => `${key} ${state}`).toSorted()
      const expected = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `a${n} ${n === 3 ? "Canceled" : "Completed"}`)
      assert.deepStrictEqual(states, expected)
    }
  )

  const refused = (status: number) =>
    new ApiError.ServiceFailure({ operation: "Assemblies.create", code: "A", description: "", status })
  it.effect.each([
    { what: "503 of the service", error: refused(503), files: 8 },
    { what: "401 of the service", error: refused(401), files: 8 },
    { what: "the error of a file", error: new Error("broken"), files: 2 }
  ])("that failed with $what is followed by a pack of $files files", database, function* ({ error, files }) {
    const { pack, packs } = yield* statements
    packs.remember(yield* pack("a"), { state: "Failed", failure, isOfJob: Verdict.isOfJob(error) })
    assert.lengthOf((yield* pack("b")).sources, files)
  })
})
