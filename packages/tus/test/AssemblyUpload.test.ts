import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { AssemblyUploadEvent, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { AssemblyUpload, Clients, Emulated, Scene, Tests } from "./utils/index.ts"

const platform = Layer.mergeAll(Emulator.layer(), Clients.undici, NodeFileSystem.layer)

const params = { steps: { ":original": { robot: "/upload/handle" } } }
const upload = { retryDelay: "1 millis", maxRetries: 1 } as const
const wait = { interval: "10 millis", timeout: "20 seconds" } as const

const file = (name: string, size: number): AssemblyUpload.File => ({
  source: UploadSource.fromBytes(Scene.content(size)),
  filename: name
})

const broken: AssemblyUpload.File = {
  source: UploadSource.fromStream(Stream.concat(Stream.make(new Uint8Array(400_000)), Stream.fail("a broken disk")), {
    size: 10n ** 7n
  }),
  filename: "broken.bin"
}

const started = (events: ReadonlyArray<AssemblyUploadEvent.AssemblyUploadEvent>) => {
  const event = events.find(AssemblyUploadEvent.$is("AssemblyCreated"))
  return Assembly.AssemblyId.make(event?.status.assembly_id ?? "")
}

layer(Layer.provideMerge(Emulated.client, platform))("AssemblyUpload", (it) => {
  it.effect("a file that fails for good cancels the Assembly, and every outcome is told", function* () {
    const seen: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
    const error = yield* AssemblyUpload.events({
      params,
      files: [file("a.bin", 10), broken, file("never.bin", 10)],
      upload,
      wait,
      concurrency: 1
    }).pipe(
      Stream.runForEach((event) => Effect.sync(() => seen.push(event))),
      Effect.flip
    )
    assert.strictEqual(error._tag, "FilesFailed")
    if (error._tag !== "FilesFailed") return
    assert.strictEqual(error.assembly, "canceled")
    assert.deepStrictEqual(Tests.pluck(error.files, "outcome"), ["Completed", "Failed", "Stopped"])
    assert.include(error.message, "a broken disk")
    const failed = seen.find(AssemblyUploadEvent.$is("FileFailed"))
    assert.deepStrictEqual([failed?.file, failed?.error._tag], [1, "SourceFailed"])
    assert.strictEqual(Assembly.state(yield* Assemblies.get(started(seen))), "Canceled")
  })

  it.effect("a new Assembly that has completed before its first file: DeliveryMismatch, no request", function* () {
    const requests: Array<string> = []
    const hasty = HttpClient.make((request) => {
      requests.push(request.method)
      const id = /[0-9a-f]{32}/.exec(request.url)?.[0]
      const body = { ok: "ASSEMBLY_COMPLETED", assembly_id: id, uploads: [], results: {} }
      return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body)))
    })
    const error = yield* Effect.flip(AssemblyUpload.run({ params, files: [file("a.bin", 10)], upload, wait })).pipe(
      Effect.provide(Emulated.over(hasty))
    )
    assert.deepInclude(error, { _tag: "DeliveryMismatch", filename: "a.bin", field: "upload" })
    assert.deepStrictEqual(requests, ["POST"])
  })

  it.effect("or leaves it, if asked, and finishes the other files", function* () {
    const seen: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
    const error = yield* AssemblyUpload.events({
      params,
      files: [broken, file("a.bin", 10)],
      upload,
      onFailure: "keep",
      concurrency: 1
    }).pipe(
      Stream.runForEach((event) => Effect.sync(() => seen.push(event))),
      Effect.flip
    )
    assert.deepInclude(error, { _tag: "FilesFailed", assembly: "kept" })
    assert.isTrue(seen.some(AssemblyUploadEvent.$is("FileCompleted")))
    assert.strictEqual(Assembly.state(yield* Assemblies.get(started(seen))), "Busy")
  })

  it.effect("creates nothing for a source that cannot be read, or a file without a name", function* () {
    for (const bad of [
      { source: UploadSource.fromPath("/nowhere/at/all"), filename: "a" },
      { source: UploadSource.fromBytes(new Uint8Array(1)), filename: "" }
    ]) {
      const seen: Array<string> = []
      const error = yield* AssemblyUpload.events({ params, files: [file("a.bin", 10), bad] }).pipe(
        Stream.runForEach(({ _tag }) => Effect.sync(() => seen.push(_tag))),
        Effect.flip
      )
      assert.include(["SourceFailed", "InvalidRequest"], error._tag)
      assert.deepStrictEqual(seen, [])
    }
  })

  for (const cancelOnInterrupt of [true, false]) {
    it.effect(`leaving it ${cancelOnInterrupt ? "cancels" : "keeps"} the Assembly`, function* () {
      const seen: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
      const never: AssemblyUpload.File = {
        source: UploadSource.fromStream(Stream.concat(Stream.make(new Uint8Array(10)), Stream.never)),
        filename: "never.bin"
      }
      yield* AssemblyUpload.events({ params, files: [never], upload, cancelOnInterrupt }).pipe(
        Stream.tap((event) => Effect.sync(() => seen.push(event))),
        Stream.takeUntil(AssemblyUploadEvent.$is("AssemblyCreated")),
        Stream.runDrain
      )
      const state = Assembly.state(yield* Assemblies.get(started(seen)))
      assert.strictEqual(state, cancelOnInterrupt ? "Canceled" : "Busy")
    })
  }
})

const onLocalhost = Emulated.clientAt((baseUrl) => baseUrl.replace("127.0.0.1", "localhost"))

layer(Layer.provideMerge(onLocalhost, platform))("A service on localhost", (it) => {
  it.effect("may name its address in its answers", function* () {
    const events = yield* Stream.runCollect(AssemblyUpload.events({ params, files: [file("a.bin", 700_000)], wait }))
    const status = events.find(AssemblyUploadEvent.$is("AssemblyCreated"))?.status
    assert.match(status?.tus_url ?? "", /^http:\/\/127\.0\.0\.1:/)
    assert.strictEqual(events.at(-1)?._tag, "Completed")
  })
})
