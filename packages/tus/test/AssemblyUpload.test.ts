import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadEvent, DeliveryProof, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
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

/** The events of a job, and its error. */
const told = Effect.fnUntraced(function* <R = never>(options: AssemblyUpload.Options<R>) {
  const events: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
  const run = Stream.runForEach(AssemblyUpload.events(options), (event) => Effect.sync(() => events.push(event)))
  return { events, error: Option.getOrUndefined(yield* Effect.option(Effect.flip(run))) }
})

const bytesOf = (size: number) => UploadSource.fromBytes(new Uint8Array(size))
const streamOf = (size: number) => UploadSource.fromStream(Stream.make(new Uint8Array(size)))
const filesOf = (...sources: ReadonlyArray<UploadSource.UploadSource>) =>
  sources.map((source, index) => ({ source, filename: `${index}.bin` }))

const turn = Effect.promise(() => new Promise((done) => setImmediate(done)))
const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : Effect.andThen(turn, until(isSo))))

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

  it.effect("or leaves it, if asked, and finishes the other files", function* () {
    const files = [broken, file("a.bin", 10)]
    const { error, events } = yield* told({ params, files, upload, onFailure: "keep", concurrency: 1 })
    assert.deepInclude(error, { _tag: "FilesFailed", assembly: "kept" })
    assert.isTrue(events.some(AssemblyUploadEvent.$is("FileCompleted")))
    assert.strictEqual(Assembly.state(yield* Assemblies.get(started(events))), "Busy")
  })

  it.effect("creates nothing for a source that cannot be read, or a file without a name", function* () {
    for (const bad of [
      { source: UploadSource.fromPath("/nowhere/at/all"), filename: "a" },
      { source: UploadSource.fromBytes(new Uint8Array(1)), filename: "" }
    ]) {
      const { error, events } = yield* told({ params, files: [file("a.bin", 10), bad] })
      assert.include(["SourceFailed", "InvalidRequest"], error?._tag)
      assert.deepStrictEqual(events, [])
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

  it.effect("its files are uploaded 4 at a time by default", function* () {
    const gates: Array<Deferred.Deferred<void>> = []
    const held = () =>
      UploadSource.fromStream(
        Stream.fromEffect(
          Effect.suspend(() => {
            const gate = Deferred.makeUnsafe<void>()
            gates.push(gate)
            return Effect.as(Deferred.await(gate), new Uint8Array(1))
          })
        )
      )
    const files = filesOf(...Array.from({ length: 9 }, held))
    const fiber = yield* Effect.forkChild(AssemblyUpload.run({ params, files, wait }))
    // Each file is released after 4 have started, and the next one starts after the requests of the released one.
    for (let released = 0; released < 9; released++) {
      const expected = Math.min(9, released + 4)
      yield* until(() => gates.length >= expected)
      assert.strictEqual(gates.length, expected)
      yield* Deferred.succeed(gates[released] ?? assert.fail("no file"), undefined)
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
      const progress = events.flatMap((event) => (event._tag === "Progress" ? [event] : []))
      assert.isAbove(progress.length, 0)
      for (const event of progress) assert.strictEqual(event.total, total)
      const expected = sources.length === 1 ? 500n : 1500n
      assert.strictEqual(progress.at(-1)?.acknowledged, expected)
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
    const files = filesOf(bytesOf(2_000_000))
    const counts = yield* Effect.forEach([0, "1 hour"] as const, (progressInterval) =>
      Effect.map(
        told({ params, files, wait, upload: { chunkSize: 50_000 }, progressInterval }),
        ({ events }) => events.filter(({ _tag }) => _tag === "Progress").length
      )
    )
    const [all = 0, few = 0] = counts
    assert.isAbove(all, 20)
    // The first one, and those that were late and come before another event.
    assert.isBelow(few, 10)
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

const onLocalhost = Emulated.clientAt((baseUrl) => baseUrl.replace("127.0.0.1", "localhost"))

layer(Layer.provideMerge(onLocalhost, platform))("A service on localhost", (it) => {
  it.effect("may name its address in its answers", function* () {
    const events = yield* Stream.runCollect(AssemblyUpload.events({ params, files: [file("a.bin", 700_000)], wait }))
    const status = events.find(AssemblyUploadEvent.$is("AssemblyCreated"))?.status
    assert.match(status?.tus_url ?? "", /^http:\/\/127\.0\.0\.1:/)
    assert.strictEqual(events.at(-1)?._tag, "Completed")
  })
})
