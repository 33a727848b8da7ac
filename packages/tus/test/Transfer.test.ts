/**
 * The state of one transfer: which request follows each response.
 */
import { assert, describe, it } from "@effect/vitest"
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
  for (const [what, sent, length, offset, expected] of [
    ["offset 0 after a creation without a body: sends from 0", 0n, 9n, 0n, "Sending"],
    ["the offset of the whole length: is done", 9n, 9n, 9n, "Done"],
    ["an empty upload: is done", 0n, 0n, 0n, "Done"],
    ["an offset within the sent bytes: continues there", 9n, 9n, 4n, "Sending"],
    ["no offset: asks", 9n, 9n, undefined, "Asking"],
    ["an offset beyond the sent bytes: asks", 9n, 9n, 10n, "Asking"],
    ["an offset above 0 after a creation without a body: asks", 0n, undefined, 4n, "Asking"]
  ] as const) {
    it(what, () => {
      const state = Transfer.created({ length, offset, sent })
      assert.strictEqual(state._tag, expected)
      if (state._tag === "Sending") assert.deepInclude(state, { acknowledged: offset ?? -1n, handed: sent })
      if (state._tag === "Asking") assert.strictEqual(state.handed, sent)
    })
  }
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
  const whole = { offset: 60n, handed: 60n, declaresLength: true, length: undefined, size: 100n }

  it("the end of the body: continues there, and counts no failures", () => {
    const next = { ...sending, acknowledged: 60n, reached: 60n, failures: 0 }
    assert.deepStrictEqual(Transfer.appended(sending, whole), Result.succeed(next))
    const deferred = { ...sending, length: undefined }
    const done = Transfer.appended(deferred, { ...whole, length: 60n })
    assert.deepStrictEqual(done, Result.succeed({ _tag: "Done", length: 60n }))
  })

  it("an offset within a body of declared length: continues there; of any other body: is untrusted", () => {
    for (const offset of [11n, 59n]) {
      const told = Result.merge(Transfer.appended(sending, { ...whole, offset }))
      assert.deepInclude(told, { _tag: "Sending", acknowledged: offset, failures: 0 })
      const undeclared = Transfer.appended(sending, { ...whole, offset, declaresLength: false })
      assert.strictEqual(Result.merge(undeclared)._tag, "UploadUntrusted")
    }
  })

  it("an offset beyond the bytes that the HTTP client got: is untrusted", () => {
    for (const [offset, handed] of [
      [61n, 60n],
      [100n, 60n],
      [60n, 40n]
    ] as const) {
      assert.deepInclude(Result.merge(Transfer.appended(sending, { ...whole, offset, handed })), {
        _tag: "UploadUntrusted",
        description: `upload-offset is ${offset}, but bytes up to ${handed} were sent`,
        mayBeWhole: offset >= 100n
      })
    }
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

  it("an offset beyond the sent bytes: fails at once with UploadUntrusted", () => {
    const state: Transfer.Asking = { ...asking, handed: 50n }
    for (const expected of [again, once]) {
      for (const offset of [51n, 100n, 101n]) {
        assert.deepInclude(located(state, offset, expected), {
          _tag: "UploadUntrusted",
          description: `upload-offset is ${offset}, but bytes up to 50 were sent`,
          mayBeWhole: offset >= 100n
        })
      }
    }
  })

  it("an offset beyond the end: fails at once with UploadMismatch", () => {
    for (const expected of [again, once]) {
      assert.deepInclude(located(asking, 101n, expected), { _tag: "UploadMismatch", field: "upload-offset" })
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
    for (const state of [sending, { ...sending, handed: 100n }, { ...asking, handed: 100n }]) {
      assert.deepStrictEqual(Transfer.receipted(state, 100n), Result.succeed({ _tag: "Done", length: 100n }))
    }
  })

  it("another number of bytes was sent: fails with UploadUntrusted", () => {
    const state = { ...sending, handed: 99n }
    assert.strictEqual(Result.merge(Transfer.receipted(state, 100n))._tag, "UploadUntrusted")
  })
})
