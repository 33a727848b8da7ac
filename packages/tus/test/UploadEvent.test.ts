/**
 * The JSON form of events: what a page may read of an upload, and what it must not.
 */
import { ApiError } from "@assembly-effect/api"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { AssemblyUpload, AssemblyUploadEvent, TusError, UploadEvent, UploadSource } from "@assembly-effect/tus"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Events from "../src/internal/events.ts"
import { assert, describe, effect, layer, Clients, Scene, Upload } from "./utils/index.ts"

const secret = "s3cr3t"

const capability = Effect.gen(function* () {
  const target = yield* UploadTarget.make({
    tusUrl: "https://tus.example.com/",
    assemblySslUrl: "https://api.example.com/assemblies/1"
  })
  return yield* Effect.fromResult(UploadTarget.resolve(target, `/resumable/files/${secret}`))
})

const roundTrip = <A>(json: Schema.Codec<A, string>, event: A) =>
  Effect.gen(function* () {
    const text = yield* Schema.encodeEffect(json)(event)
    return { text, decoded: yield* Schema.decodeEffect(json)(text) }
  })

describe("The JSON form of an event", () => {
  effect("of an upload has sizes as text, and no upload URL", function* () {
    const url = yield* capability
    const sizes = { sent: 2n ** 60n, acknowledged: 1n, total: 2n ** 62n }
    const events: ReadonlyArray<readonly [UploadEvent.UploadEvent, string]> = [
      [UploadEvent.Created({ url, length: undefined }), '"Created","length":null'],
      [
        UploadEvent.Progress(sizes),
        '"Progress","sent":"1152921504606846976","acknowledged":"1","total":"4611686018427387904"'
      ],
      [
        UploadEvent.Retrying({ attempt: 1, delay: Duration.millis(250), reason: "gone" }),
        '"Retrying","attempt":1,"delay":250,"reason":"gone"'
      ],
      [UploadEvent.Completed({ url, length: 5n }), '"Completed","length":"5"']
    ]
    for (const [event, text] of events) {
      const { url: _, ...decoded } = { url, ...event }
      assert.deepStrictEqual<unknown>(yield* roundTrip(UploadEvent.Json, event), { text: `{"_tag":${text}}`, decoded })
    }
  })

  effect("of a job has neither the id nor an address of the Assembly, nor upload URLs", function* () {
    const url = yield* capability
    const status = {
      ok: "ASSEMBLY_COMPLETED",
      assembly_id: AssemblyId.make("a".repeat(32)),
      assembly_ssl_url: `https://api.example.com/assemblies/${secret}`,
      tus_url: `https://api.example.com/${secret}/`,
      websocket_url: `https://ws.example.com/${secret}`,
      update_stream_url: `https://ws.example.com/${secret}`,
      tus_uploads: [{ upload_url: `https://tus.example.com/${secret}` }],
      uploads: [{ name: "a.bin", tus_upload_url: `https://tus.example.com/${secret}` }],
      results: { ":original": [{ ssl_url: "https://cdn.example.com/a.bin", size: 5 }] },
      another: secret
    }
    const events: ReadonlyArray<AssemblyUploadEvent.AssemblyUploadEvent> = [
      AssemblyUploadEvent.AssemblyCreated({ status }),
      AssemblyUploadEvent.AssemblyResumed({ status }),
      AssemblyUploadEvent.FileEvent({ file: 0, event: UploadEvent.Created({ url, length: 5n }) }),
      AssemblyUploadEvent.Uploaded({ assemblyId: status.assembly_id }),
      AssemblyUploadEvent.Completed({ status })
    ]
    for (const event of events) {
      const { text } = yield* roundTrip(AssemblyUploadEvent.Json, event)
      assert.notInclude(text, secret)
      assert.notInclude(text, status.assembly_id)
    }
    const { decoded } = yield* roundTrip(AssemblyUploadEvent.Json, AssemblyUploadEvent.Completed({ status }))
    assert.deepStrictEqual<AssemblyUploadEvent.Public>(decoded, {
      _tag: "Completed",
      status: { ok: status.ok, uploads: [{ name: "a.bin" }], results: status.results }
    })
  })

  effect("of a failure decodes to an instance of its class, in a job too", function* () {
    const error = new TusError.Stalled({ request: "append", host: "tus.example.com", after: Duration.seconds(30) })
    const { decoded } = yield* roundTrip(AssemblyUploadEvent.Json, AssemblyUploadEvent.FileFailed({ file: 1, error }))
    assert.deepStrictEqual(decoded, { _tag: "FileFailed", file: 1, error })

    const failure = new AssemblyUpload.FilesFailed({
      assemblyId: "a".repeat(32),
      files: [
        { filename: "a.bin", outcome: "Completed" },
        { filename: "b.bin", outcome: "Failed", error },
        { filename: "c.bin", outcome: "Stopped" }
      ],
      assembly: "canceled"
    })
    const json = Schema.fromJsonString(Schema.toCodecJson(AssemblyUpload.AssemblyUploadError))
    const { decoded: again } = yield* roundTrip(json, failure)
    assert(again._tag === "FilesFailed", again._tag)
    const [, failed] = again.files
    assert(failed?.outcome === "Failed", failed?.outcome)
    assert.instanceOf(failed.error, TusError.Stalled)
    assert.strictEqual(again.message, failure.message)

    const common = { operation: "Assemblies.get", code: "C", status: 429, description: "m" }
    const limited = new ApiError.RateLimited({ ...common, retryAfter: Duration.seconds(3) })
    assert.deepStrictEqual((yield* roundTrip(json, limited)).decoded, limited)
  })
})

effect("progressInterval holds Progress back, and tells the newest one before any other event", function* () {
  const seen: Array<string> = []
  const emit = Events.paced<UploadEvent.UploadEvent>(
    (event) => seen.push(event._tag === "Progress" ? `${event.sent}` : event._tag),
    "1 second",
    yield* Clock.Clock
  )
  const progress = (sent: bigint) => emit(UploadEvent.Progress({ sent, acknowledged: 0n, total: 9n }))
  progress(1n)
  progress(2n)
  yield* TestClock.adjust("999 millis")
  progress(3n)
  assert.deepStrictEqual(seen, ["1"])
  yield* TestClock.adjust("1 millis")
  progress(4n)
  assert.deepStrictEqual(seen, ["1", "4"])
  progress(5n)
  progress(6n)
  emit(UploadEvent.Finishing({ total: 9n }))
  emit(UploadEvent.Finishing({ total: 9n }))
  assert.deepStrictEqual(seen, ["1", "4", "6", "Finishing", "Finishing"])
})

layer(Clients.undici)("An upload with progressInterval", (it) => {
  const tags = (options: Partial<Upload.Options>) =>
    Effect.gen(function* () {
      const { target } = yield* Scene.make()
      const all = { ...Scene.options, chunkSize: 100_000, ...options }
      const events = Upload.events(target, UploadSource.fromBytes(Scene.content(2_000_000)), all)
      return (yield* Stream.runCollect(events)).map(({ _tag }) => _tag)
    })

  it.effect("tells less often, and everything else as before", function* () {
    const every = yield* tags({ progressInterval: undefined })
    const paced = yield* tags({ progressInterval: "1 hour" })
    assert.isAbove(every.filter((tag) => tag === "Progress").length, 3)
    const kinds = paced.filter((tag, index) => tag !== "Progress" || paced[index - 1] !== "Progress")
    assert.deepStrictEqual(kinds, ["Created", "Progress", "Finishing", "Progress", "Completed"])
    assert.isAtMost(paced.filter((tag) => tag === "Progress").length, 3)
  })
})

interface Event {
  readonly _tag: string
  readonly number: number
}

/** The events that a reader gets who is busy with an earlier one while all of them are emitted. */
const late = (...events: ReadonlyArray<Event>) =>
  Effect.gen(function* () {
    const first = { _tag: "Created", number: -1 }
    const gate = yield* Deferred.make<void>()
    const read: Array<Event> = []
    yield* Events.fromProgram<never, never, Event>((emit) =>
      Effect.sync(() => {
        for (const event of [first, ...events]) emit(event)
        Deferred.doneUnsafe(gate, Effect.void)
      })
    ).pipe(
      Stream.runForEach((event) => (event === first ? Deferred.await(gate) : Effect.sync(() => void read.push(event))))
    )
    return read
  })

const many = (_tag: string, count: number): ReadonlyArray<Event> =>
  Array.from({ length: count }, (_, number) => ({ _tag, number }))

effect("unread events have one progress after another one only if something came between them", function* () {
  const read = yield* late(...many("Progress", 500), { _tag: "Finishing", number: 0 }, ...many("Progress", 500))
  const shown = read.map(({ _tag, number }) => `${_tag} ${number}`)
  assert.deepStrictEqual(shown, ["Progress 499", "Finishing 0", "Progress 499"])
})

effect("a program that interrupts its own fiber ends the stream with an interruption", function* () {
  const own = Effect.withFiber((fiber) => Effect.andThen(Fiber.interrupt(fiber), Effect.never))
  const exit = yield* Effect.exit(Stream.runDrain(Events.fromProgram<never, never, Event>(() => own)))
  assert.isTrue(Exit.hasInterrupts(exit))
})
