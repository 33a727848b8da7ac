/** Bytes in pieces become one. */
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

describe("Pieces of bytes", () => {
  it.prop("are joined in their order", [Schema.Array(Schema.Uint8Array)], ([pieces]) => {
    assert.deepStrictEqual(
      [...Bytes.join(pieces)],
      pieces.flatMap((piece) => [...piece])
    )
  })

  it("are not copied where there is one", () => {
    const piece = Uint8Array.of(1, 2)
    assert.strictEqual(Bytes.join([piece]), piece)
  })
})

describe("The own bytes", () => {
  it("of detached bytes are undefined, and of empty bytes are empty", () => {
    const empty = new Uint8Array(0)
    const detached = new Uint8Array(3)
    structuredClone(detached.buffer, { transfer: [detached.buffer] })
    assert.deepStrictEqual(Bytes.own(empty), empty)
    assert.isUndefined(Bytes.own(detached))
  })
})
