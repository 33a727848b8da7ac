/** Bytes in pieces become one. */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("Bytes.join", () => {
  it.prop("joins pieces in their order", [Schema.Array(Schema.Uint8Array)], ([pieces]) => {
    const expected = pieces.flatMap((piece) => [...piece])
    assert.deepStrictEqual([...Bytes.join(pieces)], expected)
  })

  it("returns a single piece without a copy", () => {
    const piece = Uint8Array.of(1, 2)
    assert.strictEqual(Bytes.join([piece]), piece)
  })
})

describe("Bytes.own", () => {
  it("returns undefined for detached bytes, and empty bytes for empty ones", () => {
    const empty = new Uint8Array(0)
    const detached = new Uint8Array(3)
    structuredClone(detached.buffer, { transfer: [detached.buffer] })
    assert.deepStrictEqual(Bytes.own(empty), empty)
    assert.isUndefined(Bytes.own(detached))
  })
})
