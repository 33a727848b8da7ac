/**
 * What an upload is doing, from its plan to its end.
 */
import { UploadUntrusted } from "@assembly-effect/tus/TusError"
import * as UploadState from "../src/internal/uploadState.ts"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const mebi = 1024n * 1024n

const target = Effect.runSync(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" })
)
const url = (name: string) => Result.getOrThrow(UploadTarget.resolve(target, `/resumable/files/${name}`))

const after = (state: UploadState.UploadState, ...changes: ReadonlyArray<UploadState.Change>) =>
  changes.reduce((now, change) => change(now), state)

const createdAt = (at: UploadTarget.UploadUrl): UploadState.Created => ({ _tag: "Created", marker: "m", url: at })
const wrong = UploadState.untrusted(new UploadUntrusted({ description: "upload-offset is 17", mayBeWhole: true }))

describe("UploadState.inParts", () => {
  it("covers the source, in order, without a gap", () => {
    for (const size of [2n * mebi, 3n * mebi + 1n, 10n * mebi - 1n]) {
      const state = UploadState.inParts(size, 4)
      if (state._tag !== "Parts") return assert.fail(state._tag)
      let end = 0n
      for (const part of state.parts) {
        assert.strictEqual(part.start, end)
        assert.isAtLeast(Number(part.end - part.start), Number(mebi))
        assert.deepStrictEqual(part.piece, { _tag: "Planned" })
        ;({ end } = part)
      }
      assert.strictEqual(end, size)
      assert.isAtMost(state.parts.length, 4)
    }
  })

  it("is an upload at one URL where the source is small, or one part is wanted", () => {
    for (const [size, count] of [
      [0n, 4],
      [2n * mebi - 1n, 4],
      [100n * mebi, 1]
    ] as const) {
      assert.deepStrictEqual(UploadState.inParts(size, count), { _tag: "Planned" })
    }
  })
})

describe("the state of an upload", () => {
  const parts = after(
    UploadState.inParts(3n * mebi, 3),
    UploadState.part(0)(createdAt(url("0"))),
    UploadState.part(2)({ _tag: "Creating", marker: "m2" })
  )

  it("ignores a change of a part that it does not have", () => {
    assert.strictEqual(UploadState.part(3)({ _tag: "Planned" })(parts), parts)
    assert.strictEqual(UploadState.part(0)({ _tag: "Planned" })(UploadState.planned), UploadState.planned)
  })

  it("knows its URLs, the final upload first", () => {
    const final = after(
      parts,
      UploadState.concatenating("f", [url("0"), url("1")], 3n * mebi),
      UploadState.concatenated(url("2"))
    )
    assert.deepStrictEqual(UploadState.urlsOf(parts), [url("0")])
    assert.deepStrictEqual(UploadState.urlsOf(final), [url("2"), url("0"), url("1")])
    assert.deepStrictEqual(wrong(final), {
      _tag: "Untrusted",
      urls: [url("2"), url("0"), url("1")],
      description: "upload-offset is 17",
      mayBeWhole: true
    })
  })

  it("is what it was before a creation that was refused", () => {
    const announced = UploadState.concatenating("f", [url("0")], 3n * mebi)
    assert.strictEqual(after(parts, announced, UploadState.replaced(parts)), parts)
  })

  it("stays untrusted after every later change", () => {
    const untrusted = wrong(parts)
    for (const change of [
      UploadState.whole({ _tag: "Planned" }),
      UploadState.part(0)({ _tag: "Planned" }),
      UploadState.concatenating("f", [], 3n),
      UploadState.concatenated(url("2")),
      UploadState.replaced(parts),
      UploadState.completed(url("2"), 3n),
      UploadState.replaced(UploadState.planned)
    ]) {
      assert.strictEqual(change(untrusted), untrusted)
    }
  })
})
