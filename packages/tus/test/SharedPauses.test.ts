/** The pauses that all jobs of a batch share, on the TestClock. */
import type * as Admission from "@assembly-effect/auth/unstable/Admission"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as Pauses from "../src/internal/pauses.ts"

const here = "https://a.example.com"
const there = "https://b.example.com"

const seconds = (duration: Duration.Duration) => Duration.toSeconds(duration)

/** Pauses before a gate that makes each request wait for `wait`, and that records what it is asked. */
const setUp = (wait: Duration.Input = 0) => {
  const asked: Array<readonly [call: string, origin: string, seconds: number | undefined]> = []
  const inner: Admission.Gate = {
    enter: (origin, patience) =>
      Effect.suspend(() => {
        asked.push(["enter", origin, Option.getOrUndefined(Option.map(patience, seconds))])
        const time = Duration.fromInputUnsafe(wait)
        return Effect.as(Effect.sleep(time), time)
      }),
    pause: (origin, time) => Effect.sync(() => void asked.push(["pause", origin, seconds(time)]))
  }
  const shared = Pauses.shared(undefined)
  assert(typeof shared === "function")
  return { asked, gate: shared(inner) }
}

/** Starts to enter. The result: the time of the entry, and the reported time or the failure, in seconds. */
const enter = (gate: Admission.Gate, origin: string, patience?: Duration.Input) =>
  gate.enter(origin, Option.map(Option.fromUndefinedOr(patience), Duration.fromInputUnsafe)).pipe(
    Effect.result,
    Effect.flatMap((result) =>
      Effect.map(Clock.currentTimeMillis, (now) => ({
        at: now / 1000,
        ...(Result.isSuccess(result)
          ? { waited: seconds(result.success) }
          : { refused: Option.getOrUndefined(Option.map(result.failure.wait, seconds)) })
      }))
    ),
    Effect.forkChild({ startImmediately: true })
  )

describe("a pause of a batch", () => {
  it.effect("holds every request to its origin, and none to another", () =>
    Effect.gen(function* () {
      const { asked, gate } = setUp()
      yield* gate.pause(here, Duration.seconds(50))
      const entries = [yield* enter(gate, here), yield* enter(gate, here), yield* enter(gate, there)]
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.joinAll(entries), [
        { at: 50, waited: 50 },
        { at: 50, waited: 50 },
        { at: 0, waited: 0 }
      ])
      // The gate of the program hears of it too.
      assert.deepStrictEqual(asked[0], ["pause", here, 50])
    })
  )

  it.effect("is extended for the requests that wait, and never shortened", () =>
    Effect.gen(function* () {
      const { gate } = setUp()
      yield* gate.pause(here, Duration.seconds(50))
      const entry = yield* enter(gate, here)
      yield* TestClock.adjust("10 seconds")
      yield* gate.pause(here, Duration.seconds(90))
      yield* gate.pause(here, Duration.seconds(1))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(entry), { at: 100, waited: 100 })
    })
  )

  it.effect("is at most an hour", () =>
    Effect.gen(function* () {
      const { gate } = setUp()
      yield* gate.pause(here, Duration.days(30))
      const entry = yield* enter(gate, here)
      yield* TestClock.adjust("30 days")
      assert.deepStrictEqual(yield* Fiber.join(entry), { at: 3600, waited: 3600 })
    })
  )

  it.effect("refuses at once a request that cannot wait for its end", () =>
    Effect.gen(function* () {
      const { asked, gate } = setUp()
      yield* gate.pause(here, Duration.seconds(50))
      yield* TestClock.adjust("10 seconds")
      const entries = [yield* enter(gate, here, "40 seconds"), yield* enter(gate, here, "41 seconds")]
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.joinAll(entries), [
        { at: 10, refused: 40 },
        { at: 50, waited: 40 }
      ])
      assert.strictEqual(asked.filter(([call]) => call === "enter").length, 1)
    })
  )

  it.effect("counts in the patience and in the time of the gate behind it", () =>
    Effect.gen(function* () {
      const { asked, gate } = setUp("5 seconds")
      yield* gate.pause(here, Duration.seconds(50))
      const entry = yield* enter(gate, here, "60 seconds")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(entry), { at: 55, waited: 55 })
      assert.deepStrictEqual(asked.at(-1), ["enter", here, 10])
    })
  )
})
