/** Tests large files, which a worker thread hashes. */
import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { begin, createUpload, layer as layerEmulator, patch, statusOf, terminate, waiting } from "./support.ts"
import { assert, layer, live } from "@assembly-effect/testkit/flow"

const size = 24 * 1024 * 1024
const bytes = new Uint8Array(size).map((_, index) => (index * 31) % 251)
const half = 20 * 1024 * 1024 + 7
const hash = (algorithm: string) => createHash(algorithm).update(bytes).digest("hex")
const content = { size, md5hash: hash("md5"), sha256: hash("sha256") }

const steps = { hash: { robot: "/file/hash", use: ":original", algorithm: "sha512" } }

/** An Assembly with one expected upload of this size, and the URL of the upload. */
const large = begin({ "upload-length": String(size) }, { steps })

/** The number of worker threads of this process. */
const threads = Effect.sync(() => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length)

layer(layerEmulator())("A large file", (it) => {
  it.effect("is known by its digests, however it arrived", function* () {
    const { assembly: whole, url } = yield* large
    yield* patch(url, 0, bytes.subarray(0, half))
    yield* patch(url, half, bytes.subarray(half))
    const arrived = yield* statusOf(whole)
    assert.deepInclude(arrived.uploads?.[0], content)
    assert.deepStrictEqual(arrived.results?.["hash"]?.[0]?.["meta"], { hash: hash("sha512") })

    const parts = yield* waiting
    const urls: Array<string> = []
    for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) {
      const headers = { "upload-length": String(part.length), "upload-concat": "partial" }
      const created = yield* createUpload(parts, headers)
      yield* patch(created.url, 0, part)
      urls.push(created.url)
    }
    yield* createUpload(parts, { "upload-concat": `final;${urls.join(" ")}` })
    assert.deepInclude((yield* statusOf(parts)).uploads?.[0], content)
  })

  it.effect("is checked and given up like any other", function* () {
    const { assembly, url } = yield* large
    const checksum = (text: string) => ({ "upload-checksum": `sha256 ${Buffer.from(text, "hex").toString("base64")}` })
    const wrong = yield* patch(
      url,
      0,
      bytes,
      checksum(hash("sha256").replace(/^./, (digit) => (digit === "0" ? "1" : "0")))
    )
    assert.strictEqual(wrong.status, 460)
    yield* patch(url, 0, bytes.subarray(0, half))
    assert.strictEqual((yield* terminate(url)).status, 204)
    const { url: next } = yield* createUpload(assembly, { "upload-length": String(size) })
    assert.strictEqual((yield* patch(next, 0, bytes, checksum(hash("sha256")))).status, 204)
    assert.deepInclude((yield* statusOf(assembly)).uploads?.[0], content)
  })
})

live("the thread begins with the first large file, and ends with the emulator", function* () {
  const before = yield* threads
  yield* Effect.gen(function* () {
    yield* Emulator.Emulator
    const { assembly, url } = yield* large
    yield* patch(url, 0, bytes.subarray(0, 1000))
    assert.strictEqual(yield* threads, before)
    yield* patch(url, 1000, bytes.subarray(1000))
    assert.strictEqual(yield* threads, before + 1)
    assert.deepInclude((yield* statusOf(assembly)).uploads?.[0], content)
  }).pipe(Effect.provide(layerEmulator()))
  assert.strictEqual(yield* threads, before)
})
