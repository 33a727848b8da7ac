import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import { UndiciClient } from "@assembly-effect/node"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import { Assembly } from "@assembly-effect/schema"
import * as PieceMemory from "@assembly-effect/tus/unstable/PieceMemory"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent } from "@effect/platform-node/Undici"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import { assert, effect, layer } from "@assembly-effect/testkit/flow"
import { Clock, Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { HttpClient } from "effect/http"
import { createHash } from "node:crypto"
import * as SlowServer from "./utils/SlowServer.ts"

const mebi = 1024 * 1024

/** Bytes in which no two pieces are equal. */
const bytes = Uint8Array.from({ length: 12 * mebi + 17 }, (_, index) => (index * 31 + (index >> 8)) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

const metadata = { filename: "a.bin", fieldname: "file" }

const file = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempFileScoped()
  yield* fs.writeFile(path, bytes)
  return yield* UploadSource.fromPath(path)
})

/**
 * The same file with pieces of the maximum size, however busy the machine is. Each piece is recorded when it is read.
 */
const observed = (source: UploadSource.Replayable, onPiece: (piece: Uint8Array) => void) =>
  Effect.map(Clock.Clock, (clock): UploadSource.Replayable => {
    const still = Object.assign(Object.create(clock), { currentTimeMillisUnsafe: () => 0 })
    return {
      ...source,
      bytes: (start, end) =>
        source.bytes(start, end).pipe(
          Stream.provideService(Clock.Clock, still),
          Stream.tap((piece) => Effect.sync(() => onPiece(piece)))
        )
    }
  })

effect("a dispatcher gets the program's UndiciOptions, but the time limits of our client", function* () {
  let given = {}
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    given = options
    return dispatch(options, handler)
  })
  const request = { method: "GET", origin: "http://127.0.0.1:1", path: "/a", headers: {} } as const
  yield* HttpClient.HttpClient.use((client) => Sender.of(client)(request, { maxBytes: 1000, millis: 1000 })).pipe(
    Effect.flip,
    Effect.provide(UndiciClient.layerWith({ dispatcher })),
    Effect.provideService(NodeHttpClient.UndiciOptions, { reset: true, bodyTimeout: 1 })
  )
  assert.deepInclude(given, { path: "/a", reset: true, headersTimeout: 3_600_000, bodyTimeout: 0 })
})

const services = Layer.mergeAll(Client.signed(), Upload.layer, NodeFileSystem.layer).pipe(
  Layer.provideMerge(Emulator.layer()),
  Layer.provideMerge(UndiciClient.layer)
)

layer(services)("UndiciClient", (it) => {
  it.effect("is registered; a derived client, or another undici client, is not", function* () {
    const client = yield* HttpClient.HttpClient
    assert.isTrue(PieceMemory.isRegistered(client))
    assert.isFalse(PieceMemory.isRegistered(HttpClient.mapRequest(client, (request) => request)))
    const other = yield* Effect.provide(HttpClient.HttpClient, NodeHttpClient.layerUndici)
    assert.isFalse(PieceMemory.isRegistered(other))
  })

  it.effect("uploads a file unchanged, with reused memory, and without reuse when it is wrapped", function* () {
    const client = yield* HttpClient.HttpClient
    for (const [http, isReused] of [
      [client, true],
      [HttpClient.mapRequest(client, (request) => request), false]
    ] as const) {
      const created = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const target = yield* UploadTarget.fromAssembly(created)
      const given: Array<ArrayBufferLike> = []
      const source = yield* observed(yield* file, (piece) => given.push(piece.buffer))
      yield* Upload.run(target, source, { metadata }).pipe(
        Effect.provide(Upload.layer),
        Effect.provideService(HttpClient.HttpClient, http)
      )
      const status = yield* Assemblies.get(Assembly.AssemblyId.make(created.assembly_id))
      assert.strictEqual(status.uploads?.[0]?.sha256, sha256)
      assert.strictEqual(
        given.some(({ byteLength }) => byteLength === 0),
        isReused
      )
    }
  })

  it.effect(
    "has released a piece when it requests the third piece after it, however slow the server reads",
    function* () {
      const server = yield* SlowServer.make
      const target = yield* UploadTarget.make(server)
      let given = 0
      let most = 0
      const source = yield* observed(yield* file, (piece) => {
        // The bytes of the pieces before this one that the system has not accepted yet.
        most = Math.max(most, given - server.left())
        given += piece.length
      })
      // On a busy machine the file may be read more slowly than a slow server reads.
      server.hold(() => most <= mebi && given < bytes.length)
      yield* Upload.run(target, source, { metadata })
      assert.strictEqual(server.sha256(), sha256)
      assert.isAbove(most, mebi, "the server was slow")
      assert.isAtMost(most, 2 * mebi)
    }
  )

  it.effect("reads a whole response after 103, and a connection cut after 103 is a TransportFailure", function* () {
    const server = yield* Server.make
    const hinted =
      (then: Server.Answer): Server.Answer =>
      (request, response) =>
        response.writeEarlyHints({ link: "</a>; rel=preload" }, () => then(request, response))
    const body = { ok: "ASSEMBLY_COMPLETED", assembly_id: Assembly.AssemblyId.make("a".repeat(32)) }
    server.script(hinted(Server.json(200, body)), hinted(Server.reset))
    const get = Assemblies.get(body.assembly_id).pipe(
      RetryPolicy.none,
      Effect.provide(
        AssemblyClient.layer({ baseUrl: server.baseUrl }).pipe(
          Layer.provide(Authenticator.layerSigned()),
          Layer.provide(Credentials.layer({ key: "key", secret: Redacted.make("secret") }))
        )
      )
    )
    assert.deepInclude(yield* get, body)
    assert.strictEqual((yield* Effect.flip(get))._tag, "TransportFailure")
  })
})
