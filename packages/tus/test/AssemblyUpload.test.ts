import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadEvent, DeliveryProof, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { assert, layer, AssemblyUpload, Clients, Emulated, Scene, Tests } from "./utils/index.ts"

const platform = Layer.mergeAll(Emulator.layer(), Clients.undici, NodeFileSystem.layer)

const params = { steps: { ":original": { robot: "/upload/handle" } } }
const upload = { retryDelay: "1 millis", maxRetries: 1 } as const
const wait = { interval: "10 millis", timeout: "20 seconds" } as const

const bytesOf = (size: number) => UploadSource.fromBytes(Scene.content(size))
const file = (filename: string, size: number): AssemblyUpload.File => ({ source: bytesOf(size), filename })

const broken: AssemblyUpload.File = {
  source: UploadSource.fromStream(Stream.concat(Stream.make(new Uint8Array(400_000)), Stream.fail("a broken disk")), {
    size: 10n ** 7n
  }),
  filename: "broken.bin"
}

/** The events of a job, and its error. */
const told = Effect.fnUntraced(function* <R = never>(options: AssemblyUpload.Options<R>) {
  const events: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
  const run = Stream.runForEach(AssemblyUpload.events(options), (event) => Effect.sync(() => events.push(event)))
  return { events, error: Option.getOrUndefined(yield* Effect.option(Effect.flip(run))) }
})

const streamOf = (size: number) => UploadSource.fromStream(Stream.make(new Uint8Array(size)))
const filesOf = (...sources: ReadonlyArray<UploadSource.UploadSource>) =>
  sources.map((source, index) => ({ source, filename: `${index}.bin` }))

const started = (events: ReadonlyArray<AssemblyUploadEvent.AssemblyUploadEvent>) => {
  const event = events.find(AssemblyUploadEvent.$is("AssemblyCreated"))
  return Assembly.AssemblyId.make(event?.status.assembly_id ?? "")
}

layer(Layer.provideMerge(Emulated.client, platform))("AssemblyUpload", (it) => {
  it.effect("a file that fails for good cancels the Assembly, and every outcome is told", function* () {
    const files = [file("a.bin", 10), broken, file("never.bin", 10)]
    const { error, events } = yield* told({ params, files, upload, wait, concurrency: 1 })
    assert(error?._tag === "FilesFailed", error?._tag)
    assert.strictEqual(error.assembly, "canceled")
    assert.deepStrictEqual(Tests.pluck(error.files, "outcome"), ["Completed", "Failed", "Stopped"])
    assert.include(error.message, "a broken disk")
    const failed = events.find(AssemblyUploadEvent.$is("FileFailed"))
    assert.deepStrictEqual([failed?.file, failed?.error._tag], [1, "SourceFailed"])
    assert.strictEqual(Assembly.state(yield* Assemblies.get(started(events))), "Canceled")
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

  it.effect("creates nothing for a source that cannot be read", function* () {
    const unreadable = { source: UploadSource.fromPath("/nowhere/at/all"), filename: "a" }
    const { error, events } = yield* told({ params, files: [file("a.bin", 10), unreadable] })
    assert.strictEqual(error?._tag, "SourceFailed")
    assert.deepStrictEqual(events, [])
  })

  for (const cancelOnInterrupt of [true, false]) {
    it.effect(`leaving it ${cancelOnInterrupt ? "cancels" : "keeps"} the Assembly`, function* () {
      const never: AssemblyUpload.File = {
        source: UploadSource.fromStream(Stream.concat(Stream.make(new Uint8Array(10)), Stream.never)),
        filename: "never.bin"
      }
      const seen = yield* AssemblyUpload.events({ params, files: [never], upload, cancelOnInterrupt }).pipe(
        Stream.takeUntil(AssemblyUploadEvent.$is("AssemblyCreated")),
        Stream.runCollect
      )
      const state = Assembly.state(yield* Assemblies.get(started(seen)))
      assert.strictEqual(state, cancelOnInterrupt ? "Canceled" : "Busy")
    })
  }

  it.effect("its files are uploaded 4 at a time by default", function* () {
    const gates: Array<Deferred.Deferred<Uint8Array>> = []
    const held = Effect.suspend(() => {
      const gate = Deferred.makeUnsafe<Uint8Array>()
      gates.push(gate)
      return Deferred.await(gate)
    })
    const files = filesOf(...Array.from({ length: 9 }, () => UploadSource.fromStream(Stream.fromEffect(held))))
    const fiber = yield* Effect.forkChild(AssemblyUpload.run({ params, files, wait }))
    // Each file is released after 4 have started, and the next one starts after the requests of the released one.
    for (let released = 0; released < 9; released++) {
      const expected = Math.min(9, released + 4)
      yield* Scene.soon(() => gates.length >= expected)
      assert.strictEqual(gates.length, expected)
      yield* Deferred.succeed(gates[released] ?? assert.fail("no file"), new Uint8Array(1))
    }
    yield* Fiber.join(fiber)
    assert.strictEqual(gates.length, 9)
  })

  it.effect("its files have a total if each of them has a size, and else none", function* () {
    for (const [sources, total] of [
      [[bytesOf(1000), bytesOf(500)], 1500n],
      [[bytesOf(1000), streamOf(500)], undefined],
      [[streamOf(500)], undefined]
    ] as const) {
      const { events } = yield* told({ params, files: filesOf(...sources), wait })
      const progress = events.filter(AssemblyUploadEvent.$is("Progress"))
      for (const event of progress) assert.strictEqual(event.total, total)
      assert.strictEqual(progress.at(-1)?.acknowledged, sources.length === 1 ? 500n : 1500n)
    }
  })

  it.effect("its files are waited for as the job says", function* () {
    const steps = { ...params.steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 } }
    const brief = { interval: "10 millis", timeout: "100 millis" } as const
    const error = yield* Effect.flip(AssemblyUpload.run({ params: { steps }, files: filesOf(bytesOf(1)), wait: brief }))
    assert.strictEqual(error._tag, "TimedOut")
  })

  it.effect("its files have the names that the job says, whatever their metadata", function* () {
    const source = bytesOf(1)
    const metadata = { filename: "other.bin", fieldname: "other", note: "kept" }
    const files = [{ source, filename: "mine.bin", fieldname: "mine", metadata }]
    const { uploads } = yield* AssemblyUpload.run({ params, files, wait })
    assert.deepInclude(uploads?.[0], { name: "mine.bin", field: "mine" })
  })

  it.effect("its files are told to progress no more often than the job says", function* () {
    const job = { params, files: filesOf(bytesOf(2_000_000)), wait, upload: { chunkSize: 50_000 } }
    const often = yield* told({ ...job, progressInterval: 0 })
    assert.isAbove(often.events.filter(AssemblyUploadEvent.$is("Progress")).length, 20)
    // The first one, and the last one before `Uploaded`.
    const many = { ...job, files: filesOf(...Array.from({ length: 12 }, () => bytesOf(1000))), upload: {} }
    const seldom = yield* told({ ...many, progressInterval: "1 hour" })
    const sums = seldom.events.filter(AssemblyUploadEvent.$is("Progress"))
    assert.deepStrictEqual([sums.length, sums[1]?.acknowledged], [2, 12_000n])
  })

  it.effect("its files are proven by their upload URLs, if the service gives them other names", function* () {
    const renaming = Clients.retelling(yield* HttpClient.HttpClient, (text) =>
      text.replaceAll('"name":"mine.bin"', '"name":"renamed.bin"')
    )
    const job = { params, files: [{ source: bytesOf(10), filename: "mine.bin" }], wait, verify: DeliveryProof.md5 }
    const { uploads } = yield* Effect.provide(AssemblyUpload.run(job), Emulated.over(renaming))
    assert.strictEqual(uploads?.[0]?.name, "renamed.bin")
  })
})
