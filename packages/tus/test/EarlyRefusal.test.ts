/**
 * A server that says no while the body is still on its way, and closes the connection. Whether its answer is heard is a
 * matter of chance, and with `fetch` it mostly is not: what was cut off is not repeated as it was.
 */
import { UploadSource } from "@assembly-effect/tus"
import { Effect } from "effect"
import { assert, describe, it, Behaviour, Clients, Gateway, Scene, Upload } from "./utils/index.ts"

const bytes = Scene.content(1_000_000)
const kibi = 1024

const sources = {
  "that can be read again": UploadSource.fromBytes(bytes),
  "that comes once": UploadSource.fromStream(Scene.pieces(bytes, 50_000), { size: BigInt(bytes.length) })
}

const refused = "ERR_SIZE_EXCEEDED: too much\n"

describe.each(Object.entries(Clients.beneath))("with %s", (_, http) => {
  describe.each(Object.entries(sources))("a source %s", (_name, source) => {
    it.live.each([413, 401, 403])("is refused with %s by the answer to a small body", http, function* (status) {
      const refusal = Behaviour.text(status, refused, Gateway.tus)
      const {
        arrived,
        refused: cut,
        target
      } = yield* Gateway.make(bytes.length, {
        most: 16 * kibi,
        large: Gateway.cut,
        refusal
      })
      const error = yield* Effect.flip(Upload.run(target, source, Scene.options))
      assert.strictEqual(error._tag, status === 413 ? "TooLarge" : "UploadRefused")
      assert.deepInclude(error, { status })
      const tried = status === 413 ? "; refused sizes of a request in bytes: 16384" : ""
      assert.match(error.message, new RegExp(`^append at 127\\.0\\.0\\.1:\\d+: ERR_SIZE_EXCEEDED: too much${tried}$`))
      // The first cut may be the network's.
      assert.lengthOf(cut, 2)
      assert.deepStrictEqual(arrived, [16 * kibi])
    })

    it.live("arrives through a gateway that cuts what is too large for it", http, function* () {
      const rule = { most: 300 * kibi, large: Gateway.cut }
      const { arrived, stored, target } = yield* Gateway.make(bytes.length, rule)
      yield* Upload.run(target, source, Scene.options)
      assert.isTrue(stored().equals(bytes))
      const sizes = arrived.slice(0, 5).map((length) => length / kibi)
      assert.deepStrictEqual(sizes, [16, 32, 64, 128, 256])
    })
  })

  it.live("one that comes at once is told, or found out by the third body", http, function* () {
    const rule = { most: 0, large: Behaviour.refuseEarly(413, refused, Gateway.tus) }
    const { refused: patches, target } = yield* Gateway.make(bytes.length, rule)
    const source = sources["that can be read again"]
    const error = yield* Effect.flip(Upload.run(target, source, Scene.options))
    assert.deepInclude(error, { _tag: "TooLarge", status: 413 })
    assert.isAtMost(patches.length, 3)
  })

  it.live("a creation with a body is never repeated", http, function* () {
    const rule = { most: 10, large: Gateway.cut, method: "POST" }
    const { arrived, refused: cut, target } = yield* Gateway.make(bytes.length, rule)
    const small = UploadSource.fromBytes(bytes.subarray(0, 100_000))
    const error = yield* Effect.flip(Upload.run(target, small, Scene.options))
    assert.strictEqual(error._tag, "CreationUnknown")
    assert.deepStrictEqual([cut.length, ...arrived], [1])
  })
})
