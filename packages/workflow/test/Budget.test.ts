/** One budget in a database: two processes share it, it tells no capability, and durable jobs wait for it. */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import { SqliteClient } from "@assembly-effect/sqlite"
import * as Account from "@assembly-effect/testkit/time/Account"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import { UploadSource } from "@assembly-effect/tus"
import * as BudgetSql from "@assembly-effect/workflow/BudgetSql"
import { Durable, DurableJob, ObjectStores } from "@assembly-effect/workflow"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layerTest } from "@assembly-effect/testkit/flow"
import { Clock, Context, Duration, Effect, Fiber, Latch, Layer, Redacted, Schema, Stream } from "effect"
import { Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { dump, folder, job, query, withRunner, withTime } from "./support.ts"

const secret = Redacted.make("a secret of the deployment, 32 bytes or more")
const url = "https://api.example.com"

/** The secrets of a process keep the WebCrypto with which they were made, so that its jobs are counted from then on. */
const idle = Idle.make()

const passTime = <A, E, R>(effect: Effect.Effect<A, E, R>, step?: Duration.Input) =>
  Effect.flatMap(Effect.forkChild(idle.within(effect)), (fiber) => Idle.passUntil(idle, fiber, step))

/** The budget of a process, with its own connection to the database at `path`. */
const processAt = (path: string, options: Partial<BudgetSql.Options>) =>
  Layer.build(
    Layer.fresh(BudgetSql.layer({ secrets: [secret], ...options })).pipe(
      Layer.provide(Layer.fresh(SqliteClient.layer({ path })))
    )
  ).pipe(
    idle.within,
    Effect.map((context) => Context.get(context, Budget.Budget)!)
  )

/** Whether the Assemblies of the account run. */
const watcher = (isRunning: boolean) => Layer.succeed(Budget.Watcher, { isRunning: () => Effect.succeed(isRunning) })

const creation = { url, need: "creation", until: Infinity } as const

layerTest(NodeFileSystem.layer)("A budget in SQLite that two processes share", (it) => {
  it.effect.prop(
    "no minute has more creations than it permits, whoever creates and whenever",
    [Schema.Array(Schema.Struct({ after: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30_000 })) }))],
    ([arrivals]) =>
      Effect.gen(function* () {
        const { database } = yield* folder
        const processes = [yield* processAt(database, { created: 5 }), yield* processAt(database, { created: 5 })]
        const times: Array<number> = []
        const all = Effect.forEach(arrivals, ({ after }, index) =>
          Effect.gen(function* () {
            yield* Effect.sleep(after)
            const entered = Effect.andThen(processes[index % 2]!.enter(creation), Clock.currentTimeMillis)
            return yield* Effect.forkChild(Effect.map(entered, (time) => times.push(time)))
          })
        )
        yield* passTime(Effect.flatMap(all, Fiber.joinAll), "1 minute")
        const inMinute = times.map((begin) => times.filter((time) => time >= begin && time < begin + 60_000).length)
        assert.lengthOf(times, arrivals.length)
        assert.isAtMost(Math.max(0, ...inMinute), 5)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 10 } }
  )

  it.effect("an hour that one was told to wait holds both, also after a restart", function* () {
    const { database } = yield* folder
    const first = yield* processAt(database, {})
    yield* first.pause("request", Duration.hours(1))
    yield* first.pause("request", Duration.seconds(5))
    const second = yield* processAt(database, {})
    const entered = Effect.forEach(
      [first, second],
      (budget) => Effect.andThen(budget.enter({ ...creation, need: "request" }), Clock.currentTimeMillis),
      // One after the other, the second would not read the pause before it has ended.
      { concurrency: 2 }
    )
    const { value } = yield* passTime(entered)
    for (const time of value) assert.isAtLeast(time, 3_600_000)
  })

  it.effect.each([
    { what: "the first token of an account", before: 0 },
    { what: "a token that has come back", before: 1 }
  ])(
    "one of two that have read $what at the same time takes it, and the other waits for the next",
    function* ({ before }) {
      const { database } = yield* folder
      const processes = [yield* processAt(database, { created: 1 }), yield* processAt(database, { created: 1 })]
      yield* passTime(Effect.andThen(useUp(before)(processes[0]!), Effect.sleep(Duration.minutes(before * 2))))
      const bothHaveRead = Latch.makeUnsafe(false)
      let read = 0
      const holdWrites: Statement.Transformer = (statement) => {
        if (!/^\s*(INSERT|UPDATE)/u.test(statement.compile()[0])) return Effect.succeed(statement)
        const arrived = ++read === 2 ? bothHaveRead.open : Effect.void
        return arrived.pipe(Effect.andThen(bothHaveRead.await), Effect.as(statement))
      }
      const enter = (budget: Budget.Budget) => Effect.andThen(budget.enter(creation), Clock.currentTimeMillis)
      const { value } = yield* passTime(
        Effect.provideService(
          Effect.forEach(processes, enter, { concurrency: 2 }),
          Statement.CurrentTransformer,
          holdWrites
        )
      )
      const [one = 0, other = 0] = value
      assert.isAtLeast(Math.abs(one - other), 60_000)
    }
  )

  /** The clock of a process was a day ahead, then somebody has corrected it. */
  const dayAhead = withTime((now) => now + 86_400_000)
  const useUp = (count: number, assemblyId?: string) => (budget: Budget.Budget) =>
    Effect.forEach(Array(count), () => budget.enter({ ...creation, assemblyId }), { discard: true })

  it.effect.each([
    { what: "a token", options: { created: 250 }, before: useUp(5) },
    { what: "a place", options: { running: 1 }, before: useUp(1, "a".repeat(32)) },
    {
      what: "the end of a pause of a second",
      options: {},
      before: (budget: Budget.Budget) => budget.pause("creation", Duration.seconds(1))
    }
  ])(
    "a clock that is set back by a day delays $what by less than a minute",
    watcher(false),
    function* ({ before, options }) {
      const { database } = yield* folder
      const first = yield* processAt(database, options)
      yield* dayAhead(before(first))
      for (const budget of [first, yield* processAt(database, options)]) {
        const { seconds } = yield* passTime(useUp(1, "b".repeat(32))(budget))
        assert.isAtMost(seconds, 60)
      }
    }
  )

  it.effect(
    "another account in the same database is not delayed by a token, a place or a pause",
    watcher(true),
    function* () {
      const { database } = yield* folder
      const options = { created: 1, running: 1 }
      const one = yield* processAt(database, { ...options, account: "one" })
      const other = yield* processAt(database, { ...options, account: "one/creation" })
      const assemblyId = "a".repeat(32)
      yield* useUp(1, assemblyId)(one)
      yield* one.pause("creation", Duration.hours(1))
      const { seconds } = yield* passTime(useUp(1, assemblyId)(other))
      assert.isBelow(seconds, 60)
    }
  )

  it.effect("250 places of a process that died are free in two minutes, and no id is in plain", function* () {
    const { database } = yield* folder
    const idsOf = (digit: string) =>
      Array.from({ length: 250 }, (_, index) => digit.repeat(29) + String(index).padStart(3, "0"))
    const ids = idsOf("a")
    const asked: Array<string> = []
    const isRunning = (id: string) => Effect.sync(() => asked.push(id) < 0)
    const enterAll = (budget: Budget.Budget, all: ReadonlyArray<string>) =>
      Effect.forEach(all, (assemblyId) => budget.enter({ ...creation, assemblyId }), { concurrency: 20 }).pipe(
        Effect.provideService(Budget.Watcher, { isRunning })
      )
    // The encryption is a part of what is counted, so time does not pass during it.
    const { value: died } = yield* passTime(
      Effect.tap(processAt(database, { running: 250 }), (budget) => enterAll(budget, ids))
    )
    const text = dump(database)
    for (const id of [...ids, Redacted.value(secret)]) assert.notInclude(text, id)
    const { seconds } = yield* passTime(
      Effect.flatMap(processAt(database, { running: 250 }), (budget) => enterAll(budget, idsOf("b")))
    )
    assert.isAtMost(seconds, 120)
    assert.deepStrictEqual(asked.toSorted(), ids.toSorted())
    // What the first process still does about its places changes nothing of the second one.
    yield* Effect.forEach(ids, (id) => died.release(url, id))
    assert.lengthOf(yield* query(database, "SELECT place FROM assembly_budget_places"), 250)
  })
})

/** Random pauses make the TestClock stop between milliseconds, which no real clock does. */
const wholeMillis = withTime(Math.floor)

/** Lets time pass for runners, whose databases and files the TestClock does not know. */
const pass = Effect.fnUntraced(function* (minutes: number) {
  for (let step = 0; step < minutes * 12; step++) {
    yield* TestClock.adjust("5 seconds")
    yield* TestClock.withLive(Effect.sleep("1 millis"))
  }
})

/** The states of jobs. While nothing is sent, each of them waits in vain for the service, for 10 seconds. */
const statusesOf = (keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const reading = yield* Effect.forkChild(Effect.forEach(keys, Durable.status, { concurrency: "unbounded" }))
    yield* pass(1)
    return yield* Fiber.join(reading)
  })

const stores = ObjectStores.layer({
  store: (key) =>
    Effect.succeed({ ...UploadSource.fromBytes(new TextEncoder().encode(key)), identity: Effect.succeed(key) })
})

const jobOf = (key: string) => job(key, [], { files: [{ source: DurableJob.object("store", key), filename: "a.bin" }] })

layerTest(Layer.merge(NodeFileSystem.layer, stores))("Durable jobs on the TestClock", (it) => {
  it.effect.each([
    ["", {}],
    [", in packs of 2", { packing: { files: 2, repeatable: true } }]
  ] as const)(
    "after a 429 with an hour no runner sends anything for an hour, and every job completes%s",
    ([, options]) =>
      Effect.gen(function* () {
        const { database } = yield* folder
        const account = Account.make("/assemblies")
        const keys = ["a", "b", "c", "d"]
        const runner = withRunner(database, { patience: "1 minute", uploads: 2 })
        yield* Effect.gen(function* () {
          yield* Stream.runDrain(Durable.startAll(Stream.fromIterable(keys.map(jobOf)), options))
          yield* pass(2)
          const waiting = yield* statusesOf(keys)
          assert.isTrue(waiting.some((status) => status.waiting?.reason === "RateLimited"))
        }).pipe(runner, Effect.provide(account.layer))
        yield* TestClock.adjust("56 minutes")
        yield* Effect.gen(function* () {
          yield* pass(8)
          const ended = yield* statusesOf(keys)
          assert.deepStrictEqual(new Set(ended.map(({ state }) => state)), new Set(["Completed"]))
        }).pipe(runner, Effect.provide(account.layer))
        const [, refused] = account.creations()
        const next = account.requests.find(({ second }) => second > (refused ?? Infinity))
        assert.isAtLeast(next?.second ?? 0, (refused ?? 0) + 3600)
      }).pipe(wholeMillis)
  )

  it.effect("6 jobs, 2 Assemblies of which may run: 2 run, and each job completes without patience", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const account = Account.make()
      const keys = ["a", "b", "c", "d", "e", "f"]
      yield* Effect.gen(function* () {
        for (const key of keys) yield* Durable.start(jobOf(key))
        yield* pass(10)
        const ended = yield* statusesOf(keys)
        assert.deepStrictEqual(new Set(ended.map(({ state }) => state)), new Set(["Completed"]))
      }).pipe(withRunner(database, { patience: "1 milli", budget: { running: 2 } }), Effect.provide(account.layer))
      assert.lengthOf(account.ids(), 6)
      assert.strictEqual(account.mostRunning(), 2)
      const text = dump(database)
      for (const id of account.ids()) assert.notInclude(text, id)
    }).pipe(wholeMillis)
  )
})
