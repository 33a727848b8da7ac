import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
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

layer(NodeFileSystem.layer, { excludeTestServices: true })("ReusePieces", (it) => {
  for (const [name, client] of Object.entries(clients)) {
    it.effect(`every byte arrives as it was: ${name}`, () =>
      Effect.gen(function* () {
        for (const settings of [{}, { chunkSize: 9 * mebi }, { parallel: 2 }]) {
          const { server, target } = yield* Scene.make()
          const options = { ...Scene.options, stallTimeout: "10 seconds", finishTimeout: "30 seconds" } as const
          yield* Upload.run(target, yield* source, { ...options, ...settings })
          const index = server.created.length - 1
          assert.strictEqual(yield* Scene.stored(server, index), TusServer.sha256(bytes))
        }
      }).pipe(Effect.provide(client), Effect.provideService(UploadSource.ReusePieces, true))
    )
  }

  it.effect("a piece that is kept too long has no bytes, rather than those of another", () =>
    Effect.gen(function* () {
      const file = yield* source
      const kept: Array<{ readonly piece: Uint8Array; readonly at: number; readonly taken: number }> = []
      let at = 0
      yield* Stream.runForEach(file.bytes(0n, file.size), (piece) =>
        Effect.sync(() => {
          kept.push({ piece, at, taken: piece.length })
          at += piece.length
        })
      )
      assert.isAbove(kept.filter(({ piece }) => piece.length === 0).length, 0)
      for (const { at: from, piece, taken } of kept) {
        if (piece.length === 0) continue
        assert.strictEqual(TusServer.sha256(piece), TusServer.sha256(bytes.subarray(from, from + taken)))
      }
    }).pipe(Effect.provideService(UploadSource.ReusePieces, true))
  )

  it.effect("by default a piece stays what it is", () =>
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
})
