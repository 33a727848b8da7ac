/** Several runners of one database: who has a job, and what a runner does that may have lost it. */
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { SqliteClient } from "@assembly-effect/sqlite"
import { UploadSource } from "@assembly-effect/tus"
import { Durable, DurableJob, ObjectStores } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import {
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Latch,
  Layer,
  Redacted,
  Schedule,
  Schema,
  Scope,
  Stream
} from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as Host from "../src/internal/host.ts"
import * as Secrets from "../src/internal/secrets.ts"
import { durableTests } from "./running.ts"
import { assemblies, hurried, job, sentOnce, slow, storedIn, until, withRunner } from "./support.ts"
import * as Watched from "./watched.ts"

const secrets = [Redacted.make("the secret of a deployment for tests")]

/** A database that several runners of this process share. */
const shared = (database: string) => Layer.build(SqliteClient.layer({ path: database }))

/** A runner that the test freezes: it does not prolong its row, or does nothing with the rows of runners. */
const freezable = (what: "held_until =" | "durable_runners") =>
  Effect.gen(function* () {
    const latch = yield* Latch.make(true)
    const hook: Statement.Transformer = (statement) =>
      statement.compile()[0].includes(what) ? Effect.as(latch.await, statement) : Effect.succeed(statement)
    return { freeze: latch.close, thaw: latch.open, run: Effect.provideService(Statement.CurrentTransformer, hook) }
  })

/** Starts a runner, which ends when its scope or that of the test closes. */
const runner = (options: Partial<Host.Options> = {}, expiry: Duration.Input = "1 second") =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const settings = yield* Schema.decodeEffect(Host.Settings)({ secrets, ...options })
    const role = { expiry: Duration.fromInputUnsafe(expiry), runs: true }
    const host = yield* Scope.provide(Host.make(yield* Secrets.make(secrets), settings, role), scope)
    return { durable: Context.make(Durable.Durable, Durable.Durable.of(host)), end: Scope.close(scope, Exit.void) }
  })

durableTests("A runner that may have lost a job", (it) => {
  it.alone("stops when its row is not confirmed for the expiry, and continues later", function* ({ database, gate }) {
    // It can neither prolong its row nor join again, so that nothing else stops the upload.
    const { freeze, run, thaw } = yield* freezable("durable_runners")
    yield* Effect.gen(function* () {
      const { durable } = yield* runner({ upload: { stallTimeout: "1 hour" } })
      yield* Effect.gen(function* () {
        yield* gate.begin("stops")
        yield* freeze
        yield* gate.stopped
        yield* gate.open
        assert.deepInclude(yield* Durable.status("stops"), { state: "Uploading", failure: undefined })
        yield* thaw
        sentOnce(yield* Durable.await("stops"), gate)
      }).pipe(Effect.provide(durable))
    }).pipe(run, Effect.provide(yield* shared(database)))
  })

  for (const [what, size, isTorn] of [
    ["says that it failed, nor cancels its Assembly", 700_000, true],
    ["announces its upload", 1000, false]
  ] as const) {
    it.alone(`neither sends the job after another one has taken it over, nor ${what}`, function* ({ database }) {
      const client = yield* shared(database)
      const other = yield* Deferred.make<void>()
      let isMended = false
      const takeOver = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO durable_runners (id, held_until) VALUES ('other', ${Number.MAX_SAFE_INTEGER})`
        yield* sql`UPDATE durable_jobs SET runner = 'other'`
        yield* Deferred.succeed(other, undefined)
      }).pipe(Effect.provide(client), Effect.orDie)
      const whole = UploadSource.fromBytes(new Uint8Array(size))
      const changed = new UploadSource.SourceFailed({ kind: "Changed", description: "the object is another one" })
      const stores = ObjectStores.layer({
        torn: (key) =>
          Effect.succeed({
            ...whole,
            identity: Effect.succeed(key),
            bytes: (start, end) =>
              isMended
                ? whole.bytes(start, end)
                : Stream.unwrap(Effect.as(takeOver, isTorn ? Stream.fail(changed) : whole.bytes(start, end)))
          })
      })
      const torn = (key: string) => job(key, [], { files: [{ source: DurableJob.object("torn", key), filename: key }] })
      yield* Effect.gen(function* () {
        const { durable } = yield* runner()
        yield* Effect.gen(function* () {
          yield* Durable.start(torn("left"))
          yield* Deferred.await(other)
          isMended = true
          // Another job of this runner has gone through all its states meanwhile.
          yield* Durable.run(torn("next"))
          assert.deepInclude(yield* Durable.status("left"), { state: "Uploading", failure: undefined, stored: 0n })
          const sql = yield* SqlClient.SqlClient
          const announced = yield* sql`SELECT entry FROM durable_uploads WHERE job_key = 'left'`
          assert.lengthOf(announced, isTorn ? 1 : 0)
          yield* sql`DELETE FROM durable_runners WHERE id = 'other'`
          assert.deepInclude(yield* Durable.await("left"), { started_tus_uploads: 1, finished_tus_uploads: 1 })
        }).pipe(Effect.provide(durable))
      }).pipe(Effect.provide(stores), Effect.provide(client))
    })
  }

  it.alone("has lost it when it wakes up: another one has made its one Assembly", function* ({ database, gate }) {
    const { freeze, run, thaw } = yield* freezable("held_until =")
    const before = (yield* assemblies()).length
    yield* Effect.gen(function* () {
      const frozen = yield* run(runner())
      yield* Effect.provide(Durable.start(gate.job("taken")), frozen.durable)
      yield* gate.reached
      yield* freeze
      const other = yield* runner()
      yield* Effect.gen(function* () {
        // The other runner reads the gated half when it has taken the job over.
        yield* gate.open
        sentOnce(yield* Durable.await("taken"), gate)
      }).pipe(Effect.provide(other.durable))
      yield* thaw
      // The woken runner has joined again, and does new jobs.
      yield* other.end
      yield* Durable.run(gate.job("next")).pipe(Effect.provide(frozen.durable))
    }).pipe(Effect.provide(yield* shared(database)))
    assert.strictEqual((yield* assemblies()).length - before, 2)
  })
})

durableTests("A runner whose places are taken", (it) => {
  it.alone("takes over what another one left when it ended, and no queued job", function* ({ database, gate }) {
    yield* Effect.gen(function* () {
      const first = yield* runner({ uploads: 1 }, "5 minutes")
      const start = (key: string) => Durable.start(gate.job(key))
      yield* Effect.provide(start("left"), first.durable)
      yield* gate.reached
      const second = yield* runner({ uploads: 1 }, "5 minutes")
      yield* Effect.gen(function* () {
        yield* start("own")
        yield* start("queued")
        yield* until("own", ({ state }) => state === "Uploading")
        yield* first.end
        yield* gate.stopped
        const sql = yield* SqlClient.SqlClient
        const runners = sql`SELECT runner FROM durable_jobs WHERE runner IS NOT NULL`
        yield* Effect.repeat(runners, { until: ({ length }) => length === 2, schedule: Schedule.spaced("20 millis") })
        assert.strictEqual((yield* Durable.status("queued")).state, "Queued")
        yield* gate.open
        for (const key of ["left", "own", "queued"]) {
          assert.deepInclude(yield* Durable.await(key), { started_tus_uploads: 1, finished_tus_uploads: 1 })
        }
      }).pipe(Effect.provide(second.durable))
    }).pipe(Effect.provide(yield* shared(database)))
  })
})

durableTests("A runner", (it) => {
  it.alone("begins a slow cancellation once, and carries out later ones meanwhile", function* ({ database, gate }) {
    const first = yield* Latch.make(false)
    const requests: Array<string> = []
    const counting = Watched.requests("Assemblies.cancel", (run, input) =>
      Effect.suspend(() => (requests.push(JSON.stringify(input)) === 1 ? Effect.andThen(first.await, run) : run))
    )
    yield* Effect.gen(function* () {
      const keys = ["slow", "second", "third", "fourth"]
      for (const key of keys) {
        yield* Durable.start(gate.job(key))
        yield* until(key, ({ state, stored = 0n }) => state === "Uploading" && stored > 0n)
      }
      yield* Durable.cancel("slow")
      yield* Effect.sync(() => requests.length).pipe(
        Effect.repeat({ until: (sent) => sent === 1, schedule: Schedule.spaced("5 millis") })
      )
      // Each cancellation reads the table again.
      for (const key of keys.slice(1)) {
        yield* Durable.cancel(key)
        assert.strictEqual((yield* Effect.flip(Durable.await(key)))._tag, "JobCanceled")
      }
      assert.deepInclude(yield* Durable.status("slow"), { state: "Canceling", waiting: undefined })
      assert.lengthOf(new Set(requests), keys.length)
      assert.lengthOf(requests, keys.length)
      yield* first.open
      assert.strictEqual((yield* Effect.flip(Durable.await("slow")))._tag, "JobCanceled")
      yield* gate.open
    }).pipe(withRunner(database), counting)
  })

  it.alone("cancels the Assembly of a job after the bytes of the job have stopped", function* ({ database, gate }) {
    const stopped: Array<boolean> = []
    const seeing = Watched.requests("Assemblies.cancel", (run) =>
      Effect.flatMap(gate.isStopped, (isStopped) => {
        stopped.push(isStopped)
        return run
      })
    )
    yield* Effect.gen(function* () {
      yield* gate.begin("sends")
      yield* Durable.cancel("sends")
      assert.strictEqual((yield* Effect.flip(Durable.await("sends")))._tag, "JobCanceled")
      assert.deepStrictEqual(stopped, [true])
      yield* gate.open
    }).pipe(withRunner(database), seeing)
  })

  it.alone("looks again if a notification comes while it looks", function* ({ database, file }) {
    const content = yield* file("a.bin", 100)
    const params = { steps: slow(3600), notifyUrl: "http://127.0.0.1:9/never" }
    /** A look reads the Status at most seven times, and all of these readings are out of date. */
    let outdated = 0
    let id = ""
    const read = yield* Deferred.make<void>()
    const late = Watched.requests("Assemblies.get", (run) =>
      Effect.suspend(() => {
        if (outdated === 0) return run
        outdated--
        Deferred.doneUnsafe(read, Exit.void)
        return Effect.succeed({ ok: "ASSEMBLY_EXECUTING", assembly_id: id } as never)
      })
    )
    yield* Effect.gen(function* () {
      yield* Durable.start(job("late", [content], { params }))
      yield* until("late", ({ state }) => state === "Processing")
      const [own] = yield* assemblies("executing")
      id = String(own?.id)
      outdated = 7
      yield* Durable.notified(id)
      yield* Deferred.await(read)
      yield* Assemblies.cancel(Assembly.AssemblyId.make(id))
      yield* Durable.notified(id)
      assert.strictEqual((yield* Effect.flip(Durable.await("late")))._tag, "JobFailed")
    }).pipe(withRunner(database, { pollInterval: "1 hour" }), late)
  })

  it.alone("keeps the entries of uploads of the current attempt only", function* ({ database, gate }) {
    yield* Effect.gen(function* () {
      const { durable } = yield* runner()
      const sql = yield* SqlClient.SqlClient
      const entries = Effect.map(sql`SELECT job_key, attempt FROM durable_uploads ORDER BY job_key`, (rows) =>
        rows.map(({ attempt, job_key }) => `${String(job_key)} ${Number(attempt)}`)
      )
      yield* Effect.gen(function* () {
        for (const key of ["again", "other"]) {
          yield* Durable.start(gate.job(key))
          yield* until(key, ({ stored = 0n }) => stored > 0n)
        }
        assert.deepStrictEqual(yield* entries, ["again 1", "other 1"])
        yield* Durable.cancel("again")
        yield* Effect.flip(Durable.await("again"))
        yield* Durable.retry("again")
        assert.deepStrictEqual(
          (yield* entries).filter((entry) => entry.endsWith("1")),
          ["other 1"]
        )
        yield* until("again", ({ stored = 0n }) => stored > 0n)
        assert.deepStrictEqual(yield* entries, ["again 2", "other 1"])
        yield* gate.open
        for (const key of ["again", "other"]) yield* Durable.await(key)
      }).pipe(Effect.provide(durable))
    }).pipe(Effect.provide(yield* shared(database)))
  })
})

/** Statements whose responses may be lost: the database has executed them, and the runner does not know it. */
const statements = {
  "the claim of a job": /^\s*UPDATE durable_jobs\s+SET runner = \?/u,
  "the entry of its Assembly": /SET assembly/u,
  "the entry of an upload": /INSERT INTO durable_uploads/u,
  "the end of its uploads": /SET state = 'Processing'/u,
  "the end of the job": /SET state = \?, runner = NULL/u
}

/** Loses the first response to each statement that matches, until the scope closes. Returns how many were lost. */
const losing = (pattern: RegExp) =>
  Effect.gen(function* () {
    let lost = 0
    yield* Watched.statements(({ sourceSQL }, run) => {
      const rows = run()
      if (rows.length === 0 || lost > 0 || !pattern.test(sourceSQL)) return rows
      lost++
      throw Object.assign(new Error("the connection is lost"), { errcode: 10 })
    })
    return () => lost
  })

durableTests("A runner that does not get the response to", (it) => {
  for (const [what, pattern] of Object.entries(statements)) {
    it.alone(`${what} ends the job with one upload`, function* ({ database, file }) {
      const content = yield* file("a.bin", 700_000)
      const before = (yield* assemblies("completed")).length
      yield* Effect.gen(function* () {
        const lost = yield* losing(pattern)
        const status = yield* Durable.run(job("lost", [content]))
        assert.strictEqual(lost(), 1)
        sentOnce(status, content)
        assert.strictEqual((yield* assemblies("completed")).length - before, 1)
      }).pipe(withRunner(database), Effect.scoped, hurried())
    })
  }
})

durableTests("A runner whose client interrupts its statements", (it) => {
  it.alone("executes them again", function* ({ database, file }) {
    const content = yield* file("a.bin", 1000)
    const kinds = new Set<string>()
    let isReady = false
    // The client of Postgres does so when it closes a connection.
    const interrupting: Statement.Transformer = (statement) => {
      const kind = statement.compile()[0].trim().slice(0, 60)
      if (!isReady || kinds.has(kind)) return Effect.succeed(statement)
      kinds.add(kind)
      return Effect.interrupt
    }
    yield* Effect.gen(function* () {
      const durable = yield* Durable.Durable
      isReady = true
      yield* Effect.retry(durable.start(job("again", [content])), { while: ({ _tag }) => _tag === "StoreFailed" })
      assert.deepStrictEqual(storedIn(yield* Effect.retry(durable.await("again"), { times: 3 })), [content.sha256])
    }).pipe(withRunner(database), Effect.provideService(Statement.CurrentTransformer, interrupting), hurried())
    assert.isAbove(kinds.size, 10)
  })
})
