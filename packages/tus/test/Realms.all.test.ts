/**
 * Bytes and Blobs of another realm (a frame of a page, `node:vm`, jsdom), or of a class of their own: the server has the
 * same bytes in the end with every client, or the upload is refused before anything is created.
 */
import { UploadSource, WebSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Vm from "node:vm"
import { Clients, Draw, Scene, TusServer, Upload } from "./utils/index.ts"

const RealmBytes: typeof Uint8Array = Vm.runInNewContext("Uint8Array")

const foreign = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new RealmBytes(bytes)

/** What jsdom and polyfills have: the functions of a Blob, but not its class. Its bytes belong to another realm. */
class OtherBlob {
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly type = ""
  constructor(bytes: Uint8Array) {
    this.#bytes = foreign(bytes)
  }
  get size() {
    return this.#bytes.length
  }
  slice(start?: number, end?: number) {
    return new OtherBlob(this.#bytes.subarray(start, end))
  }
  arrayBuffer() {
    return Promise.resolve(this.#bytes.slice().buffer)
  }
}

/** Takes the memory of bytes away, as `postMessage` with a transfer does. */
const detach = (bytes: Uint8Array<ArrayBuffer>) => {
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  return bytes
}

const asBlob = (blob: unknown) => blob as Blob

const lies = {
  byteLength: { get: () => 3 },
  byteOffset: { get: () => 1 },
  buffer: { get: () => new ArrayBuffer(3) },
  length: { get: () => 3 },
  subarray: { value: () => Uint8Array.of(1, 2, 3) }
}

/** Bytes of a class whose accessors say something else than the slots of the array. */
const lying = (bytes: Uint8Array): Uint8Array =>
  Object.setPrototypeOf(bytes.slice(), Object.create(Uint8Array.prototype, lies))

const web = (bytes: Uint8Array) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(foreign(bytes))
      controller.close()
    }
  })

/** Each kind of source, with the given bytes in objects that no HTTP client knows. */
const sources: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => UploadSource.UploadSource>> = {
  "bytes of another realm": (bytes) => UploadSource.fromBytes(foreign(bytes)),
  "bytes of a class that lies": (bytes) => UploadSource.fromBytes(lying(bytes)),
  "bytes with accessors of their own": (bytes) => UploadSource.fromBytes(Object.defineProperties(bytes.slice(), lies)),
  "a stream of pieces that lie": (bytes) => UploadSource.fromStream(Stream.map(Scene.pieces(bytes, 5000), lying)),
  "a Buffer within a larger memory": (bytes) =>
    UploadSource.fromBytes(Buffer.concat([bytes, bytes]).subarray(bytes.length)),
  "shared memory": (bytes) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    return UploadSource.fromBytes(shared)
  },
  "a Blob": (bytes) => UploadSource.fromBlob(new Blob([bytes])),
  "a File": (bytes) => UploadSource.fromBlob(new File([bytes], "a.bin")),
  "a Blob of another class": (bytes) => UploadSource.fromBlob(asBlob(new OtherBlob(bytes))),
  "a source of pieces of another realm": (bytes) =>
    UploadSource.make({
      size: BigInt(bytes.length),
      bytes: (offset) => Stream.map(Scene.pieces(bytes.subarray(Number(offset)), 5000), foreign)
    }),
  "a stream of pieces of another realm": (bytes) =>
    UploadSource.fromStream(Stream.map(Scene.pieces(bytes, 5000), foreign)),
  "a web stream of pieces of another realm": (bytes) => WebSource.fromReadableStream(() => web(bytes))
}

const wrongPieces = (size: number) => {
  const pieces = Stream.make("é".repeat(size) as unknown as Uint8Array)
  return [
    UploadSource.fromStream(pieces, { size: BigInt(size) }),
    UploadSource.make({ size: BigInt(size), bytes: () => pieces }),
    UploadSource.identifiedByContent(UploadSource.make({ size: BigInt(size), bytes: () => pieces }))
  ]
}

/** Sources whose bytes lose their memory after the source was made. Each has the given size. */
const lost: Readonly<Record<string, (size: number) => UploadSource.UploadSource>> = {
  "bytes that are detached": (size) => {
    const bytes = Scene.content(size)
    const source = UploadSource.fromBytes(bytes)
    detach(bytes)
    return source
  },
  "bytes whose memory shrinks": (size) => {
    const memory = new ArrayBuffer(size, { maxByteLength: size })
    const source = UploadSource.fromBytes(new Uint8Array(memory))
    memory.resize(size - 1)
    return source
  },
  "a source with a detached piece": (size) =>
    UploadSource.make({ size: BigInt(size), bytes: () => Stream.make(detach(Scene.content(size))) }),
  "a stream with a detached piece in its middle": (size) =>
    UploadSource.fromStream(Stream.make(Scene.content(size), detach(Scene.content(size)), Scene.content(size))),
  "a stream whose first piece is detached when the last one is read": (size) => {
    const first = Scene.content(size)
    const last = Stream.sync(() => {
      detach(first)
      return Scene.content(size)
    })
    return UploadSource.fromStream(Stream.concat(Stream.make(first), last))
  }
}

/** Values that are no source, whatever their type says. */
const refused: Readonly<Record<string, () => UploadSource.UploadSource>> = {
  "an ArrayBuffer": () => UploadSource.fromBytes(new ArrayBuffer(13) as unknown as Uint8Array),
  "16-bit numbers": () => UploadSource.fromBytes(new Uint16Array(13) as unknown as Uint8Array),
  "a text": () => UploadSource.fromBytes("[object Blob]" as unknown as Uint8Array),
  "detached bytes": () => UploadSource.fromBytes(detach(Scene.content(13))),
  nothing: () => UploadSource.fromBytes(undefined as unknown as Uint8Array),
  "a Blob that cannot be read": () => UploadSource.fromBlob(asBlob({ size: 13, slice: () => undefined })),
  "bytes as a Blob": () => UploadSource.fromBlob(asBlob(new Uint8Array(13))),
  "no Blob": () => UploadSource.fromBlob(asBlob(undefined)),
  "a size that is a number": () => UploadSource.make({ size: 13 as unknown as bigint, bytes: () => Stream.empty })
}

/** A client that replaces each request by an equal one, as a client of an application may do. */
const copying = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeader("x-application", "yes")))
).pipe(Layer.provide(Clients.beneath.fetch))

layer(Clients.beneath.undici)("a value that is no source", (it) => {
  it.effect.each(Object.entries(refused))("%s is refused before anything is created", function* ([, make]) {
    const { server, target } = yield* Scene.make()
    const error = yield* Effect.flip(Upload.run(target, make(), Scene.options))
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.include(error.message, "Upload: source")
    assert.isEmpty(server.log)
  })
})

for (const [name, client] of Object.entries({ ...Clients.beneath, "a client of an application": copying })) {
  layer(Layer.merge(client, NodeFileSystem.layer))(`with ${name}`, (it) => {
    for (const streams of [true, false]) {
      const run = (source: UploadSource.UploadSource, checksum?: "sha256") =>
        Effect.gen(function* () {
          const { server, target } = yield* Scene.make()
          server.checksums = ["sha256"]
          const result = yield* Effect.result(Upload.run(target, source, { ...Scene.options, checksum }))
          return { result, server }
        }).pipe(Effect.provideService(Upload.CanStream, streams))
      const how = streams ? "streamed" : "in slices"

      it.effect.each(Object.entries(sources))(`%s, ${how}, arrives unchanged`, function* ([, make]) {
        // The first size is that of the text `[object Blob]`. The last size is not sent with the creation.
        for (const [size, checksum] of [[13], [300_000], [300_000, "sha256"]] as const) {
          const bytes = Scene.content(size)
          const { result, server } = yield* run(make(bytes), checksum)
          assert.strictEqual(result._tag, "Success")
          assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
        }
      })

      it.effect(`a file, ${how}, arrives unchanged`, function* () {
        const bytes = Scene.content(300_000)
        const { server } = yield* run(yield* Draw.file(bytes))
        assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      })

      it.effect.each(Object.entries(lost))(`%s, ${how}, fails with SourceFailed`, function* ([, make]) {
        for (const size of [13, 300_000]) {
          const { result, server } = yield* run(make(size))
          assert.isTrue(result._tag === "Failure" && result.failure._tag === "SourceFailed")
          assert.notInclude(server.log, "PATCH 204")
        }
      })

      it.effect(`pieces of text, ${how}, fail the source, and no byte of them is stored`, function* () {
        for (const source of [...wrongPieces(13), ...wrongPieces(300_000)]) {
          const { result, server } = yield* run(source)
          assert.isTrue(result._tag === "Failure" && result.failure._tag === "SourceFailed")
          assert.notInclude(server.log, "PATCH 204")
        }
      })
    }
  })
}
