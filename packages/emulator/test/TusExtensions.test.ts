import { Assemblies } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { createHash } from "node:crypto"
import {
  createUpload,
  encoded as text,
  head,
  layer as layerEmulator,
  patch,
  send,
  statusOf,
  storeAt,
  uploadOne,
  waiting
} from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const refused = (answer: { readonly status: number; readonly text: string }, status: number, code: string) => {
  assert.strictEqual(answer.status, status)
  assert.include(answer.text, `${code}: `)
}

/** Creates a finished partial upload with this content. Returns its URL. */
const part = Effect.fnUntraced(function* (assembly: Assembly.Status, content: string) {
  const headers = { "upload-concat": "partial", "upload-length": String(content.length) }
  const url = (yield* createUpload(assembly, headers)).url
  if (content !== "") yield* patch(url, 0, text(content))
  return url
})

const final = (assembly: Assembly.Status, urls: ReadonlyArray<string>) =>
  createUpload(assembly, { "upload-concat": `final;${urls.join(" ")}` })

/** Creates an Assembly whose uploads may have at most 10 bytes. */
const limited = Assemblies.create({ auth: { maxSize: 10 }, numExpectedUploadFiles: 1 })

layer(layerEmulator())("Parts", (it) => {
  it.effect("are no files of the Assembly, and become one in the order of the final creation", function* () {
    const assembly = yield* waiting
    const [second, empty, first] = yield* Effect.all([
      part(assembly, "world"),
      part(assembly, ""),
      part(assembly, "hello, ")
    ])
    const before = yield* statusOf(assembly)
    assert.deepInclude(before, { ok: "ASSEMBLY_UPLOADING", started_tus_uploads: 0, tus_uploads: [] })

    const concat = `final;${first} ${empty} ${new URL(second).pathname}`
    const created = yield* createUpload(assembly, { "upload-concat": concat })
    assert.strictEqual(created.status, 201)
    assert.strictEqual(created.headers["upload-offset"], "12")
    const url = created.url
    assert.deepInclude((yield* head(url)).headers, { "upload-concat": concat, "upload-length": "12" })
    assert.strictEqual((yield* head(first)).headers["upload-concat"], "partial")
    const done = yield* statusOf(assembly)
    const sha256 = createHash("sha256").update("hello, world").digest("hex")
    assert.deepInclude(done, { ok: "ASSEMBLY_COMPLETED", finished_tus_uploads: 1 })
    assert.deepInclude(done.uploads?.[0], { size: 12, sha256 })
    refused(yield* patch(url, 12, text("!")), 403, "ERR_MODIFY_FINAL")
  })

  it.effect("are put together only when all are finished, and of the same Assembly", function* () {
    const [assembly, other] = yield* Effect.all([waiting, waiting])
    const mine = yield* part(assembly, "mine")
    const foreign = yield* part(other, "foreign")
    const whole = (yield* createUpload(assembly, { "upload-length": "5" })).url
    const begun = (yield* createUpload(assembly, { "upload-length": "5", "upload-concat": "partial" })).url
    refused(yield* final(assembly, [mine, foreign]), 404, "ERR_UPLOAD_NOT_FOUND")
    refused(yield* final(assembly, [mine, whole]), 404, "ERR_UPLOAD_NOT_FOUND")
    refused(yield* final(assembly, [mine, begun]), 400, "ERR_UPLOAD_NOT_FINISHED")
    const elsewhere = `https://other.example${new URL(mine).pathname}`
    refused(yield* final(assembly, [elsewhere]), 404, "ERR_UPLOAD_NOT_FOUND")
    assert.strictEqual((yield* statusOf(assembly)).ok, "ASSEMBLY_UPLOADING")
  })
})

layer(layerEmulator())("auth.max_size", (it) => {
  it.effect("ends the Assembly of a larger upload when it starts", function* () {
    const assembly = yield* limited
    assert.strictEqual((yield* createUpload(assembly, { "upload-length": "10" })).status, 201)
    refused(yield* createUpload(assembly, { "upload-length": "11" }), 413, "ERR_MAX_SIZE_EXCEEDED")
    assert.strictEqual((yield* statusOf(assembly)).error, "MAX_SIZE_EXCEEDED")
    const later = yield* createUpload(assembly, { "upload-length": "1" })
    refused(later, 403, "ERR_ASSEMBLY_NOT_UPLOADING")
  })

  it.effect("holds for a length that is told later, for one that is never told, and for parts together", function* () {
    const deferred = { "upload-defer-length": "1" }
    const told = yield* limited
    const first = (yield* createUpload(told, deferred)).url
    refused(yield* patch(first, 0, text("x"), { "upload-length": "11" }), 413, "ERR_MAX_SIZE_EXCEEDED")
    assert.strictEqual((yield* statusOf(told)).error, "MAX_SIZE_EXCEEDED")

    const untold = yield* limited
    const second = (yield* createUpload(untold, deferred)).url
    assert.strictEqual((yield* patch(second, 0, text("0123456789"))).status, 204)
    refused(yield* patch(second, 10, text("x")), 413, "ERR_MAX_SIZE_EXCEEDED")
    assert.strictEqual((yield* statusOf(untold)).error, "MAX_SIZE_EXCEEDED")

    const parts = yield* limited
    const urls = yield* Effect.all([part(parts, "012345"), part(parts, "678901")])
    refused(yield* final(parts, urls), 413, "ERR_MAX_SIZE_EXCEEDED")
    assert.strictEqual((yield* statusOf(parts)).error, "MAX_SIZE_EXCEEDED")
  })
})

layer(layerEmulator())("A download", (it) => {
  it.effect("gives the bytes of a finished upload, to keep and not to show", function* () {
    const status = yield* uploadOne({ steps: storeAt("kept.txt") }, text("hello"))
    const answer = yield* send(HttpClientRequest.get(String(status.tus_uploads?.[0]?.upload_url)))
    assert.strictEqual(answer.text, "hello")
    assert.deepInclude(answer.headers, {
      "content-length": "5",
      "content-disposition": "attachment; filename*=UTF-8''a%20file.txt",
      "x-content-type-options": "nosniff"
    })
    assert.match(answer.headers["content-type"] ?? "", /^text\/plain/)
  })

  it.effect("is refused before the upload is finished, and where none is", function* () {
    const assembly = yield* waiting
    const url = (yield* createUpload(assembly, { "upload-length": "5" })).url
    refused(yield* send(HttpClientRequest.get(url)), 400, "ERR_UPLOAD_NOT_FINISHED")
    refused(yield* send(HttpClientRequest.get("/resumable/files/none")), 404, "ERR_UPLOAD_NOT_FOUND")
  })
})
