import { Faults } from "@assembly-effect/emulator"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { createHash } from "node:crypto"
import {
  begin,
  bytes,
  createWith,
  head,
  layer as layerEmulator,
  patch,
  send,
  sha256,
  statusOf,
  waiting
} from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const half = bytes.length / 2

const checksum = (content: Uint8Array, algorithm = "sha1") => ({
  "upload-checksum": `${algorithm} ${createHash(algorithm).update(content).digest("base64")}`
})

const whole = begin({ "upload-length": String(bytes.length) })

const offsetOf = (url: string) => Effect.map(head(url), ({ headers }) => headers["upload-offset"])

layer(layerEmulator())("A checksum", (it) => {
  it.effect("is offered", function* () {
    const { headers } = yield* send(HttpClientRequest.options("/resumable/files/"))
    assert.include(headers["tus-extension"]?.split(",") ?? [], "checksum")
    assert.strictEqual(headers["tus-checksum-algorithm"], "sha1,sha256,md5")
  })

  it.effect("lets the right bytes through, by every algorithm and without one", function* () {
    const { assembly, url } = yield* whole
    const pieces = [undefined, "sha1", "sha256", "md5"].map((algorithm, index) => {
      const piece = bytes.subarray(index * 75_000, (index + 1) * 75_000)
      return { piece, headers: algorithm === undefined ? {} : checksum(piece, algorithm), offset: index * 75_000 }
    })
    for (const { headers, offset, piece } of pieces) {
      const answer = yield* patch(url, offset, piece, headers)
      assert.deepInclude(answer, { status: 204 })
      assert.strictEqual(answer.headers["upload-offset"], String(offset + piece.length))
    }
    assert.deepInclude((yield* statusOf(assembly)).uploads?.[0], { size: bytes.length, sha256 })
  })

  it.effect("keeps nothing of other bytes, and the upload goes on", function* () {
    const { assembly, url } = yield* whole
    yield* patch(url, 0, bytes.subarray(0, half), checksum(bytes.subarray(0, half)))
    const changed = bytes.slice(half)
    changed[changed.length - 1]! ^= 1
    for (const algorithm of ["sha1", "sha256", "md5"]) {
      const answer = yield* patch(url, half, changed, checksum(bytes.subarray(half), algorithm))
      assert.strictEqual(answer.status, 460)
      assert.match(answer.text, /^ERR_CHECKSUM_MISMATCH: .+\n$/)
      assert.strictEqual(yield* offsetOf(url), String(half))
      assert.deepInclude(yield* statusOf(assembly), { ok: "ASSEMBLY_UPLOADING", bytes_received: half })
    }
    yield* patch(url, half, bytes.subarray(half), checksum(bytes.subarray(half)))
    assert.deepInclude((yield* statusOf(assembly)).uploads?.[0], { size: bytes.length, sha256 })
  })

  it.effect("keeps nothing of a body that broke off", function* () {
    const faults = yield* Faults.Faults
    const { url } = yield* whole
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 200_000 }))
    assert.strictEqual((yield* Effect.exit(patch(url, 0, bytes, checksum(bytes))))._tag, "Failure")
    assert.strictEqual(yield* offsetOf(url), "0")
    assert.strictEqual((yield* patch(url, 0, bytes, checksum(bytes))).status, 204)
  })

  it.effect("that nobody can compute is refused, and nothing is read", function* () {
    const { url } = yield* whole
    const right = createHash("sha1").update(bytes).digest("base64")
    const refused: ReadonlyArray<readonly [header: string, code: string]> = [
      [`crc32 ${right}`, "ERR_UNSUPPORTED_CHECKSUM_ALGORITHM"],
      [`SHA1 ${right}`, "ERR_UNSUPPORTED_CHECKSUM_ALGORITHM"],
      ["", "ERR_UNSUPPORTED_CHECKSUM_ALGORITHM"],
      ["sha1", "ERR_INVALID_CHECKSUM"],
      ["sha1 ?", "ERR_INVALID_CHECKSUM"],
      [`sha256 ${right}`, "ERR_INVALID_CHECKSUM"],
      [`sha1 ${right} x`, "ERR_INVALID_CHECKSUM"]
    ]
    for (const [header, code] of refused) {
      const answer = yield* patch(url, 0, bytes, { "upload-checksum": header })
      assert.strictEqual(answer.status, 400, header)
      assert.include(answer.text, code)
    }
    assert.strictEqual(yield* offsetOf(url), "0")
  })

  it.effect("holds for the bytes of a creation, which is undone with them", function* () {
    const assembly = yield* waiting
    const other = yield* createWith(assembly, bytes.subarray(1), checksum(bytes))
    assert.strictEqual(other.status, 460)
    assert.isEmpty((yield* statusOf(assembly)).tus_uploads)
    const unknown = yield* createWith(assembly, bytes, { "upload-checksum": "crc32 AA==" })
    assert.strictEqual(unknown.status, 400)
    assert.isEmpty((yield* statusOf(assembly)).tus_uploads)
    assert.strictEqual((yield* createWith(assembly, bytes, checksum(bytes))).status, 201)
    assert.deepInclude((yield* statusOf(assembly)).uploads?.[0], { size: bytes.length, sha256 })
  })
})
