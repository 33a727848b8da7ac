/** Durable jobs that share Assemblies: one claim and one notification for many jobs, and one outcome for each job. */
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { Durable, DurableJob } from "@assembly-effect/workflow"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { DateTime, Duration, Effect, FileSystem, Layer, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { durableTests } from "./running.ts"
import { hurried, pathsOf, sha256, slow, steps, storedIn, withRunner } from "./support.ts"

const packing = { files: 20, bytes: 67_108_864, within: "1 second", repeatable: true } as const

const hashing = {
  ...steps,
  poison: { robot: "/emulator/fail", use: ":original", error: "INVALID_FILE", filename: "poison.bin" },
  hash: { robot: "/file/hash", use: ":original" }
}

/** Jobs with one small file each, and the SHA-256 of each file. */
const jobsIn = (
  path: string,
  batch: string,
  count: number,
  more: { steps?: DurableJob.Job["params"]["steps"]; poison?: number } = {}
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const hashes = new Map<string, string>()
    const jobs = yield* Effect.forEach(
      Array.from({ length: count }, (_, row) => row),
      Effect.fnUntraced(function* (row): Effect.fn.Return<DurableJob.Job> {
        const key = `${batch} ${String(row).padStart(5, "0")}`
        const bytes = new TextEncoder().encode(key)
        hashes.set(key, sha256(bytes))
        yield* Effect.orDie(fs.writeFile(`${path}/${key}`, bytes))
        const filename = row === more.poison ? "poison.bin" : "photo.bin"
        const params = { steps: more.steps ?? hashing, fields: { batch } }
        return { key, params, files: [{ source: DurableJob.path(`${path}/${key}`), filename }] }
      })
    )
    return { jobs, hashes }
  })

const startAll = (jobs: ReadonlyArray<DurableJob.Job>, options: Durable.AllOptions = { packing }) =>
  Durable.startAll(Stream.fromIterable(jobs), options).pipe(
    Stream.runForEach((outcome) => Effect.sync(() => assert.strictEqual(outcome._tag, "Started")))
  )

const assembliesOf = (batch: string) =>
  Effect.map(
    Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0), keywords: [batch] })),
    (entries) => [...entries]
  )

const statesOf = Effect.map(Stream.runCollect(Durable.list()), (all) => all.map(({ state }) => state))

const until = <A, E, R>(read: Effect.Effect<A, E, R>, fits: (value: A) => boolean) =>
  Effect.repeat(read, { until: fits, schedule: Schedule.spaced("20 millis") })

/** Checks that the job sees the uploads and the results of its own file only. */
const isOwn = (key: string, hash = "") =>
  Effect.map(Durable.await(key), (status) => {
    assert.deepStrictEqual(storedIn(status), [hash])
    assert.deepStrictEqual(
      status.results?.["hash"]?.map((file) => file.meta?.["hash"]),
      [hash]
    )
    return status.assembly_id
  })

durableTests("Durable.startAll with packing", (it) => {
  it.alone("20 jobs are one Assembly, each sees its own file; another job is alone", function* ({ database, path }) {
    const { hashes, jobs } = yield* jobsIn(path, "whole", 21)
    yield* Effect.gen(function* () {
      yield* startAll(jobs)
      const ids = yield* Effect.forEach(jobs, ({ key }) => isOwn(key, hashes.get(key)), { concurrency: 8 })
      assert.strictEqual(new Set(ids.slice(0, 20)).size, 1)
      assert.strictEqual(new Set(ids).size, 2)
      assert.strictEqual((yield* assembliesOf("whole")).length, 2)
      assert.deepStrictEqual([...new Set(yield* statesOf)], ["Completed"])
    }).pipe(withRunner(database), hurried())
  })

  it.running("a canceled job of either half ends with its half", { pollInterval: "1 second" }, function* ({ path }) {
    const { hashes, jobs } = yield* jobsIn(path, "halved", 8, { steps: { ...hashing, ...slow(2) }, poison: 6 })
    const keys = jobs.map(({ key }) => key)
    const [, second = "", , , , sixth = "", poison = ""] = keys
    yield* startAll(jobs)
    yield* until(statesOf, (states) => states[0] === "Processing" && states[7] === "Queued")
    yield* Durable.cancel(second)
    yield* Durable.cancel(sixth)
    yield* until(statesOf, (states) => states.every((state) => /^(Completed|Failed|Canceled)$/.test(state)))
    const ended = ["Completed", "Canceled", "Completed", "Completed", "Completed", "Canceled", "Failed", "Completed"]
    assert.deepStrictEqual(yield* statesOf, ended as Array<DurableJob.State>)
    const files = [{ source: DurableJob.path(`${path}/${poison}`), filename: "photo.bin" }]
    yield* Durable.retry(poison, { files })
    yield* Effect.forEach([second, sixth], (key) => Durable.retry(key))
    const ids = yield* Effect.forEach(keys, (key) => isOwn(key, hashes.get(key)))
    assert.strictEqual(new Set([ids[1], ids[5], ids[6]]).size, 3)
  })

  it.running("one source of 12 vanishes: 11 jobs complete, and one fails with SourceFailed", function* ({ path }) {
    const fs = yield* FileSystem.FileSystem
    const { hashes, jobs } = yield* jobsIn(path, "vanished", 12)
    const full = { packing: { ...packing, files: 12, within: "1 hour" } } as const
    yield* startAll(jobs.slice(0, 11), full)
    yield* fs.remove(`${path}/${jobs[3]?.key}`)
    yield* startAll(jobs.slice(11), full)
    for (const [row, { key }] of jobs.entries()) if (row !== 3) yield* isOwn(key, hashes.get(key))
    const error = yield* Effect.flip(Durable.await(jobs[3]?.key ?? ""))
    assert(error._tag === "JobFailed")
    assert.strictEqual(error.failure.reason, "SourceFailed")
  })

  it.running("the last of 3 jobs in a pack has the first key: each sees its own file", function* ({ path }) {
    const { hashes, jobs } = yield* jobsIn(path, "order", 3)
    const full = { packing: { ...packing, files: 3, within: "1 hour" } } as const
    yield* startAll(jobs.slice(1), full)
    // The order of a pack is that of its milliseconds, and then that of its keys.
    yield* Effect.sleep("5 millis")
    yield* startAll(jobs.slice(0, 1), full)
    const ids = yield* Effect.forEach(jobs, ({ key }) => isOwn(key, hashes.get(key)))
    assert.strictEqual(new Set(ids).size, 1)
  })

  it.alone("a runner that ends leaves its pack to the next one: one Assembly is left", function* ({ database, path }) {
    const { jobs } = yield* jobsIn(path, "handed", 5, { steps: slow(3600) })
    yield* startAll(jobs).pipe(
      Effect.andThen(until(assembliesOf("handed"), ({ length }) => length === 1)),
      withRunner(database)
    )
    yield* until(statesOf, (states) => states.every((state) => state === "Processing")).pipe(withRunner(database))
    const entries = yield* assembliesOf("handed")
    assert.strictEqual(entries.filter(({ ok }) => ok !== "ASSEMBLY_CANCELED").length, 1)
    yield* Effect.forEach(entries, ({ id }) => Effect.ignore(Assemblies.cancel(Assembly.AssemblyId.make(id))))
  })

  it.running("a job that waits for its pack is canceled at once; a full pack waits for none", function* ({ path }) {
    const { jobs } = yield* jobsIn(path, "full", 5, { steps: slow(3600) })
    const older = yield* jobsIn(path, "older", 1)
    const patient = { packing: { ...packing, files: 3, within: "1 hour" } } as const
    yield* startAll(older.jobs, patient)
    yield* startAll(jobs.slice(0, 2), patient)
    const canceled = yield* Durable.cancel("full 00000")
    assert.strictEqual(canceled.state, "Canceled")
    yield* startAll(jobs.slice(2, 4), patient)
    const states = ["Canceled", "Processing", "Processing", "Processing", "Queued"]
    yield* until(statesOf, (all) => String(all) === String(states))
    yield* startAll(jobs.slice(4), patient)
    assert.strictEqual((yield* Durable.status("full 00004")).state, "Queued")
    const entries = yield* assembliesOf("full")
    assert.strictEqual(entries.length, 1)
    yield* Effect.forEach(entries, ({ id }) => Effect.ignore(Assemblies.cancel(Assembly.AssemblyId.make(id))))
  })

  it.running("a pack with a row damaged meanwhile: no job sees the file of its neighbor", function* ({ path, gate }) {
    const { hashes, jobs } = yield* jobsIn(path, "torn", 4)
    const [torn, ...others] = jobs
    const { key, params } = torn ?? assert.fail()
    yield* startAll([...jobs, { key: "torn last", params, files: [gate.file("last")] }])
    yield* gate.reached
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE durable_jobs SET sources = '{' WHERE job_key = ${key}`
    yield* gate.open
    for (const other of others) yield* isOwn(other.key, hashes.get(other.key))
    assert.include(["StoreFailed", "JobFailed"], (yield* Effect.flip(Durable.await(key)))._tag)
  })

  it.running("a missing `repeatable` is refused, and nothing is stored", function* ({ path }) {
    const { jobs } = yield* jobsIn(path, "refused", 2)
    const invalid = { packing: {} } as unknown as Durable.AllOptions
    const error = yield* Effect.flip(Stream.runDrain(Durable.startAll(Stream.fromIterable(jobs), invalid)))
    assert.deepStrictEqual(pathsOf(error), ["packing.repeatable"])
    assert.deepStrictEqual(yield* statesOf, [])
  })
})

const files = Number(process.env["PACKING_FILES"] ?? 100)
const poison = Math.floor(files / 3)

layer(Layer.empty)("Packs of three runners", (it) => {
  it.effect(
    `${files} files, one of them poison, in packs of 20; a runner is killed: the others complete`,
    function* () {
      const postgres = yield* Server.make
      const cluster = yield* Cluster.make({ database: yield* postgres.database("packs"), expiry: Duration.seconds(3) })
      const jobs = yield* Effect.forEach(
        Array.from({ length: files }, (_, row) => row),
        (row) =>
          Effect.map(cluster.file(`job${row}`, 1000), ({ job }): DurableJob.Job => {
            const [file] = job.files
            assert(file !== undefined)
            const filename = row === poison ? "poison.bin" : file.filename
            return { key: job.key, params: { steps: hashing }, files: [{ source: file.source, filename }] }
          })
      )
      yield* Effect.gen(function* () {
        const [first] = yield* Effect.forEach(["A", "B", "C"], cluster.runner)
        yield* Stream.runDrain(Durable.startAll(Stream.fromIterable(jobs), { packing }))
        yield* until(statesOf, (all) => all.includes("Uploading") || all.includes("Processing"))
        yield* first?.signal("SIGKILL") ?? Effect.void
        const all = yield* until(statesOf, (now) => now.every((state) => state === "Completed" || state === "Failed"))
        assert.strictEqual(all.length, files)
        assert.strictEqual(all.filter((state) => state === "Failed").length, 1)
        const [own] = yield* Stream.runCollect(Durable.list({ state: "Failed" }))
        assert.strictEqual(own?.key, `job${poison}`)
        // At most the packs of the runner that was killed ran twice.
        const count = yield* cluster.assemblies
        assert.isAtLeast(count, files / packing.files)
        assert.isAtMost(count, files / packing.files + 4 + 2 * Math.log2(packing.files) + 1)
      }).pipe(Effect.provide(cluster.client))
    }
  )
})
