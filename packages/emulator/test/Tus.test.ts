import { Emulator, Faults } from "@assembly-effect/emulator"
import { Effect, Fiber, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { createHash } from "node:crypto"
import { request } from "node:http"
import {
  begin,
  bytes,
  createUpload,
  createWith,
  creationHeaders,
  head,
  json,
  layer as layerEmulator,
  metadata,
  patch,
  patchForever,
  refusedByTus,
  send,
  sha256,
  statusOf,
  terminate,
  waiting
} from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** Sends chunks at an offset, without `content-length`. */
const patchStream = (url: string, offset: number, ...chunks: ReadonlyArray<Uint8Array>) =>
  send(
    HttpClientRequest.patch(url, { headers: { "tus-resumable": "1.0.0", "upload-offset": String(offset) } }).pipe(
      HttpClientRequest.bodyStream(Stream.fromIterable(chunks), { contentType: "application/offset+octet-stream" })
    )
  )

/** Sends the headers of a request whose body never begins. Returns the status of the response. */
const patchWithoutEnd = (url: string, offset: number) =>
  Effect.callback<number | undefined>((resume) => {
    const message = request(url, {
      method: "PATCH",
      headers: {
        "tus-resumable": "1.0.0",
        "upload-offset": String(offset),
        "content-type": "application/offset+octet-stream",
        "transfer-encoding": "chunked"
      }
    })
    message.on("response", (response) => resume(Effect.succeed(response.statusCode)))
    message.on("error", () => resume(Effect.succeed(undefined)))
    message.flushHeaders()
    return Effect.sync(() => message.destroy())
  })

layer(layerEmulator())("An upload", (it) => {
  it.effect("is created, filled, and completes its Assembly", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const assembly = yield* waiting
    const created = yield* createUpload(assembly, { "upload-length": String(bytes.length) })
    const url = created.url
    assert.strictEqual(created.status, 201)
    assert.isTrue(url.startsWith(`${baseUrl}/resumable/files/`))
    assert.deepInclude(created.headers, {
      "upload-offset": "0",
      "tus-resumable": "1.0.0",
      "x-content-type-options": "nosniff"
    })
    assert.isAbove(Date.parse(created.headers["upload-expires"] ?? ""), Date.now())

    const first = yield* patch(url, 0, bytes.subarray(0, 100_000))
    assert.strictEqual(first.status, 204)
    assert.strictEqual(first.headers["upload-offset"], "100000")
    const between = yield* statusOf(assembly)
    assert.deepInclude(between, { ok: "ASSEMBLY_UPLOADING", bytes_received: 100_000, bytes_expected: 300_000 })
    assert.deepInclude(between.tus_uploads?.[0], { filename: "a file.txt", offset: 100_000, finished: false })

    const last = yield* patch(url, 100_000, bytes.subarray(100_000))
    assert.strictEqual(last.headers["upload-offset"], "300000")
    const done = yield* statusOf(assembly)
    assert.strictEqual(done.ok, "ASSEMBLY_COMPLETED")
    assert.deepInclude(done.uploads?.[0], { size: 300_000, sha256 })
    assert.deepInclude(done.tus_uploads?.[0], { finished: true, upload_url: url, size: 300_000, offset: 300_000 })
  })

  it.effect("keeps what arrived before its connection broke (spec O-52)", function* () {
    const faults = yield* Faults.Faults
    const { assembly, url } = yield* begin({ "upload-length": String(bytes.length) })
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 123_456 }))
    const broken = yield* Effect.exit(patch(url, 0, bytes))
    assert.strictEqual(broken._tag, "Failure")

    assert.strictEqual((yield* head(url)).headers["upload-offset"], "123456")
    refusedByTus(yield* patch(url, 0, bytes), 409, "ERR_MISMATCHED_OFFSET")
    const resumed = yield* patch(url, 123_456, bytes.subarray(123_456))
    assert.strictEqual(resumed.headers["upload-offset"], "300000")
    const done = yield* statusOf(assembly)
    assert.deepInclude(done.uploads?.[0], { size: 300_000, sha256 })
  })
  it.effect("completes its Assembly if its connection broke after the last byte, before the answer", function* () {
    const faults = yield* Faults.Faults
    const { assembly, url } = yield* begin({ "upload-length": String(bytes.length) })
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: bytes.length }))
    assert.strictEqual((yield* Effect.exit(patch(url, 0, bytes)))._tag, "Failure")
    const done = yield* statusOf(assembly)
    assert.strictEqual(done.ok, "ASSEMBLY_COMPLETED")
    assert.deepInclude(done.uploads?.[0], { size: 300_000, sha256 })
  })

  it.effect("can have its length told later", function* () {
    const { assembly, url } = yield* begin({ "upload-defer-length": "1" })
    const before = yield* head(url)
    assert.strictEqual(before.headers["upload-defer-length"], "1")
    assert.isUndefined(before.headers["upload-length"])

    yield* patch(url, 0, bytes.subarray(0, 1000))
    refusedByTus(
      yield* patch(url, 1000, bytes.subarray(0, 1), { "upload-length": "999" }),
      400,
      "ERR_INVALID_UPLOAD_LENGTH"
    )
    const last = yield* patch(url, 1000, bytes.subarray(1000, 1500), { "upload-length": "1500" })
    assert.strictEqual(last.headers["upload-offset"], "1500")
    assert.strictEqual((yield* statusOf(assembly)).uploads?.[0]?.size, 1500)
    refusedByTus(
      yield* patch(url, 1500, new Uint8Array(), { "upload-length": "1501" }),
      400,
      "ERR_INVALID_UPLOAD_LENGTH"
    )
  })

  it.effect("of no bytes is finished at once", function* () {
    const { assembly } = yield* begin({ "upload-length": "0" })
    assert.deepInclude((yield* statusOf(assembly)).uploads?.[0], {
      size: 0,
      sha256: createHash("sha256").digest("hex")
    })
  })

  it.effect("may come with its creation (spec O-48)", function* () {
    const assembly = yield* waiting
    const created = yield* createWith(assembly, bytes)
    assert.strictEqual(created.status, 201)
    assert.strictEqual(created.headers["upload-offset"], "300000")
    assert.strictEqual((yield* statusOf(assembly)).ok, "ASSEMBLY_COMPLETED")
  })

  it.effect("takes no more bytes than its length", function* () {
    const { assembly, url } = yield* begin({ "upload-length": "10" })
    refusedByTus(yield* patch(url, 0, bytes.subarray(0, 11)), 413, "ERR_UPLOAD_SIZE_EXCEEDED")
    refusedByTus(
      yield* patchStream(url, 0, bytes.subarray(0, 6), bytes.subarray(0, 6)),
      413,
      "ERR_UPLOAD_SIZE_EXCEEDED"
    )
    assert.strictEqual((yield* statusOf(assembly)).ok, "ASSEMBLY_UPLOADING")
  })

  it.effect("that is finished takes a body without bytes, and no other", function* () {
    const { assembly, url } = yield* begin({ "upload-length": "10" })
    yield* patch(url, 0, bytes.subarray(0, 10))
    assert.strictEqual((yield* patchStream(url, 10)).status, 204)
    refusedByTus(yield* patchStream(url, 10, bytes.subarray(0, 6)), 413, "ERR_UPLOAD_SIZE_EXCEEDED")
    assert.strictEqual((yield* statusOf(assembly)).uploads?.[0]?.size, 10)

    const stuck = yield* Effect.forkChild(patchWithoutEnd(url, 10))
    yield* Effect.repeat(head(url), { until: () => stuck.pollUnsafe() !== undefined })
    assert.strictEqual(yield* Fiber.join(stuck), 423)
  })

  it.effect("goes to the request that came last", function* () {
    const { assembly, url } = yield* begin({ "upload-length": "10" })
    const stuck = yield* Effect.forkChild(patchForever(url, bytes.subarray(0, 3)))
    yield* Effect.repeat(statusOf(assembly), { until: ({ bytes_received }) => bytes_received === 3 })

    assert.deepInclude((yield* head(url)).headers, {
      "upload-offset": "3",
      "upload-length": "10",
      "upload-metadata": creationHeaders(assembly, {})["upload-metadata"],
      "cache-control": "no-store"
    })
    refusedByTus(yield* Fiber.join(stuck), 423, "ERR_UPLOAD_LOCKED")
    assert.strictEqual((yield* patch(url, 3, bytes.subarray(3, 10))).status, 204)
    assert.strictEqual((yield* statusOf(assembly)).ok, "ASSEMBLY_COMPLETED")
  })

  it.effect("is gone after its termination; a finished one leaves its receipt", function* () {
    const { assembly, url } = yield* begin({ "upload-length": "10" })
    assert.strictEqual((yield* terminate(url)).status, 204)
    assert.strictEqual((yield* head(url)).status, 404)
    refusedByTus(yield* patch(url, 0, bytes.subarray(0, 1)), 404, "ERR_UPLOAD_NOT_FOUND")
    assert.deepStrictEqual((yield* statusOf(assembly)).tus_uploads, [])

    const { url: finished } = yield* createUpload(assembly, { "upload-length": "1" })
    yield* patch(finished, 0, bytes.subarray(0, 1))
    assert.strictEqual((yield* terminate(finished)).status, 204)
    assert.strictEqual((yield* head(finished)).status, 404)
    assert.strictEqual((yield* statusOf(assembly)).tus_uploads?.[0]?.finished, true)
  })
})

layer(layerEmulator())("A creation", (it) => {
  const missing = metadata({ assembly_url: "https://other.example/assemblies/1", filename: "a", fieldname: "b" })

  it.effect.each([
    [412, "ERR_UNSUPPORTED_VERSION", { "upload-length": "1", "tus-resumable": "0.2.0" }],
    [400, "ERR_INVALID_UPLOAD_LENGTH", {}],
    [400, "ERR_INVALID_UPLOAD_LENGTH", { "upload-length": "007" }],
    [400, "ERR_INVALID_UPLOAD_LENGTH", { "upload-length": "9223372036854775808" }],
    [400, "ERR_INVALID_UPLOAD_LENGTH", { "upload-length": "1", "upload-defer-length": "1" }],
    [400, "ERR_INVALID_UPLOAD_DEFER_LENGTH", { "upload-defer-length": "2" }],
    [400, "ERR_INVALID_METADATA", { "upload-length": "1", "upload-metadata": "filename" }],
    [400, "ERR_INVALID_CONCAT", { "upload-length": "1", "upload-concat": "part" }],
    [400, "ERR_INVALID_CONCAT", { "upload-concat": "final;" }],
    [404, "ERR_UPLOAD_NOT_FOUND", { "upload-concat": "final;/resumable/files/unknown" }],
    [400, "ERR_INVALID_UPLOAD_LENGTH", { "upload-length": "1", "upload-concat": "final;/resumable/files/a" }]
  ] as const)("is refused with %s", function* ([status, code, headers]) {
    const answer = yield* createUpload(yield* waiting, headers)
    refusedByTus(answer, status, code)
    assert.deepInclude(answer.headers, {
      "content-type": "text/plain; charset=utf-8",
      "tus-resumable": "1.0.0",
      "x-content-type-options": "nosniff"
    })
  })

  it.effect("is refused in the other form by the Assembly behind it", function* () {
    const unknown = yield* createUpload(yield* waiting, { "upload-length": "1", "upload-metadata": missing })
    assert.strictEqual(unknown.status, 404)
    assert.match(String(json(unknown)["error"]), /^ERR_ASSEMBLY_NOT_FOUND: /)
    assert.strictEqual(unknown.headers["content-type"], "text/plain; charset=utf-8")
  })

  it.effect("may have the greatest length", function* () {
    const { url } = yield* begin({ "upload-length": "9223372036854775807" })
    assert.strictEqual((yield* head(url)).headers["upload-length"], "9223372036854775807")
  })
})
