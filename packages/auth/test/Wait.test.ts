import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Option } from "effect"
import { Headers } from "effect/http"

/** 1994-11-06T08:49:37Z, as RFC 9110 writes it in its three forms. */
const moment = 784_111_777_000
const forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]

/** The wait in milliseconds that headers and a body name, 5 seconds before the moment. */
const waitOf = (headers: Readonly<Record<string, string>>, body: unknown = undefined) =>
  Option.getOrUndefined(Option.map(Outcome.wait(Headers.fromInput(headers), body, moment - 5_000), Duration.toMillis))

describe("Outcome.wait", () => {
  it.each(forms)("Retry-After %s is the time until then, and 0 if the Date header is the same", (date) => {
    assert.strictEqual(waitOf({ "retry-after": date }), 5_000)
    assert.strictEqual(waitOf({ "retry-after": date, date }), 0)
  })

  it.each(["", "soon", "-1", "1.5", "1994-11-06", "06 Nov 1994 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT"])(
    "Retry-After %j is no wait",
    (header) => assert.strictEqual(waitOf({ "retry-after": header }), undefined)
  )

  it("Retry-After in seconds is a finite number of milliseconds", () => {
    assert.strictEqual(waitOf({ "retry-after": " 120 " }), 120_000)
    assert.strictEqual(waitOf({ "retry-after": "9".repeat(400) }), Number.MAX_SAFE_INTEGER)
  })

  it("a valid info.retryIn in seconds is the wait, or Retry-After if that is longer", () => {
    assert.strictEqual(waitOf({}, { info: { retryIn: 1.5 } }), 1_500)
    assert.strictEqual(waitOf({ "retry-after": "2" }, { info: { retryIn: 1.5 } }), 2_000)
    for (const retryIn of [-1, "1", null, NaN, Infinity])
      assert.strictEqual(waitOf({}, { info: { retryIn } }), undefined)
    for (const body of [null, "text", { info: null }, []]) assert.strictEqual(waitOf({}, body), undefined)
  })
})

describe("Outcome.clockSkew", () => {
  it.each(forms)("Date %s, a second behind the local clock, is a skew of -1,000 ms", (date) =>
    assert.deepStrictEqual(Outcome.clockSkew(Headers.fromInput({ date }), moment + 1_000), Option.some(-1_000))
  )
})
