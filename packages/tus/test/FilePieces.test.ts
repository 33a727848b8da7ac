import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Scene from "./utils/Scene.ts"
import * as TusServer from "./utils/TusServer.ts"

const mebi = 1024 * 1024
const bytes = Scene.content(20 * mebi + 17)

const source = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempFileScoped()
  yield* fs.writeFile(path, bytes)
  return yield* UploadSource.fromPath(path)
})

const clients = {
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  fetch: NodeHttpClient.layerFetch
}

const options = { ...Scene.options, stallTimeout: "10 seconds", finishTimeout: "30 seconds" } as const

/** A client that sends what an effect makes of a streamed body. */
const observing = (take: (body: Stream.Stream<Uint8Array, unknown>) => Effect.Effect<Uint8Array | void, unknown>) =>
  Effect.map(HttpClient.HttpClient, (client) =>
    HttpClient.mapRequestEffect(client, (request) => {
      const { body } = request
      if (body._tag !== "Stream") return Effect.succeed(request)
      return take(body.stream).pipe(
        Effect.map((sent) => HttpClientRequest.setBody(request, HttpBody.uint8Array(sent ?? bytes, body.contentType))),
        Effect.mapError(
          (cause) =>
            new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, cause }) })
        )
      )
    })
  )

/** A client that holds all pieces of a body before it sends them, as one would that signs the body. */
const collecting = Layer.effect(
  HttpClient.HttpClient,
  observing((body) =>
    Effect.flatMap(Stream.runCollect(body), (pieces) => Effect.try(() => new Uint8Array(Buffer.concat(pieces))))
  )
).pipe(Layer.provide(NodeHttpClient.layerUndici))

layer(NodeFileSystem.layer, { excludeTestServices: true })("the pieces of a file", (it) => {
  for (const [name, client] of Object.entries(clients)) {
    it.effect(`every byte arrives as it was, though memory is used again: ${name}`, () =>
      Effect.gen(function* () {
        for (const settings of [{}, { chunkSize: 9 * mebi }, { parallel: 2 }]) {
          const { server, target } = yield* Scene.make()
          yield* Upload.run(target, yield* source, { ...options, ...settings })
          const index = server.created.length - 1
          assert.strictEqual(yield* Scene.stored(server, index), TusServer.sha256(bytes))
        }
      }).pipe(Effect.provide(client))
    )
  }

  it.effect("a client that holds the body back is noticed, and the upload goes on with memory of its own", () =>
    Effect.gen(function* () {
      const { server, target } = yield* Scene.make()
      const events = yield* Stream.runCollect(Upload.upload(target, yield* source, options))
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      assert.strictEqual(events.filter(({ _tag }) => _tag === "Retrying").length, 1)
    }).pipe(Effect.provide(collecting))
  )

  it.effect("such a client needs no second request where the memory is not used again", () =>
    Effect.gen(function* () {
      const { server, target } = yield* Scene.make()
      const events = yield* Stream.runCollect(Upload.upload(target, yield* source, options))
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      assert.deepStrictEqual(
        events.filter(({ _tag }) => _tag === "Retrying"),
        []
      )
    }).pipe(Effect.provide(collecting), Effect.provideService(UploadSource.ReusePieces, false))
  )

  it.effect("a piece that is kept too long has no bytes, rather than those of another", () =>
    Effect.gen(function* () {
      const kept: Array<{ readonly piece: Uint8Array; readonly at: number; readonly taken: number }> = []
      const keeping = yield* observing((body) => {
        let at = 0
        return Stream.runForEach(body, (piece) =>
          Effect.sync(() => {
            kept.push({ piece, at, taken: piece.length })
            at += piece.length
          })
        )
      })
      const { target } = yield* Scene.make()
      yield* Upload.run(target, yield* source, options).pipe(Effect.provideService(HttpClient.HttpClient, keeping))

      assert.isAbove(kept.filter(({ piece }) => piece.length === 0).length, 0)
      for (const { at: from, piece, taken } of kept) {
        if (piece.length === 0) continue
        assert.strictEqual(TusServer.sha256(piece), TusServer.sha256(bytes.subarray(from, from + taken)))
      }
    }).pipe(Effect.provide(NodeHttpClient.layerUndici))
  )

  it.effect("outside of an upload a piece stays what it is", () =>
    Effect.gen(function* () {
      const file = yield* source
      const whole = yield* Stream.mkUint8Array(file.bytes(0n, file.size))
      assert.strictEqual(TusServer.sha256(whole), TusServer.sha256(bytes))
    })
  )

  it.effect("a range begins with pieces of the size that the last one came to", () =>
    Effect.gen(function* () {
      const file = yield* source
      const sizes = (start: number) =>
        Effect.map(Stream.runCollect(file.bytes(BigInt(start), BigInt(start + 8 * mebi))), (pieces) =>
          pieces.map(({ length }) => length)
        )
      const first = yield* sizes(0)
      const second = yield* sizes(8 * mebi)
      assert.strictEqual(first[0], 64 * 1024)
      assert.isAbove(second[0] ?? 0, 64 * 1024)
    })
  )

  it.effect("a small file is read at once, and one that changed since is refused before anything is created", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const content = Scene.content(100)
      for (const change of [new Uint8Array(0), Scene.content(99), Scene.content(101), content.toReversed()]) {
        const path = yield* fs.makeTempFileScoped()
        yield* fs.writeFile(path, content)
        yield* fs.utimes(path, new Date(0), new Date(0))
        const changed = yield* UploadSource.fromPath(path)
        yield* fs.writeFile(path, change)
        const { server, target } = yield* Scene.make()
        const error = yield* Effect.flip(Upload.run(target, changed, options))
        assert.strictEqual(error._tag === "SourceFailed" ? error.kind : error._tag, "Changed")
        assert.strictEqual(server.created.length, 0)
      }
    }).pipe(Effect.provide(NodeHttpClient.layerUndici))
  )
})
