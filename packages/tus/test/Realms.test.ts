/**
 * Bytes and Blobs of another realm (a frame of a page, `node:vm`, jsdom), or of a class of their own: the server has the
 * same bytes in the end, or the source fails.
 */
import { UploadSource, WebSource } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"
import * as Vm from "node:vm"
import { assert, layer, Clients, Scene, TusServer, Upload } from "./utils/index.ts"

const RealmBytes: typeof Uint8Array = Vm.runInNewContext("Uint8Array")

const foreign = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new RealmBytes(bytes)

/** What jsdom and polyfills have: the functions of a Blob, but not its class. Its bytes belong to another realm. */
const otherBlob = (bytes: Uint8Array): Blob => {
  const functions = {
    slice: (start?: number, end?: number) => otherBlob(bytes.subarray(start, end)),
    arrayBuffer: () => Promise.resolve(foreign(bytes).buffer)
  }
  return { size: bytes.length, type: "", ...functions } as unknown as Blob
}

/** Takes the memory of bytes away, as `postMessage` with a transfer does. */
const detach = (bytes: Uint8Array<ArrayBuffer>) => {
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  return bytes
}

const lies = { byteLength: { get: () => 3 }, length: { get: () => 3 }, subarray: { value: () => Uint8Array.of(1) } }

/** Bytes of a class whose accessors say something else than the slots of the array. */
const lying = (bytes: Uint8Array): Uint8Array =>
  Object.setPrototypeOf(bytes.slice(), Object.create(Uint8Array.prototype, lies))

/** Each kind of source, with the given bytes in objects that no HTTP client knows. */
const sources: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => UploadSource.UploadSource>> = {
  "bytes of another realm": (bytes) => UploadSource.fromBytes(foreign(bytes)),
  "bytes of a class that lies": (bytes) => UploadSource.fromBytes(lying(bytes)),
  "a stream of pieces that lie": (bytes) => UploadSource.fromStream(Stream.map(Scene.pieces(bytes, 5000), lying)),
  "a Buffer within a larger memory": (bytes) =>
    UploadSource.fromBytes(Buffer.concat([bytes, bytes]).subarray(bytes.length)),
  "shared memory": (bytes) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    return UploadSource.fromBytes(shared)
  },
  "a Blob of another class": (bytes) => UploadSource.fromBlob(otherBlob(bytes)),
  "a source of pieces of another realm": (bytes) =>
    UploadSource.make({
      size: BigInt(bytes.length),
      bytes: (offset) => Stream.map(Scene.pieces(bytes.subarray(Number(offset)), 5000), foreign)
    }),
  "a stream of pieces of another realm": (bytes) =>
    UploadSource.fromStream(Stream.map(Scene.pieces(bytes, 5000), foreign)),
  "a web stream of pieces of another realm": (bytes) =>
    WebSource.fromReadableStream(() => Stream.toReadableStream(Stream.make(foreign(bytes))))
}

/** Sources whose bytes lose their memory after the source was made. Each has the given size. */
const lost: Readonly<Record<string, (size: number) => UploadSource.UploadSource>> = {
  "bytes that are detached": (size) => {
    const bytes = Scene.content(size)
    const source = UploadSource.fromBytes(bytes)
    detach(bytes)
    return source
  },
  "a source with a detached piece": (size) =>
    UploadSource.make({ size: BigInt(size), bytes: () => Stream.make(detach(Scene.content(size))) }),
  "a stream with a detached piece in its middle": (size) =>
    UploadSource.fromStream(Stream.make(Scene.content(size), detach(Scene.content(size)), Scene.content(size))),
  "pieces of text": (size) =>
    UploadSource.make({ size: BigInt(size), bytes: () => Stream.make("é".repeat(size) as unknown as Uint8Array) })
}

for (const [name, client] of Object.entries({ undici: Clients.undici, fetch: Clients.fetch })) {
  layer(client)(`with ${name}`, (it) => {
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

      it.effect.each(Object.entries(lost))(`%s, ${how}, fails with SourceFailed`, function* ([, make]) {
        for (const size of [13, 300_000]) {
          const { result, server } = yield* run(make(size))
          assert.isTrue(result._tag === "Failure" && result.failure._tag === "SourceFailed")
          assert.notInclude(server.log, "PATCH 204")
        }
      })
    }
  })
}
