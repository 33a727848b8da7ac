import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { Upload, type UploadOptions } from "tus-js-client"
import * as Browser from "./browser.ts"
import { layer as layerEmulator, send } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const origin = "https://app.example"

const waiting = Assemblies.create({ numExpectedUploadFiles: 1 })

const idOf = ({ assembly_id }: Assembly.Status) => Assembly.AssemblyId.make(assembly_id)

const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251))

/** Uploads from a page with `tus-js-client`. Returns the URL of the upload and the number of preflights. */
const upload = (assembly: Assembly.Status, options: UploadOptions = {}) =>
  Effect.callback<{ readonly url: string; readonly asked: number }, Error>((resume) => {
    const { asked, httpStack } = Browser.make(origin)
    const metadata = { assembly_url: assembly.assembly_ssl_url ?? "", filename: "a.bin", fieldname: "file" }
    const running = new Upload(bytes, {
      endpoint: assembly.tus_url ?? "",
      metadata,
      metadataForPartialUploads: metadata,
      retryDelays: [0],
      httpStack,
      ...options,
      onSuccess: () => resume(Effect.succeed({ url: running.url ?? "", asked: asked() })),
      onError: (error) => resume(Effect.fail(error))
    })
    running.start()
    return Effect.promise(() => running.abort())
  })

const completed = Effect.fnUntraced(function* (assembly: Assembly.Status) {
  const status = yield* Assemblies.get(idOf(assembly))
  assert.deepInclude(status.uploads?.[0], { size: bytes.length })
  assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
})

layer(layerEmulator())("A page of another origin", (it) => {
  it.effect.each([
    ["in one request", {}, 2],
    ["in chunks", { chunkSize: 70_000 }, 6],
    ["with the creation", { uploadDataDuringCreation: true }, 1],
    ["in parts", { parallelUploads: 2 }, 5],
    ["of a length that is told last", { uploadLengthDeferred: true, chunkSize: 200_000 }, 3]
  ] as const)("uploads with tus-js-client %s", function* ([, options, requests]) {
    const assembly = yield* waiting
    const { asked } = yield* upload(assembly, options)
    // Every tus request needs a preflight.
    assert.strictEqual(asked, requests)
    yield* completed(assembly)
  })

  it.effect("creates an Assembly with the header in which Uppy names itself", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const { fetch } = Browser.make(origin)
    const refused = yield* Effect.promise(() =>
      fetch(`${baseUrl}/assemblies`, { method: "POST", headers: { "transloadit-client": "uppy-core:6" } })
    )
    // The page can read the response, so the preflight permitted the header.
    assert.strictEqual(refused.status, 400)
  })

  it.effect("reads why it was refused", function* () {
    const refused = yield* Effect.flip(upload(yield* waiting, { metadata: {}, retryDelays: [] }))
    assert.match(refused.message, /ERR_INVALID_METADATA/)
  })

  it.effect("follows an Assembly by its Status and its updates, and cancels it", function* () {
    const { fetch } = Browser.make(origin)
    const status = yield* waiting
    const inPage = Effect.provideService(FetchHttpClient.Fetch, fetch)
    assert.strictEqual((yield* inPage(Assemblies.get(idOf(status)))).ok, "ASSEMBLY_UPLOADING")
    const updates = yield* Effect.promise(() => fetch(status.update_stream_url ?? ""))
    assert.strictEqual(updates.headers.get("content-type"), "text/event-stream")
    assert.strictEqual((yield* inPage(Assemblies.cancel(idOf(status)))).ok, "ASSEMBLY_CANCELED")
    assert.include(yield* Effect.promise(() => updates.text()), "assembly_finished")
  })

  it.effect("gets nothing that it did not ask for", function* () {
    const { headers } = yield* send(HttpClientRequest.options("/resumable/files/"))
    assert.notProperty(headers, "access-control-allow-origin")
    assert.notProperty(headers, "access-control-allow-headers")
  })
})
