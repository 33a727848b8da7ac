/**
 * The transfer of one upload: which request follows each response.
 */
import { Transfer } from "../src/internal/transfer.ts"
import { assert, describe, Scene, test } from "./utils/index.ts"

const url = Scene.unusedUrl("1")

const again = { size: 100n, replayable: true }
const once = { size: 100n, replayable: false }
const unknown = { size: undefined, replayable: false }

/** A transfer of a run that has given so many bytes to the HTTP client, or of a later run. */
const begin = (outgoing: ConstructorParameters<typeof Transfer>[0]["outgoing"], sent?: bigint, offset?: bigint) =>
  new Transfer({ outgoing, isPart: false }, url, sent === undefined ? undefined : { sent, offset })

/** A transfer whose server reported the offset 10 before three failures. */
const asking = (outgoing: typeof again | typeof unknown = again, handed?: bigint): Transfer => {
  const transfer = begin(outgoing, handed)
  transfer.moveTo(10n)
  for (const _ of [1, 2, 3]) transfer.failed()
  return transfer
}

/** What is next, from where, and after how many failures. */
const shown = (transfer: Transfer) =>
  transfer.isDone
    ? "Done"
    : transfer.isAsking
      ? "Asking"
      : `Sending from ${transfer.acknowledged} after ${transfer.failures} failures`

describe("a transfer after the creation", () => {
  test.each([
    ["offset 0 after a creation without a body", 0n, 9n, 0n, "Sending from 0 after 0 failures"],
    ["the offset of the whole length", 9n, 9n, 9n, "Done"],
    ["an empty upload", 0n, 0n, 0n, "Done"],
    ["an offset within the sent bytes", 9n, 9n, 4n, "Sending from 4 after 0 failures"],
    ["no offset", 9n, 9n, undefined, "Asking"],
    ["an offset beyond the sent bytes", 9n, 9n, 10n, "Asking"],
    ["an offset above 0 after a creation without a body", 0n, undefined, 4n, "Asking"]
  ] as const)("%s (%s sent of %s, told %s): %s", (_, sent, size, offset, expected) => {
    const transfer = begin({ size, replayable: true }, sent, offset)
    assert.strictEqual(shown(transfer), expected)
    // The server cannot have more bytes than were sent.
    if (expected !== "Done") assert.strictEqual(transfer.located({ offset: sent + 1n })?._tag, "UploadUntrusted")
  })

  test("of an earlier run: asks, and does not know what was sent", () => {
    const transfer = begin(again)
    assert.strictEqual(shown(transfer), "Asking")
    transfer.handedOver(60n, undefined)
    assert.isUndefined(transfer.located({ offset: 99n }))
    assert.strictEqual(shown(transfer), "Sending from 99 after 0 failures")
  })
})

test("handedOver keeps the highest offset that the HTTP client got, and the declared length", () => {
  const transfer = begin(unknown, 20n, 10n)
  transfer.handedOver(60n, undefined)
  transfer.handedOver(15n, 30n)
  transfer.handedOver(15n, undefined)
  assert.strictEqual(transfer.expectedLength, 30n)
  assert.strictEqual(transfer.receipted(20n)?._tag, "UploadUntrusted")
  assert.isUndefined(transfer.receipted(60n))
})

describe("an answer to a PATCH", () => {
  test.each([
    [60n, 60n, true, undefined],
    [11n, 60n, true, undefined],
    [59n, 60n, true, undefined],
    [59n, 60n, false, false],
    [61n, 60n, true, false],
    [100n, 60n, true, true],
    [60n, 40n, true, false]
  ] as const)("of offset %s after %s bytes, a declared length: %s", (offset, handed, declares, mayBeWhole) => {
    for (const isPart of [false, true]) {
      const error = new Transfer({ outgoing: again, isPart }, url, undefined).distrust(offset, handed, declares)
      if (mayBeWhole === undefined) assert.isUndefined(error)
      else {
        assert.deepInclude(error, {
          _tag: "UploadUntrusted",
          host: "a.example.com",
          description: `upload-offset is ${offset}, but bytes up to ${handed} were sent`,
          mayBeWhole: mayBeWhole && !isPart
        })
      }
    }
  })

  test("that moves on counts no failures, and keeps the length or tells it", () => {
    const transfer = asking()
    transfer.moveTo(60n, undefined)
    assert.strictEqual(shown(transfer), "Sending from 60 after 0 failures")
    assert.strictEqual(transfer.length, 100n)
    const deferred = asking(unknown)
    deferred.moveTo(60n, 60n)
    assert.strictEqual(shown(deferred), "Done")
  })
})

describe("the offsets that HEAD tells", () => {
  const of = (offset: bigint, length?: bigint) => ({ offset, length })
  // `failed` is a request that failed between two reports, which changes nothing.
  for (const [outgoing, handed, told, expected] of [
    [again, undefined, [of(5n)], "Sending from 5 after 3 failures"],
    [again, undefined, [of(10n)], "Sending from 10 after 3 failures"],
    [again, undefined, [of(11n)], "Sending from 11 after 0 failures"],
    // Only an offset above the highest one is progress.
    [again, undefined, [of(5n), of(10n)], "Sending from 10 after 3 failures"],
    [again, undefined, [of(100n)], "Asking"],
    [again, undefined, [of(100n), "failed", of(100n)], "Done"],
    [again, undefined, [of(100n), of(60n)], "Sending from 60 after 0 failures"],
    [once, undefined, [of(60n)], "Asking"],
    [once, undefined, [of(60n), "failed", of(60n)], "Sending from 60 after 0 failures"],
    [once, undefined, [of(3n), of(60n)], "Asking"],
    [once, undefined, [of(3n), of(60n), of(60n)], "Sending from 60 after 0 failures"],
    [once, undefined, [of(1n), of(2n), of(3n)], "Asking"],
    [once, undefined, [of(1n), of(2n), of(3n), of(60n)], "UploadMismatch: upload-offset: 3, as reported before"],
    [once, undefined, [of(1n), of(2n), of(3n), of(3n), "failed", of(3n), of(4n), of(5n)], "Asking"],
    [again, 50n, [of(51n)], "UploadUntrusted: upload-offset is 51, but bytes up to 50 were sent: false"],
    [once, 50n, [of(100n)], "UploadUntrusted: upload-offset is 100, but bytes up to 50 were sent: true"],
    [again, undefined, [of(101n)], "UploadMismatch: upload-offset: 0 to 100"],
    [once, undefined, [of(101n)], "UploadMismatch: upload-offset: 0 to 100"],
    [unknown, undefined, [of(10n, 70n)], "UploadMismatch: upload-length: none yet"],
    [again, undefined, [of(10n, 70n)], "UploadMismatch: upload-length: 100"],
    ["declared 80", undefined, [of(10n, 70n)], "UploadMismatch: upload-length: 80"],
    ["declared 80", undefined, [of(80n, 80n), of(80n, 80n)], "Done"],
    // The length is still to be told.
    ["told no length", undefined, [of(100n), of(100n)], "Sending from 100 after 0 failures"]
  ] as const) {
    const steps = told.map((step) => (step === "failed" ? step : `${step.offset} of ${step.length}`)).join(", ")
    const kind = typeof outgoing === "string" ? outgoing : `${outgoing.size}, read again: ${outgoing.replayable}`
    test(`${steps} (${kind}, sent ${handed}): ${expected}`, () => {
      const transfer = asking(
        outgoing === "told no length" ? again : outgoing === "declared 80" ? unknown : outgoing,
        handed
      )
      if (outgoing === "declared 80") transfer.handedOver(0n, 80n)
      if (outgoing === "told no length") transfer.length = undefined
      const [error, ...others] = told.flatMap(
        (step) => (step === "failed" ? transfer.failed() : transfer.located(step)) ?? []
      )
      assert.isEmpty(others)
      assert.strictEqual(
        error === undefined
          ? shown(transfer)
          : error._tag === "UploadMismatch"
            ? `${error._tag}: ${error.field}: ${error.expected}`
            : `${error._tag}: ${error.description}: ${error.mayBeWhole}`,
        expected
      )
    })
  }
})

test("a receipt of 100 bytes: done, unless another number of bytes was sent", () => {
  for (const transfer of [begin(again), begin(again, 100n, 10n), asking(again, 100n)]) {
    assert.isUndefined(transfer.receipted(100n))
    assert.strictEqual(shown(transfer), "Done")
  }
  const transfer = begin(again, 99n, 10n)
  assert.deepInclude(transfer.receipted(100n), { _tag: "UploadUntrusted", mayBeWhole: true })
  assert.isFalse(transfer.isDone)
})
