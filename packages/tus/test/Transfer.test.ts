/**
 * The transfer of one upload: which request follows each response.
 */
import { UploadTarget } from "@assembly-effect/tus"
import { assert, describe, test } from "@assembly-effect/testkit/flow"
import { Effect, Result } from "effect"
import { Transfer } from "../src/internal/transfer.ts"

const target = Effect.runSync(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" })
)
const url = Result.getOrThrow(UploadTarget.resolve(target, "/resumable/files/1"))

type Outgoing = ConstructorParameters<typeof Transfer>[0]["outgoing"]

const again = { size: 100n, replayable: true }
const once = { size: 100n, replayable: false }
const unknown = { size: undefined, replayable: false }

/**
 * A transfer whose server reported the offset 10 before three failures. `handed` is the number of bytes that the HTTP
 * client got, if this run has created the upload.
 */
const asking = (outgoing: Outgoing, handed?: bigint): Transfer => {
  const transfer = new Transfer(
    { outgoing, isPart: false },
    url,
    handed === undefined ? undefined : { sent: handed, offset: undefined }
  )
  transfer.moveTo(10n)
  for (const _ of [1, 2, 3]) transfer.failed()
  return transfer
}

/** The same transfer before the next bytes are sent. */
const sending = (outgoing: Outgoing = again, handed?: bigint): Transfer => {
  const transfer = asking(outgoing, handed)
  transfer.moveTo(10n)
  return transfer
}

/** What is next. */
const next = (transfer: Transfer) => (transfer.isDone ? "Done" : transfer.isAsking ? "Asking" : "Sending")

const at = (acknowledged: bigint, failures: number) => ({ isAsking: false, acknowledged, failures })

const shown = (transfer: Transfer) => ({
  isAsking: transfer.isAsking,
  acknowledged: transfer.acknowledged,
  failures: transfer.failures
})

describe("a transfer after the creation", () => {
  for (const [what, sent, length, offset, expected] of [
    ["offset 0 after a creation without a body: sends from 0", 0n, 9n, 0n, "Sending"],
    ["the offset of the whole length: is done", 9n, 9n, 9n, "Done"],
    ["an empty upload: is done", 0n, 0n, 0n, "Done"],
    ["an offset within the sent bytes: continues there", 9n, 9n, 4n, "Sending"],
    ["no offset: asks", 9n, 9n, undefined, "Asking"],
    ["an offset beyond the sent bytes: asks", 9n, 9n, 10n, "Asking"],
    ["an offset above 0 after a creation without a body: asks", 0n, undefined, 4n, "Asking"]
  ] as const) {
    test(what, () => {
      const outgoing = { size: length, replayable: true }
      const transfer = new Transfer({ outgoing, isPart: false }, url, { sent, offset })
      assert.strictEqual(next(transfer), expected)
      if (expected === "Sending") assert.strictEqual(transfer.acknowledged, offset ?? -1n)
      // The server cannot have more bytes than were sent.
      if (expected !== "Done") assert.strictEqual(transfer.located({ offset: sent + 1n })?._tag, "UploadUntrusted")
    })
  }

  test("of an earlier run: asks, and does not know what was sent", () => {
    const transfer = new Transfer({ outgoing: again, isPart: false }, url, undefined)
    assert.strictEqual(next(transfer), "Asking")
    assert.isUndefined(transfer.located({ offset: 99n }))
    assert.strictEqual(next(transfer), "Sending")
  })
})

describe("handedOver", () => {
  test("keeps the highest offset that the HTTP client got, and the declared length", () => {
    const transfer = sending(unknown, 20n)
    transfer.handedOver(60n, undefined)
    transfer.handedOver(15n, 30n)
    assert.strictEqual(transfer.expectedLength, 30n)
    assert.strictEqual(transfer.receipted(20n)?._tag, "UploadUntrusted")
    assert.isUndefined(transfer.receipted(60n))
  })

  test("keeps that it is unknown what an earlier run has sent", () => {
    const transfer = sending()
    transfer.handedOver(60n, undefined)
    assert.isUndefined(transfer.located({ offset: 61n }))
  })
})

describe("distrust, and moveTo", () => {
  test("the end of the body: continues there, and counts no failures", () => {
    const transfer = sending()
    assert.isUndefined(transfer.distrust(60n, 60n, true))
    transfer.moveTo(60n, undefined)
    assert.deepStrictEqual(shown(transfer), at(60n, 0))
    assert.strictEqual(transfer.length, 100n)
    const deferred = sending(unknown)
    deferred.moveTo(60n, 60n)
    assert.strictEqual(next(deferred), "Done")
  })

  test("an offset within a body of declared length: continues there; of any other body: is untrusted", () => {
    for (const offset of [11n, 59n]) {
      const transfer = sending()
      assert.isUndefined(transfer.distrust(offset, 60n, true))
      transfer.moveTo(offset)
      assert.deepStrictEqual(shown(transfer), at(offset, 0))
      assert.strictEqual(sending().distrust(offset, 60n, false)?._tag, "UploadUntrusted")
    }
  })

  test("an offset beyond the bytes that the HTTP client got: is untrusted", () => {
    for (const [offset, handed] of [
      [61n, 60n],
      [100n, 60n],
      [60n, 40n]
    ] as const) {
      for (const isPart of [false, true]) {
        const transfer = new Transfer({ outgoing: again, isPart }, url, undefined)
        assert.deepInclude(transfer.distrust(offset, handed, true), {
          _tag: "UploadUntrusted",
          host: "a.example.com",
          description: `upload-offset is ${offset}, but bytes up to ${handed} were sent`,
          mayBeWhole: offset >= 100n && !isPart
        })
      }
    }
  })
})

describe("located", () => {
  test("an offset below the end, of a source that can be read again: continues there", () => {
    for (const [offset, failures] of [
      [5n, 3],
      [10n, 3],
      [11n, 0]
    ] as const) {
      const transfer = asking(again)
      assert.isUndefined(transfer.located({ offset }))
      assert.deepStrictEqual(shown(transfer), at(offset, failures))
    }
    // Only an offset above the highest one is progress.
    const transfer = asking(again)
    transfer.located({ offset: 5n })
    transfer.located({ offset: 10n })
    assert.strictEqual(transfer.failures, 3)
  })

  test("the end, or any offset of a one-shot stream: must be reported twice", () => {
    for (const [offset, outgoing, expected] of [
      [100n, again, "Done"],
      [60n, once, "Sending"]
    ] as const) {
      const transfer = asking(outgoing)
      assert.isUndefined(transfer.located({ offset }))
      assert.strictEqual(next(transfer), "Asking")
      // A failed request between the two reports changes nothing.
      transfer.failed()
      assert.isUndefined(transfer.located({ offset }))
      assert.strictEqual(next(transfer), expected)
    }
    // The first report was wrong.
    const replayed = asking(again)
    replayed.located({ offset: 100n })
    replayed.located({ offset: 60n })
    assert.deepStrictEqual(shown(replayed), at(60n, 0))
    const stream = asking(once)
    stream.located({ offset: 3n })
    stream.located({ offset: 60n })
    assert.strictEqual(next(stream), "Asking")
    stream.located({ offset: 60n })
    assert.deepStrictEqual(shown(stream), at(60n, 0))
  })

  test("a fourth report that differs from the third: fails with UploadMismatch", () => {
    const transfer = asking(once)
    for (const offset of [1n, 2n, 3n]) assert.isUndefined(transfer.located({ offset }))
    const error = transfer.located({ offset: 60n })
    assert.deepInclude(error, { _tag: "UploadMismatch", host: "a.example.com", expected: "3, as reported before" })
  })

  test("an accepted report: the next one is the first again", () => {
    const transfer = asking(once)
    for (const offset of [1n, 2n, 3n, 3n]) transfer.located({ offset })
    assert.strictEqual(next(transfer), "Sending")
    transfer.failed()
    for (const offset of [3n, 4n, 5n]) assert.isUndefined(transfer.located({ offset }))
    assert.strictEqual(next(transfer), "Asking")
  })

  test("every byte is stored, but the length is not: sends the length", () => {
    const transfer = asking(again)
    transfer.length = undefined
    transfer.located({ offset: 100n })
    transfer.located({ offset: 100n })
    assert.deepStrictEqual(shown(transfer), at(100n, 0))
    assert.isFalse(transfer.isDone)
  })

  test("an offset beyond the sent bytes: fails at once with UploadUntrusted", () => {
    for (const outgoing of [again, once]) {
      for (const offset of [51n, 100n, 101n]) {
        assert.deepInclude(asking(outgoing, 50n).located({ offset }), {
          _tag: "UploadUntrusted",
          description: `upload-offset is ${offset}, but bytes up to 50 were sent`,
          mayBeWhole: offset >= 100n
        })
      }
    }
  })

  test("an offset beyond the end: fails at once with UploadMismatch", () => {
    for (const outgoing of [again, once]) {
      const error = asking(outgoing).located({ offset: 101n })
      assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-offset" })
    }
  })

  test("a length that nobody declared, or another one than was declared: fails at once with UploadMismatch", () => {
    const declared = asking(unknown)
    declared.handedOver(0n, 80n)
    for (const [transfer, expected] of [
      [asking(unknown), "none yet"],
      [declared, "80"],
      [asking(again), "100"]
    ] as const) {
      const error = transfer.located({ offset: 10n, length: 70n })
      assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-length", expected, found: "70" })
    }
    declared.located({ offset: 80n, length: 80n })
    assert.isUndefined(declared.located({ offset: 80n, length: 80n }))
    assert.strictEqual(next(declared), "Done")
  })
})

describe("receipted", () => {
  test("all bytes were sent, or an earlier run may have sent them: is done", () => {
    for (const transfer of [sending(), sending(again, 100n), asking(again, 100n)]) {
      assert.isUndefined(transfer.receipted(100n))
      assert.strictEqual(next(transfer), "Done")
    }
  })

  test("another number of bytes was sent: fails with UploadUntrusted", () => {
    const transfer = sending(again, 99n)
    assert.deepInclude(transfer.receipted(100n), { _tag: "UploadUntrusted", mayBeWhole: true })
    assert.isFalse(transfer.isDone)
  })
})
