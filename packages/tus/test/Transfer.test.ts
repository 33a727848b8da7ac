/**
 * The state of one transfer: which request follows each response.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as TusError from "@assembly-effect/tus/TusError"
import { SourceFailed } from "@assembly-effect/tus/UploadSource"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Transfer from "../src/internal/transfer.ts"

const sending: Transfer.Sending = {
  _tag: "Sending",
  acknowledged: 10n,
  reached: 10n,
  handed: undefined,
  length: 100n,
  declared: undefined,
  failures: 3
}
const asking: Transfer.Asking = { ...sending, _tag: "Asking" }
const again = { size: 100n, replayable: true }
const once = { size: 100n, replayable: false }

const located = (state: Transfer.Asking, offset: bigint, expected: Transfer.Expected) =>
  Result.merge(Transfer.located(state, { offset }, expected))

describe("Transfer.created", () => {
  const answered = { length: 9n, answered: true } as const

  it("offset 0 after a creation without a body: sends from 0", () => {
    const state = Transfer.created({ ...answered, offset: 0n, sent: 0n })
    assert.deepInclude(state, { _tag: "Sending", acknowledged: 0n, handed: 0n, length: 9n })
  })

  it("the offset of the whole length, or an empty upload: is done", () => {
    assert.deepStrictEqual(Transfer.created({ ...answered, offset: 9n, sent: 9n }), { _tag: "Done", length: 9n })
    const empty = Transfer.created({ ...answered, length: 0n, offset: 0n, sent: 0n })
    assert.deepStrictEqual(empty, { _tag: "Done", length: 0n })
  })

  it("an offset above 0 after a creation without a body, or none: asks, and believes no offset above 0", () => {
    for (const offset of [undefined, 4n, 10n]) {
      const state = Transfer.created({ ...answered, offset, sent: 0n })
      assert.deepInclude(state, { _tag: "Asking", handed: 0n })
      assert.notProperty(state, "only")
    }
    assert.strictEqual(Transfer.created({ ...answered, length: undefined, offset: 4n, sent: 0n })._tag, "Asking")
  })

  it("another offset after a creation with 9 bytes: asks, and permits this offset or 9", () => {
    for (const [offset, only] of [
      [undefined, [0n, 9n]],
      [0n, [0n, 9n]],
      [4n, [4n, 9n]],
      [10n, [9n]]
    ] as const) {
      assert.deepInclude(Transfer.created({ ...answered, offset, sent: 9n }), { _tag: "Asking", handed: 9n, only })
    }
  })

  it("a lost response to a creation with 9 bytes: asks, and permits any offset up to 9", () => {
    const state = Transfer.created({ offset: undefined, length: 9n, sent: 9n, answered: false })
    assert.deepInclude(state, { _tag: "Asking", handed: 9n })
    assert.notProperty(state, "only")
  })
})

describe("Transfer.handedOver", () => {
  it("keeps the highest offset that the HTTP client got, and the declared length", () => {
    const state = { ...sending, handed: 20n }
    assert.deepInclude(Transfer.handedOver(state, { handed: 60n, declared: undefined }), { handed: 60n })
    assert.deepInclude(Transfer.handedOver(state, { handed: 15n, declared: 30n }), { handed: 20n, declared: 30n })
  })

  it("keeps that it is unknown what an earlier run has sent", () => {
    assert.isUndefined(Transfer.handedOver(sending, { handed: 60n, declared: undefined }).handed)
  })
})

describe("Transfer.appended", () => {
  const whole = { offset: 60n, end: 60n, handed: 60n, length: undefined }

  it("the end of the body: continues there, and counts no failures", () => {
    const next = { ...sending, acknowledged: 60n, reached: 60n, failures: 0 }
    assert.deepStrictEqual(Transfer.appended(sending, whole), next)
    const deferred = { ...sending, length: undefined }
    assert.deepStrictEqual(Transfer.appended(deferred, { ...whole, length: 60n }), { _tag: "Done", length: 60n })
  })

  it("another offset: asks, and permits only the end, or the same offset if it is within the body", () => {
    for (const [offset, only] of [
      [0n, [60n]],
      [9n, [60n]],
      [10n, [60n]],
      [11n, [11n, 60n]],
      [59n, [59n, 60n]],
      [61n, [60n]],
      [1000n, [60n]]
    ] as const) {
      assert.deepStrictEqual(Transfer.appended(sending, { ...whole, offset }), { ...asking, only, counted: offset })
    }
  })

  it("the end of a body of which the HTTP client got less: asks, and permits only what the client got", () => {
    const next = { ...asking, only: [40n], counted: 60n }
    assert.deepStrictEqual(Transfer.appended(sending, { ...whole, handed: 40n }), next)
  })
})

describe("Transfer.located", () => {
  it("an offset below the end, of a source that can be read again: continues there", () => {
    assert.deepInclude(located(asking, 5n, again), { _tag: "Sending", acknowledged: 5n, reached: 10n, failures: 3 })
    assert.deepInclude(located(asking, 10n, again), { failures: 3 })
    assert.deepInclude(located(asking, 11n, again), { failures: 0 })
  })

  it("the end, or any offset of a one-shot stream: must be reported twice", () => {
    for (const [offset, expected] of [
      [100n, again],
      [60n, once]
    ] as const) {
      const told = { ...asking, told: offset, asked: 2 }
      assert.deepStrictEqual(located(asking, offset, expected), told)
      assert.include(["Sending", "Done"], located(told, offset, expected)._tag)
    }
    // The first report was wrong.
    assert.deepInclude(located({ ...asking, told: 100n }, 60n, again), { _tag: "Sending", acknowledged: 60n })
    assert.deepInclude(located({ ...asking, told: 3n }, 60n, once), { _tag: "Asking", told: 60n })
  })

  it("a fourth report that differs from the third: fails with UploadMismatch", () => {
    const state = { ...asking, told: 3n, asked: 4 }
    assert.deepInclude(located(state, 60n, once), { _tag: "UploadMismatch", expected: "3, as reported before" })
  })

  it("every byte is stored, but the length is not: sends the length", () => {
    const state = { ...asking, length: undefined, told: 100n }
    assert.deepInclude(located(state, 100n, again), { _tag: "Sending", acknowledged: 100n })
  })

  it("an offset that is not permitted after an accepted PATCH: fails at once with UploadUntrusted", () => {
    const state: Transfer.Asking = { ...asking, only: [60n] }
    assert.deepInclude(located(state, 60n, again), { acknowledged: 60n })
    for (const offset of [0n, 10n, 59n, 61n, 100n, 1000n]) {
      for (const expected of [again, once]) {
        assert.deepInclude(located(state, offset, expected), {
          _tag: "UploadUntrusted",
          description: `upload-offset is ${offset}, but bytes up to 60 were sent`,
          mayBeWhole: offset >= 100n
        })
      }
    }
  })

  it("an offset beyond the sent bytes: fails with UploadUntrusted if it is reported twice", () => {
    const state: Transfer.Asking = { ...asking, handed: 50n }
    for (const expected of [again, once]) {
      for (const offset of [51n, 100n, 101n]) {
        assert.deepInclude(located(state, offset, expected), { _tag: "Asking", told: offset })
        assert.deepInclude(located({ ...state, told: offset }, offset, expected), {
          _tag: "UploadUntrusted",
          description: `upload-offset is ${offset}, but bytes up to 50 were sent`,
          mayBeWhole: offset >= 100n
        })
      }
    }
    assert.deepInclude(located({ ...state, told: 51n }, 50n, again), { _tag: "Sending", acknowledged: 50n })
  })

  it("an offset beyond the end: fails with UploadMismatch if it is reported twice", () => {
    for (const expected of [again, once]) {
      assert.deepInclude(located(asking, 101n, expected), { _tag: "Asking", told: 101n })
      const told = { ...asking, told: 101n }
      assert.deepInclude(located(told, 101n, expected), { _tag: "UploadMismatch", field: "upload-offset" })
    }
  })

  it("a length that nobody declared, or another one than was declared: fails at once with UploadMismatch", () => {
    const deferred = { ...asking, length: undefined }
    const unknown = { size: undefined, replayable: false }
    for (const [state, expected] of [
      [deferred, "none yet"],
      [{ ...deferred, declared: 80n }, "80"],
      [asking, "100"]
    ] as const) {
      const error = Result.merge(Transfer.located(state, { offset: 10n, length: 70n }, unknown))
      assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-length", expected, found: "70" })
    }
    const heard = Transfer.located({ ...deferred, declared: 80n, told: 80n }, { offset: 80n, length: 80n }, unknown)
    assert.deepStrictEqual(heard, Result.succeed({ _tag: "Done", length: 80n }))
  })
})

describe("Transfer.receipted", () => {
  it("all bytes were sent, or an earlier run may have sent them: is done", () => {
    for (const state of [sending, { ...sending, handed: 100n }, { ...asking, handed: 100n, only: [100n] }]) {
      assert.deepStrictEqual(Transfer.receipted(state, 100n), Result.succeed({ _tag: "Done", length: 100n }))
    }
  })

  it("another number of bytes was sent: fails with UploadUntrusted", () => {
    for (const state of [
      { ...sending, handed: 99n },
      { ...asking, handed: 100n, only: [60n] }
    ]) {
      assert.strictEqual(Result.merge(Transfer.receipted(state, 100n))._tag, "UploadUntrusted")
    }
  })
})

describe("Transfer.abandoned", () => {
  const error = Object.assign(new Error("it is away"), { _tag: "Away" })
  const state = { ...asking, only: [60n], handed: 60n }

  it("after an accepted PATCH with another offset: is UploadUntrusted with the text of the error", () => {
    for (const [failure, happened] of [
      [error, "it is away"],
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

  it("otherwise: is the error itself", () => {
    for (const other of [sending, asking]) assert.strictEqual(Transfer.abandoned(other, error, 100n), error)
  })

  it("may be whole if every byte was sent or counted, and never without a known length", () => {
    const deferred = { ...state, length: undefined }
    for (const [other, size, mayBeWhole] of [
      [deferred, 100n, false],
      [{ ...deferred, handed: 100n }, 100n, true],
      [{ ...deferred, counted: 17n }, 100n, false],
      [{ ...deferred, counted: 100n }, 100n, true],
      [deferred, undefined, false],
      [{ ...deferred, declared: 60n }, undefined, true]
    ] as const) {
      assert.deepInclude(Transfer.abandoned(other, error, size), { _tag: "UploadUntrusted", mayBeWhole })
    }
  })
})
