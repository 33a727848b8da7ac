import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Transfer from "@assembly-effect/tus/Transfer"

const sending: Transfer.Sending = { _tag: "Sending", acknowledged: 10n, reached: 10n, length: 100n, failures: 3 }
const asking: Transfer.Asking = { ...sending, _tag: "Asking" }
const again = { size: 100n, replayable: true }
const once = { size: 100n, replayable: false }

/** What a wrong or a surprising answer leads to. */
const doubt = (state: Transfer.Asking, offset: bigint, expected: Transfer.Expected) =>
  Result.match(Transfer.located(state, { offset }, expected), {
    onSuccess: (next) => next,
    onFailure: (problem) => (problem._tag === "Doubt" ? problem.state : problem)
  })

describe("Transfer.created", () => {
  it("starts to send where the server stands", () => {
    assert.deepStrictEqual(Transfer.created({ offset: 0n, length: 9n }), {
      _tag: "Sending",
      acknowledged: 0n,
      reached: 0n,
      failures: 0,
      length: 9n
    })
  })
  it("is done when the creation brought every byte, or there are none", () => {
    assert.deepStrictEqual(Transfer.created({ offset: 9n, length: 9n }), { _tag: "Done", length: 9n })
    assert.deepStrictEqual(Transfer.created({ offset: 0n, length: 0n }), { _tag: "Done", length: 0n })
  })
  it("asks when the server did not tell, or told neither none nor all", () => {
    for (const offset of [undefined, 4n, 10n]) {
      assert.strictEqual(Transfer.created({ offset, length: 9n })._tag, "Asking")
    }
    assert.strictEqual(Transfer.created({ offset: 4n, length: undefined })._tag, "Asking")
  })
  it("is not done while the length is deferred", () => {
    assert.strictEqual(Transfer.created({ offset: 0n, length: undefined })._tag, "Sending")
  })
})

describe("Transfer.appended", () => {
  it("goes on from the offset, with a fresh budget", () => {
    assert.deepStrictEqual(
      Transfer.appended(sending, { offset: 60n, end: 60n, length: undefined }),
      Result.succeed({ ...sending, acknowledged: 60n, reached: 60n, failures: 0 })
    )
  })
  it("is done at the length, also one that was declared just now", () => {
    const { length: _, ...deferred } = sending
    assert.deepStrictEqual(
      Transfer.appended(deferred, { offset: 60n, end: 60n, length: 60n }),
      Result.succeed({ _tag: "Done", length: 60n })
    )
  })
  it("does not believe another offset than the end of what was sent", () => {
    for (const offset of [0n, 59n, 61n, 1000n]) {
      assert.isTrue(Result.isFailure(Transfer.appended(sending, { offset, end: 60n, length: undefined })))
    }
  })
})

describe("Transfer.located", () => {
  it("refills the budget only beyond what was ever reached", () => {
    const back = Result.getOrThrow(Transfer.located(asking, { offset: 5n }, again))
    assert.deepInclude(back, { _tag: "Sending", acknowledged: 5n, reached: 10n, failures: 3 })
    assert.deepInclude(Result.getOrThrow(Transfer.located(asking, { offset: 10n }, again)), { failures: 3 })
    assert.deepInclude(Result.getOrThrow(Transfer.located(asking, { offset: 11n }, again)), { failures: 0 })
  })
  it("is done when the last answer was lost, and the end is told twice", () => {
    const end = { offset: 100n, length: 100n }
    const told = { ...asking, told: 100n }
    assert.deepStrictEqual(Transfer.located(asking, end, again), Result.succeed(told))
    assert.deepStrictEqual(Transfer.located(told, end, again), Result.succeed({ _tag: "Done", length: 100n }))
    // The first answer was wrong.
    assert.deepInclude(doubt(told, 60n, again), { _tag: "Sending", acknowledged: 60n })
  })
  it("sends the length when every byte is there and the length is not", () => {
    const { length: _, ...deferred } = asking
    assert.deepInclude(doubt({ ...deferred, told: 100n }, 100n, again), { _tag: "Sending", acknowledged: 100n })
  })
  it("refuses another length", () => {
    const refused = Transfer.located(asking, { offset: 10n, length: 99n }, again)
    assert.deepInclude(Result.getOrThrow(Result.flip(refused)), { _tag: "UploadMismatch", field: "upload-length" })
  })
  it("doubts an offset beyond the end, and refuses it when it is told again", () => {
    for (const expected of [again, once]) {
      assert.deepStrictEqual(doubt(asking, 101n, expected), { ...asking, told: 101n })
      const told = { ...asking, told: 101n }
      assert.deepInclude(doubt(told, 101n, expected), { _tag: "UploadMismatch", field: "upload-offset" })
      assert.deepStrictEqual(doubt(told, 102n, expected), { ...asking, told: 102n })
    }
    assert.deepInclude(doubt({ ...asking, told: 101n }, 60n, again), { _tag: "Sending", acknowledged: 60n })
  })
  it("believes what it is told twice where bytes come once", () => {
    assert.deepStrictEqual(doubt(asking, 60n, once), { ...asking, told: 60n })
    assert.deepStrictEqual(doubt({ ...asking, told: 60n }, 60n, once), {
      ...sending,
      acknowledged: 60n,
      reached: 60n,
      failures: 0
    })
    assert.deepStrictEqual(doubt({ ...asking, told: 3n }, 60n, once), { ...asking, told: 60n })
  })
  it("lets only a changed or impossible answer cost a retry", () => {
    const isDoubt = (state: Transfer.Asking, offset: bigint) =>
      Result.isFailure(Transfer.located(state, { offset }, once))
    assert.isFalse(isDoubt(asking, 60n))
    assert.isTrue(isDoubt(asking, 101n))
    assert.isTrue(isDoubt({ ...asking, told: 3n }, 60n))
  })
})

describe("Transfer.failed", () => {
  it("counts up to the budget", () => {
    assert.deepStrictEqual(Transfer.failed(sending, 4), Option.some({ ...asking, failures: 4 }))
    assert.deepStrictEqual(Transfer.failed(sending, 3), Option.none())
  })
})

describe("Transfer", () => {
  it("has a JSON form", () => {
    const codec = Schema.toCodecJson(Transfer.Transfer)
    for (const state of [sending, asking, { ...asking, told: 3n }, { _tag: "Done", length: 2n ** 63n - 1n }] as const) {
      const text = JSON.stringify(Schema.encodeSync(codec)(state))
      assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(JSON.parse(text)), state)
    }
  })
  it("names each step by what makes it another", () => {
    const states: ReadonlyArray<Transfer.Transfer> = [
      sending,
      asking,
      { ...asking, told: 10n },
      { ...asking, told: 11n },
      { ...sending, acknowledged: 11n },
      { ...sending, failures: 0 },
      { _tag: "Done", length: 1n }
    ]
    assert.strictEqual(new Set(states.map(Transfer.stepKey)).size, states.length)
  })
})
