import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Transfer from "@assembly-effect/tus/Transfer"
import * as TusError from "@assembly-effect/tus/TusError"
import { SourceFailed } from "@assembly-effect/tus/UploadSource"

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
  const answered = { length: 9n, answered: true } as const
  it("starts to send where the server stands", () => {
    assert.deepStrictEqual(Transfer.created({ ...answered, offset: 0n, sent: 0n }), {
      _tag: "Sending",
      acknowledged: 0n,
      reached: 0n,
      handed: 0n,
      failures: 0,
      length: 9n
    })
  })
  it("is done when the creation brought every byte, or there are none", () => {
    const done = Transfer.created({ ...answered, offset: 9n, sent: 9n })
    assert.deepStrictEqual(done, { _tag: "Done", length: 9n })
    const empty = Transfer.created({ ...answered, length: 0n, offset: 0n, sent: 0n })
    assert.deepStrictEqual(empty, { _tag: "Done", length: 0n })
  })
  it("asks when the server did not tell, or told what was not sent", () => {
    for (const offset of [undefined, 4n, 10n]) {
      const state = Transfer.created({ ...answered, offset, sent: 0n })
      assert.deepInclude(state, { _tag: "Asking", handed: 0n })
      assert.notProperty(state, "only")
    }
    assert.strictEqual(Transfer.created({ ...answered, length: undefined, offset: 4n, sent: 0n })._tag, "Asking")
  })
  it("believes the offset of a server that took the first of the bytes along, or all", () => {
    for (const [offset, only] of [
      [undefined, [0n, 9n]],
      [0n, [0n, 9n]],
      [4n, [4n, 9n]],
      [10n, [9n]]
    ] as const) {
      const state = Transfer.created({ ...answered, offset, sent: 9n })
      assert.deepInclude(state, { _tag: "Asking", handed: 9n, only })
    }
  })
  it("may find the first part of the bytes where the answer was lost", () => {
    const state = Transfer.created({ offset: undefined, length: 9n, sent: 9n, answered: false })
    assert.deepInclude(state, { _tag: "Asking", handed: 9n })
    assert.notProperty(state, "only")
  })
  it("is not done while the length is deferred", () => {
    assert.strictEqual(Transfer.created({ ...answered, length: undefined, offset: 0n, sent: 0n })._tag, "Sending")
  })
})

describe("Transfer.handedOver", () => {
  it("remembers the end of what was handed over, and what was declared", () => {
    const state = { ...sending, handed: 20n }
    assert.deepInclude(Transfer.handedOver(state, { handed: 60n, declared: undefined }), { handed: 60n })
    assert.deepInclude(Transfer.handedOver(state, { handed: 15n, declared: 30n }), { handed: 20n, declared: 30n })
  })
  it("knows nothing of what an earlier process sent", () => {
    assert.notProperty(Transfer.handedOver(sending, { handed: 60n, declared: undefined }), "handed")
  })
})

describe("Transfer.appended", () => {
  const whole = { host: "tus.example.com", offset: 60n, end: 60n, handed: 60n, length: undefined }
  it("goes on from the offset, with a fresh budget", () => {
    assert.deepStrictEqual(
      Transfer.appended(sending, whole),
      Result.succeed({ ...sending, acknowledged: 60n, reached: 60n, failures: 0 })
    )
  })
  it("is done at the length, also one that was declared just now", () => {
    const { length: _, ...deferred } = sending
    assert.deepStrictEqual(
      Transfer.appended(deferred, { ...whole, length: 60n }),
      Result.succeed({ _tag: "Done", length: 60n })
    )
  })
  it("believes nothing but the end of what was sent from then on, and an offset between start and end", () => {
    for (const [offset, only] of [
      [0n, [60n]],
      [9n, [60n]],
      [10n, [60n]],
      [11n, [11n, 60n]],
      [59n, [59n, 60n]],
      [61n, [60n]],
      [1000n, [60n]]
    ] as const) {
      const wrong = Result.getOrThrow(Result.flip(Transfer.appended(sending, { ...whole, offset })))
      assert.deepStrictEqual(wrong.state, { ...asking, only, counted: offset })
      assert.strictEqual(
        wrong.error.message,
        `append at tus.example.com: status 204, upload-offset is ${offset}, but bytes up to 60 were sent`
      )
    }
  })
  it("does not believe an end that was not handed over", () => {
    const wrong = Result.getOrThrow(Result.flip(Transfer.appended(sending, { ...whole, handed: 40n })))
    assert.deepStrictEqual(wrong.state, { ...asking, only: [40n], counted: 60n })
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
  it("refuses any offset but the end of what was sent, after an answer that counted otherwise", () => {
    const state: Transfer.Asking = { ...asking, only: [60n] }
    assert.deepInclude(Result.getOrThrow(Transfer.located(state, { offset: 60n }, again)), { acknowledged: 60n })
    for (const offset of [0n, 10n, 59n, 61n, 100n, 1000n]) {
      for (const expected of [again, once]) {
        const error = Result.getOrThrow(Result.flip(Transfer.located(state, { offset }, expected)))
        assert.deepInclude(error, {
          _tag: "UploadUntrusted",
          description: `upload-offset is ${offset}, but bytes up to 60 were sent`,
          mayBeWhole: offset >= 100n
        })
      }
    }
    // Also where the end has to be told twice.
    const end: Transfer.Asking = { ...asking, only: [100n] }
    const told = Result.getOrThrow(Transfer.located(end, { offset: 100n }, again))
    assert.deepStrictEqual(told, { ...end, told: 100n })
    assert.strictEqual(
      Result.getOrThrow(Transfer.located({ ...end, told: 100n }, { offset: 100n }, again))._tag,
      "Done"
    )
    assert.isTrue(Result.isFailure(Transfer.located({ ...end, told: 100n }, { offset: 60n }, again)))
  })
  it("does not trust an offset beyond all that was handed over, when it is told twice", () => {
    const state: Transfer.Asking = { ...asking, handed: 50n }
    for (const expected of [again, once]) {
      for (const offset of [51n, 100n, 101n]) {
        assert.deepStrictEqual(doubt(state, offset, expected), { ...state, told: offset })
        assert.deepInclude(doubt({ ...state, told: offset }, offset, expected), {
          _tag: "UploadUntrusted",
          description: `upload-offset is ${offset}, but at most 50 bytes were sent`,
          mayBeWhole: offset >= 100n
        })
      }
    }
    assert.deepInclude(doubt({ ...state, told: 51n }, 50n, again), { _tag: "Sending", acknowledged: 50n, handed: 50n })
  })
  it("refuses a length that nobody declared, and another one than was declared", () => {
    const { length: _, ...deferred } = asking
    const unknown = { size: undefined, replayable: false }
    for (const [state, expected] of [
      [deferred, "none yet"],
      [{ ...deferred, declared: 80n }, "80"],
      [asking, "100"]
    ] as const) {
      const error = Result.getOrThrow(Result.flip(Transfer.located(state, { offset: 10n, length: 70n }, unknown)))
      assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-length", expected, found: "70" })
    }
    const heard = Transfer.located({ ...deferred, declared: 80n, told: 80n }, { offset: 80n, length: 80n }, unknown)
    assert.deepStrictEqual(heard, Result.succeed({ _tag: "Done", length: 80n }))
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

describe("Transfer.receipted", () => {
  it("is done when all bytes were sent, or an earlier process may have sent them", () => {
    for (const state of [sending, { ...sending, handed: 100n }, { ...asking, handed: 100n, only: [100n] }]) {
      assert.deepStrictEqual(Transfer.receipted(state, 100n), Result.succeed({ _tag: "Done", length: 100n }))
    }
  })
  it("is not trusted when they were not", () => {
    for (const state of [
      { ...sending, handed: 99n },
      { ...asking, handed: 100n, only: [60n] }
    ]) {
      assert.strictEqual(Result.getOrThrow(Result.flip(Transfer.receipted(state, 100n)))._tag, "UploadUntrusted")
    }
  })
})

describe("Transfer.abandoned", () => {
  const error = Object.assign(new Error("it is away"), { _tag: "Away" })
  it("leaves nothing to go on with, while other bytes than were sent are counted", () => {
    assert.strictEqual(
      Transfer.abandoned({ ...asking, only: [60n] }, error, 100n).message,
      "the server may have stored wrong bytes " +
        "(upload-offset did not match the sent bytes, and then it is away); cancel the Assembly, which may use these bytes, and upload the file to another Assembly"
    )
  })
  it("tells what happened without the advice of that error", () => {
    const state = { ...asking, only: [60n] }
    for (const [failure, happened] of [
      [
        new TusError.UploadMismatch({ field: "upload-length", expected: "100", found: "17" }),
        "upload-length: expected 100, found 17"
      ],
      [
        new SourceFailed({ kind: "TooShort", description: "the source ended after 1 of 2 bytes" }),
        "the source ended after 1 of 2 bytes"
      ],
      [
        new ApiError.RateLimited({
          operation: "Tus.offset",
          code: "RATE_LIMIT_REACHED",
          status: 429,
          description: "slow down",
          retryAfter: Duration.hours(2)
        }),
        "Tus.offset: too many requests, status 429"
      ]
    ] as const) {
      assert.deepInclude(Transfer.abandoned(state, failure, 100n), {
        description: `upload-offset did not match the sent bytes, and then ${happened}`
      })
    }
  })
  it("is else the error itself", () => {
    for (const state of [sending, asking]) assert.strictEqual(Transfer.abandoned(state, error, 100n), error)
  })
  it("leaves what may be whole, if every byte was given, or as many counted, or another length told", () => {
    const { length: _, ...deferred } = { ...asking, only: [60n], handed: 60n }
    const mismatch = new TusError.UploadMismatch({ field: "upload-length", expected: "100", found: "17" })
    for (const [state, size, failure, mayBeWhole] of [
      [deferred, 100n, error, false],
      [{ ...deferred, handed: 100n }, 100n, error, true],
      [{ ...deferred, counted: 17n }, 100n, error, false],
      [{ ...deferred, counted: 100n }, 100n, error, true],
      [deferred, 100n, mismatch, true],
      // What nobody told the length of is never whole.
      [deferred, undefined, error, false],
      [{ ...deferred, declared: 60n }, undefined, error, true]
    ] as const) {
      assert.deepInclude(Transfer.abandoned(state, failure, size), { _tag: "UploadUntrusted", mayBeWhole })
    }
  })
})

describe("Transfer.failed", () => {
  it("counts, and asks next", () => {
    assert.deepStrictEqual(Transfer.failed(sending), { ...asking, failures: 4 })
    assert.deepStrictEqual(Transfer.failed(asking), { ...asking, failures: asking.failures + 1 })
  })
})

describe("Transfer", () => {
  it("has a JSON form", () => {
    const codec = Schema.toCodecJson(Transfer.Transfer)
    const states: ReadonlyArray<Transfer.Transfer> = [
      sending,
      { ...sending, handed: 11n, declared: 12n },
      asking,
      { ...asking, told: 3n, only: [0n, 9n] },
      { _tag: "Done", length: 2n ** 63n - 1n }
    ]
    for (const state of states) {
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
      { ...asking, only: [11n] },
      { ...sending, acknowledged: 11n },
      { ...sending, failures: 0 },
      { _tag: "Done", length: 1n }
    ]
    assert.strictEqual(new Set(states.map(Transfer.stepKey)).size, states.length)
  })
})
