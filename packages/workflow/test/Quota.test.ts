/** Pauses that the service requests: every job keeps them, also after a restart, and they use up no patience. */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Faults from "@assembly-effect/emulator/Faults"
import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import { DatabaseSync } from "node:sqlite"
import * as Outage from "../src/internal/outage.ts"
import * as Quota from "../src/internal/quota.ts"
import * as Store from "../src/internal/store.ts"
import { folder, job, live, storedIn, withRunner } from "./support.ts"

/** The pauses of one database. */
const database = () => {
  let until = 0
  return {
    pausedUntil: Effect.sync(() => until),
    pause: (time: number) =>
      Effect.sync(() => {
        until = Math.max(until, time)
      })
  } as Partial<Store.Store> as Store.Store
}

const outage = Outage.make()
const origin = "https://api2.example.com"

/** The response to a request of a runner requests a pause. */
const refused = (quota: Quota.Quota, time: Duration.Input) =>
  quota.keep(Effect.flatMap(Admission.gate(), (gate) => gate.pause(origin, Duration.fromInputUnsafe(time))))

/** Sends a request of a runner. Returns the pause if the request is not sent. */
const send = (quota: Quota.Quota) =>
  quota.keep(Effect.flatMap(Admission.gate(), (gate) => gate.enter(origin, Option.none()))).pipe(
    Effect.as("sent"),
    Effect.catch(({ wait }) => Effect.succeed(Duration.format(Option.getOrThrow(wait))))
  )

layer(Layer.empty)("A pause of the service", (it) => {
  it.effect("is kept by every job of two runners and of the next process, and ends", () =>
    Effect.gen(function* () {
      const store = database()
      const [first, second] = [Quota.make(store, outage), Quota.make(store, outage)]
      assert.strictEqual(yield* send(first), "sent")
      yield* refused(first, "1 hour")
      assert.strictEqual(yield* send(first), "1h")
      yield* second.refresh
      yield* TestClock.adjust("59 minutes")
      const next = Quota.make(store, outage)
      yield* next.refresh
      for (const quota of [first, second, next]) assert.strictEqual(yield* send(quota), "1m")
      const waiting = yield* Effect.forkChild(Effect.andThen(next.wait, Clock.currentTimeMillis))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(waiting), 3_600_000)
      for (const quota of [first, second, next]) assert.strictEqual(yield* send(quota), "sent")
    })
  )

  it.effect("becomes longer, never shorter, and is at most 1 day", () =>
    Effect.gen(function* () {
      const store = database()
      const quota = Quota.make(store, outage)
      for (const [time, expected] of [
        ["10 seconds", "10s"],
        ["5 seconds", "10s"],
        ["20 seconds", "20s"],
        ["300 days", "1d"]
      ] as const) {
        yield* refused(quota, time)
        assert.strictEqual(yield* send(quota), expected)
      }
      // The database has lost this pause.
      const lost = Quota.make({ ...store, pausedUntil: Effect.succeed(0) }, outage)
      yield* refused(lost, "10 seconds")
      yield* lost.refresh
      assert.strictEqual(yield* send(lost), "10s")
      // The clock of the runner that stored this time was wrong.
      const other = database()
      yield* other.pause(1e14)
      const careful = Quota.make(other, outage)
      yield* careful.refresh
      assert.strictEqual(yield* send(careful), "sent")
    })
  )
})

layer(live, { excludeTestServices: true })("A job that is refused with 429 and Retry-After: 3600", (it) => {
  it.effect(
    "waits without patience and stores the pause, the next process sends nothing, and both jobs complete after it",
    () =>
      Effect.gen(function* () {
        const { database: path, file } = yield* folder
        const content = yield* file("a.bin", 100)
        const faults = yield* Faults.Faults
        const until = (key: string, reason: string | undefined) =>
          Durable.status(key).pipe(
            Effect.repeat({ until: ({ waiting }) => waiting?.reason === reason, schedule: Schedule.spaced("5 millis") })
          )
        yield* faults.inject(
          Faults.Fault.Refuse({ method: "POST", status: 429, headers: { "retry-after": "3600" }, times: 1 })
        )
        yield* Effect.gen(function* () {
          yield* Durable.start(job("first", [content]))
          yield* until("first", "RateLimited")
          yield* Durable.start(job("second", [content]))
          assert.deepInclude(yield* Durable.status("first"), { state: "Uploading" })
        }).pipe(withRunner(path, { patience: 1 }))
        // A shorter pause changes nothing.
        yield* Effect.flatMap(Store.make, (store) => store.pause(1)).pipe(Effect.provide(SqliteClient.layer({ path })))
        const opened = new DatabaseSync(path)
        const row = opened.prepare("SELECT paused_until FROM durable_deployment").get()
        assert.isAbove(Number(row?.["paused_until"]), (yield* Clock.currentTimeMillis) + 3_000_000)
        opened.exec(`UPDATE durable_jobs SET assembly = NULL`)
        opened.close()
        // The next process creates no Assembly: it would announce one.
        yield* Durable.status("second").pipe(withRunner(path))
        const later = new DatabaseSync(path)
        assert.deepStrictEqual(
          later
            .prepare("SELECT assembly FROM durable_jobs")
            .all()
            .map(({ assembly }) => assembly),
          [null, null]
        )
        later.exec("UPDATE durable_deployment SET paused_until = 0")
        later.close()
        yield* Effect.gen(function* () {
          for (const key of ["first", "second"]) {
            assert.deepStrictEqual(storedIn(yield* Durable.await(key)), [content.sha256])
          }
        }).pipe(withRunner(path))
      })
  )
})
