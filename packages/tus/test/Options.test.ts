/**
 * Options are checked before anything exists, and everything that is wrong with them is told at once.
 */
import { AssemblyClient } from "@assembly-effect/api"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Duration, Effect, Layer, Predicate, Stream } from "effect"
import { assert, layer, layerTest, AssemblyUpload, Clients, Scene, Tests, Upload } from "./utils/index.ts"

const { metadata } = Scene.options
const bytes = Scene.content(10)
const source = UploadSource.fromBytes(bytes)

type Options = Partial<Upload.Options>

/** What each way to upload says of options, and that nothing was sent or written for them. */
const refused = (options: Options, from: UploadSource.UploadSource = source) =>
  Effect.gen(function* () {
    const { server, target } = yield* Scene.make()
    const journal = yield* UploadJournal.UploadJournal
    const { metadata: given, ...others } = options
    const all = { metadata: given ?? metadata, ...others }
    const ways = [
      Upload.run(target, from, all),
      Stream.runDrain(Upload.events(target, from, all)),
      ...(Predicate.isTagged(from, "OneShot") ? [] : [Stream.runDrain(Upload.journaled.events(target, from, all))]),
      ...(Predicate.isTagged(from, "OneShot") || given !== undefined
        ? []
        : [Stream.runDrain(Upload.journaled.resumeEvents({ key: "k" }, from, others))])
    ]
    const errors = yield* Effect.forEach(ways, (way) => Effect.flip(way))
    assert.deepStrictEqual(server.requests, [])
    assert.deepStrictEqual(yield* journal.list, [])
    const [first] = errors
    if (!(first instanceof InvalidRequest)) return assert.fail(`${first?._tag}`)
    for (const error of errors) {
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.strictEqual(error.message, first.message)
    }
    return first
  })

const wholes: ReadonlyArray<readonly [Options, string]> = [
  ...[0, -1, 1.5, NaN, Infinity].map((chunkSize) => [{ chunkSize }, "chunkSize", 1] as const),
  [{ parallel: 0 }, "parallel", 1] as const,
  [{ maxRetries: -1 }, "maxRetries", 0] as const
].map(([options, name, least]) => [options, `${name}: Expected a whole number of at least ${least}`])

const times = ["stallTimeout", "finishTimeout", "retryDelay", "maxWait", "progressInterval"] as const
const noNumbers = [NaN, -1, Infinity]
const noTimes: ReadonlyArray<Duration.Input> = [
  ...noNumbers,
  Duration.infinity,
  "-5 seconds",
  { seconds: NaN },
  [NaN, 0]
]

const wrongMetadata: ReadonlyArray<readonly [Readonly<Record<string, string | null>>, string]> = [
  [{ filename: "" }, "metadata.filename: Expected at least 1 character"],
  [{ fieldname: "\ud800" }, "metadata.fieldname: Expected valid Unicode"],
  [{ "a b": "x" }, "metadata.a b: Expected a key of printable ASCII without comma or space"],
  [{ "a,b": "x" }, "metadata.a,b: Expected a key of printable ASCII without comma or space"],
  [{ é: null }, "metadata.é: Expected a key of printable ASCII without comma or space"],
  [{ "": "x" }, "metadata.: Expected a key of printable ASCII without comma or space"],
  [{ assembly_url: "x" }, "metadata.assembly_url: Expected no reserved key: the target sets its value"],
  [
    { upload_marker: "x" },
    "metadata.upload_marker: Expected no reserved key: its value identifies an upload after a lost response"
  ]
]

layer(Layer.merge(Clients.undici, UploadJournal.layerMemory()))("Options", (it) => {
  it.effect("that are no whole numbers are refused before anything exists", function* () {
    for (const [options, text] of wholes) {
      assert.strictEqual((yield* refused(options)).message, `Upload: ${text}`)
    }
  })

  it.effect("that are no times are refused before anything exists", function* () {
    for (const name of times) {
      for (const input of noTimes) {
        const least = name.endsWith("Timeout") ? "above" : "of at least"
        const message = `Upload: ${name}: Expected a finite duration ${least} zero, at most 100 years`
        assert.strictEqual((yield* refused({ [name]: input })).message, message)
      }
    }
    for (const name of ["stallTimeout", "finishTimeout"] as const) yield* refused({ [name]: 0 })
  })

  it.effect("that no header can carry are refused before anything exists", function* () {
    for (const [more, text] of wrongMetadata) {
      assert.strictEqual((yield* refused({ metadata: { ...metadata, ...more } })).message, `Upload: ${text}`)
    }
  })

  it.effect("that do not fit the source are refused before anything exists", function* () {
    const oneShot = UploadSource.fromStream(Scene.pieces(bytes, 3), { size: 10n })
    const message = "Upload: parallel: Expected a source that can be read again, got a one-shot stream"
    assert.strictEqual((yield* refused({ parallel: 2 }, oneShot)).message, message)
    const endless = UploadSource.make({ size: 2n ** 63n, bytes: () => Stream.empty })
    const sizeMessage = "Upload: source.size: Expected 0 to 9223372036854775807 bytes, got 9223372036854775808"
    assert.strictEqual((yield* refused({}, endless)).message, sizeMessage)
  })

  it.effect("refuses fromBytes and fromBlob of another value with a message about the value", function* () {
    const detached = new Uint8Array(13)
    structuredClone(detached.buffer, { transfer: [detached.buffer] })
    for (const value of ["x", 5, null, undefined, {}, [1, 2], new ArrayBuffer(13), new Uint16Array(13), detached]) {
      const message = "Upload: source: Expected a Uint8Array whose memory was not transferred"
      assert.strictEqual((yield* refused({}, UploadSource.fromBytes(value as never))).message, message)
      const blobMessage = "Upload: source: Expected a Blob with the functions slice and arrayBuffer"
      assert.strictEqual((yield* refused({}, UploadSource.fromBlob(value as never))).message, blobMessage)
    }
  })

  it.effect("with a source that is none are refused before anything exists", function* () {
    for (const none of [null, {}, "cat.jpg", bytes, UploadSource.fromPath("cat.jpg")]) {
      const message = "Upload: source: Expected an UploadSource, such as UploadSource.fromBytes(bytes)"
      assert.strictEqual((yield* refused({}, none as never)).message, message)
    }
  })

  it.effect("are refused for everything that is wrong with them at once", function* () {
    const error = yield* refused({
      chunkSize: 0,
      parallel: -1,
      maxRetries: 0.5,
      stallTimeout: 0,
      maxWait: Infinity,
      metadata: { ...metadata, filename: "", "a b": "x", upload_marker: "x" }
    })
    const first = ["maxRetries", "stallTimeout", "maxWait", "chunkSize", "parallel"]
    const then = ["metadata.upload_marker", "metadata.filename", "metadata.a b"]
    assert.deepStrictEqual(Tests.pathsOf(error), [...first, ...then])
  })

  it.effect("that do not exist, such as a misspelt one, are refused before anything exists", function* () {
    for (const key of ["chunksize", "origins", "toString", "__proto__"]) {
      const options = Object.fromEntries([[key, 1]])
      assert.strictEqual((yield* refused(options)).message, `Upload: ${key}: Unknown key`)
    }
  })

  it.effect("at their limits are taken", function* () {
    const { target } = yield* Scene.make()
    yield* Upload.run(target, source, {
      metadata: { ...metadata, "!~": null, empty: "" },
      chunkSize: 1,
      parallel: 1,
      maxRetries: 0,
      retryDelay: 0,
      maxWait: 0,
      stallTimeout: "30 seconds"
    })
  })
})

layer(Clients.undici)("An upload", (it) => {
  it.effect("whose metadata object was changed since another upload: sends the current name", function* () {
    const { server, target } = yield* Scene.make()
    const changing = { filename: "", fieldname: "file" }
    for (const name of ["a.bin", "b.bin"]) {
      changing.filename = name
      yield* Upload.run(target, UploadSource.fromBytes(bytes), { metadata: changing })
    }
    const names = server.created.map((upload) => upload.metadata["filename"])
    assert.deepStrictEqual(names, ["a.bin", "b.bin"])
  })

  it.effect("whose valid options object became invalid: fails with InvalidRequest, and creates nothing", function* () {
    const { server, target } = yield* Scene.make()
    const options = { metadata: Scene.options.metadata, chunkSize: 5000 }
    yield* Upload.run(target, UploadSource.fromBytes(bytes), options)
    options.chunkSize = -1
    const error = yield* Effect.flip(Upload.run(target, UploadSource.fromBytes(bytes), options))
    assert.strictEqual(error.message, "Upload: chunkSize: Expected a whole number of at least 1")
    assert.strictEqual(server.created.length, 1)
  })

  it.effect.each([null, undefined, 5, {}, { metadata: 1 }, { metadata: [] }])(
    "with the options %j: InvalidRequest, and no request",
    function* (options) {
      const { server, target } = yield* Scene.make()
      // A JavaScript program may give any value.
      const error = yield* Effect.flip(Upload.run(target, UploadSource.fromBytes(bytes), options as never))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.deepStrictEqual(server.requests, [])
    }
  )

  it.effect.each([1000, 300_000])("of %i bytes whose `bytes` were replaced: stores the new ones", function* (size) {
    const { server, target } = yield* Scene.make()
    const plain = UploadSource.fromBytes(Scene.content(size))
    const flipped: UploadSource.Replayable = {
      ...plain,
      bytes: (start, end) => Stream.map(plain.bytes(start, end), (piece) => piece.map((byte) => byte ^ 1))
    }
    yield* Upload.run(target, flipped, Scene.options)
    const replaced = Scene.content(size).map((byte) => byte ^ 1)
    assert.strictEqual(yield* Scene.stored(server), Scene.sha256(replaced))
  })

  it.effect.each([1000, 300_000])("of %i bytes that give nothing: Stalled after stallTimeout", function* (size) {
    const { target } = yield* Scene.make()
    const silent = UploadSource.make({ size: BigInt(size), bytes: () => Stream.never })
    // The response to the creation comes sooner, also on a busy machine.
    const options = { ...Scene.options, stallTimeout: "1 second", maxRetries: 0 } as const
    assert.strictEqual((yield* Effect.flip(Upload.run(target, silent, options)))._tag, "Stalled")
  })
})

const services = AssemblyUpload.layer.pipe(Layer.provideMerge(Layer.merge(AssemblyClient.layerTest([]), Clients.fetch)))

const all: ReadonlyArray<HostileOptions.Entry<Layer.Success<typeof services>>> = [
  {
    name: "Upload.layerBandwidth",
    options: ["bytesPerSecond"],
    build: (options) => Layer.build(Upload.layerBandwidth({ bytesPerSecond: 1, ...options }))
  },
  {
    name: "AssemblyUpload.runAll",
    options: ["assemblies", "uploads"],
    build: (options) => Stream.runDrain(AssemblyUpload.runAll(Stream.empty, options))
  }
]

layerTest(services)("A hostile value of an option", (it) => {
  it.effect.each([null, undefined, NaN, true, 5n, "params", [], new Map([["steps", 1]]), () => 1])(
    "AssemblyUpload.run with the params %o: InvalidRequest",
    function* (params) {
      const job = { params, files: [{ source: UploadSource.fromBytes(new Uint8Array(1)), filename: "a.bin" }] }
      const error = yield* Effect.flip(AssemblyUpload.run(job as never))
      assert.strictEqual(error.message, "AssemblyUpload: params: Expected an object with keys")
    }
  )

  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
