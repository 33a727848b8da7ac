/** The files of one Assembly: how many are uploaded at once, and what a program is told of them. */
import { type AssemblyUploadEvent, DeliveryProof, UploadSource } from "@assembly-effect/tus"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { AssemblyUpload, Emulated } from "./utils/index.ts"

const params = { steps: { ":original": { robot: "/upload/handle" } } }
const wait = { interval: "10 millis" } as const

const bytesOf = (size: number) => UploadSource.fromBytes(new Uint8Array(size))
const streamOf = (size: number) => UploadSource.fromStream(Stream.make(new Uint8Array(size)))
const filesOf = (...sources: ReadonlyArray<UploadSource.UploadSource>) =>
  sources.map((source, index) => ({ source, filename: `${index}.bin` }))

/** The events of a job, and its end. */
const told = Effect.fnUntraced(function* (options: AssemblyUpload.Options) {
  const events: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
  const exit = yield* AssemblyUpload.events(options).pipe(
    Stream.runForEach((event) => Effect.sync(() => events.push(event))),
    Effect.exit
  )
  return { events, exit }
})

const turn = Effect.promise(() => new Promise((done) => setImmediate(done)))
const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : Effect.andThen(turn, until(isSo))))

layer(Emulated.live)("the files of an Assembly", (it) => {
  it.effect("are uploaded 4 at a time by default", function* () {
    const started: Array<Deferred.Deferred<void>> = []
    const held = () =>
      UploadSource.fromStream(
        Stream.fromEffect(
          Effect.suspend(() => {
            const gate = Deferred.makeUnsafe<void>()
            started.push(gate)
            return Effect.as(Deferred.await(gate), new Uint8Array(1))
          })
        )
      )
    const files = filesOf(...Array.from({ length: 9 }, held))
    const fiber = yield* Effect.forkChild(AssemblyUpload.run({ params, files, wait }))
    // Each file is released after 4 have started, and the next one starts after the requests of the released one.
    for (let released = 0; released < 9; released++) {
      const expected = Math.min(9, released + 4)
      yield* until(() => started.length >= expected)
      assert.strictEqual(started.length, expected)
      yield* Deferred.succeed(started[released] ?? assert.fail("no file"), undefined)
    }
    yield* Fiber.join(fiber)
    assert.strictEqual(started.length, 9)
  })

  it.effect("have a total if each of them has a size, and else none", function* () {
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

  it.effect("are waited for as the job says", function* () {
    const steps = { ...params.steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 } }
    const brief = { interval: "10 millis", timeout: "100 millis" } as const
    const error = yield* Effect.flip(AssemblyUpload.run({ params: { steps }, files: filesOf(bytesOf(1)), wait: brief }))
    assert.strictEqual(error._tag, "TimedOut")
  })

  it.effect("have the names that the job says, whatever their metadata", function* () {
    const source = bytesOf(1)
    const metadata = { filename: "other.bin", fieldname: "other", note: "kept" }
    const files = [{ source, filename: "mine.bin", fieldname: "mine", metadata }]
    const { uploads } = yield* AssemblyUpload.run({ params, files, wait })
    const [file] = uploads ?? []
    assert.deepStrictEqual([file?.name, file?.field], ["mine.bin", "mine"])
  })

  it.effect("are told to progress no more often than the job says", function* () {
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

  it.effect("are proven by their upload URLs, if the service gives them other names", function* () {
    const renaming = HttpClient.transform(yield* HttpClient.HttpClient, (sent, request) =>
      Effect.flatMap(sent, (response) =>
        request.method !== "GET"
          ? Effect.succeed(response)
          : Effect.map(response.text, (text) => {
              const renamed = text.replaceAll('"name":"mine.bin"', '"name":"renamed.bin"')
              const { status } = response
              const headers = { "content-type": "application/json" }
              return HttpClientResponse.fromWeb(request, new Response(renamed, { status, headers }))
            })
      )
    )
    const job = { params, files: [{ source: bytesOf(10), filename: "mine.bin" }], wait, verify: DeliveryProof.md5 }
    const { uploads } = yield* Effect.provide(AssemblyUpload.run(job), Emulated.over(renaming))
    assert.strictEqual(uploads?.[0]?.name, "renamed.bin")
  })
})
