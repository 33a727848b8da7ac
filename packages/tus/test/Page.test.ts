/**
 * Uploads in a page of Chromium on plain http, as far as Node can play one: streamed bodies fail over HTTP/1.1, and
 * `crypto` has neither `subtle` nor `randomUUID`. The real browsers are in `scripts/runtimes`.
 */
import { UploadEvent, UploadJournal, UploadSource } from "@assembly-effect/tus"
import { WebCrypto } from "effect/crypto"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { afterAll, assert, beforeAll, layer, vi, Scene, TusServer, Upload } from "./utils/index.ts"

const { crypto, fetch } = globalThis

const fetchOfHttp1: typeof fetch = async (input, init) => {
  if (init?.body instanceof ReadableStream) throw new TypeError("Failed to fetch")
  return fetch(input, init)
}

const insecure = new Proxy(crypto, {
  get: (real, name) => (name === "getRandomValues" ? real.getRandomValues.bind(real) : undefined)
})

const page = Layer.mergeAll(
  FetchHttpClient.layer,
  Layer.succeed(FetchHttpClient.Fetch, fetchOfHttp1),
  WebCrypto.layer(insecure)
)

beforeAll(() => {
  // A file before this one may have asked for the default, which Effect keeps.
  Reflect.deleteProperty(Upload.CanStream, "~effect/Context/defaultValue")
  vi.stubGlobal("navigator", { appCodeName: "Mozilla" })
})

afterAll(() => {
  Reflect.deleteProperty(Upload.CanStream, "~effect/Context/defaultValue")
  vi.unstubAllGlobals()
})

const bytes = Scene.content(1024 * 1024)
const { metadata } = Scene.options

layer(page)("in a page", (it) => {
  it.effect.each(Object.entries(Scene.kinds(bytes)))("%s arrives in slices", function* ([, source]) {
    const { server, target } = yield* Scene.make()
    const events = yield* Stream.runCollect(Upload.events(target, source(), { metadata, maxRetries: 0 }))
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
    const progress = events.filter(UploadEvent.$is("Progress"))
    assert.isAbove(progress.length, 1)
    for (const { acknowledged, sent } of progress) assert.strictEqual(sent, acknowledged)
  })

  it.effect("a journal is refused when its Layer is built", function* () {
    const layers = [UploadJournal.layerMemory(), UploadJournal.layerStore(Effect.die("a store that no journal is for"))]
    for (const journal of layers) {
      const error = yield* Layer.build(journal).pipe(Effect.scoped, Effect.flip)
      const message =
        "the upload journal: cannot write: crypto.subtle is unavailable; serve the page over https or from localhost"
      assert.strictEqual(error.message, message)
    }
  })

  it.effect("a checksum is refused before anything is sent", function* () {
    const { server, target } = yield* Scene.make()
    const source = UploadSource.fromBytes(bytes)
    const error = yield* Effect.flip(Upload.run(target, source, { metadata, checksum: "sha256" }))
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.include(error.message, "checksum: Expected no checksum: crypto.subtle is unavailable")
    assert.isEmpty(server.log)
  })

  it.effect("an application may stream all the same", function* () {
    const { target } = yield* Scene.make()
    const error = yield* Upload.run(target, UploadSource.fromBytes(bytes), { metadata, maxRetries: 0 }).pipe(
      Effect.provideService(Upload.CanStream, true),
      Effect.flip
    )
    assert.strictEqual(error._tag, "TransportFailure")
  })
})
