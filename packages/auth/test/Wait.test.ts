import * as Wait from "@assembly-effect/auth/unstable/Wait"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"

/** 1994-11-06T08:49:37Z, as RFC 9110 writes it in its three forms. */
const moment = 784_111_777_000
const forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]

/** The wait in milliseconds that headers and a body name. */
const waitOf = (headers: Readonly<Record<string, string>>, body: unknown = undefined) =>
  Effect.map(Wait.named(Headers.fromInput(headers), body), (wait) =>
    Option.getOrUndefined(Option.map(wait, Duration.toMillis))
  )

describe("Wait.named", () => {
  it.effect.each(forms)("reads the date %s", (date) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(moment - 5_000)
      assert.strictEqual(yield* waitOf({ "retry-after": date }), 5_000)
      // A date of the past is no wait, and the service's own time comes before ours.
      assert.strictEqual(yield* waitOf({ "retry-after": date, date }), 0)
    })
  )

  it.effect.each(["", "soon", "-1", "1.5", "1994-11-06", "06 Nov 1994 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT"])(
    "reads no wait in %s",
    (header) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* waitOf({ "retry-after": header }), undefined)
      })
  )

  it.effect("reads seconds, which stay finite", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* waitOf({ "retry-after": " 120 " }), 120_000)
      assert.strictEqual(yield* waitOf({ "retry-after": "9".repeat(400) }), Number.MAX_SAFE_INTEGER)
    })
  )

  it.effect("reads `info.retryIn` of a body, and takes the longer of the two", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* waitOf({}, { info: { retryIn: 1.5 } }), 1_500)
      assert.strictEqual(yield* waitOf({ "retry-after": "2" }, { info: { retryIn: 1.5 } }), 2_000)
      for (const retryIn of [-1, "1", null, NaN, Infinity]) {
        assert.strictEqual(yield* waitOf({}, { info: { retryIn } }), undefined)
      }
      for (const body of [null, "text", { info: null }, []]) assert.strictEqual(yield* waitOf({}, body), undefined)
    })
  )
})

describe("Wait.clockSkew", () => {
  it.effect.each(forms)("compares the clock with the date %s", (date) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(moment + 1_000)
      assert.deepStrictEqual(yield* Wait.clockSkew(Headers.fromInput({ date })), Option.some(-1_000))
    })
  )
})
