/**
 * R3 of the targets: the server is killed in the middle of an upload and comes back with what it had.
 */
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Deferred, Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { fork } from "node:child_process"
import { assert, layer, Clients, Emulated, Scene, TusServer, Upload } from "./utils/index.ts"

const program = new URL("../../emulator/test/fixtures/emulator.ts", import.meta.url)

interface Ready {
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
}

/** An emulator in a process of its own. `kill` is SIGKILL. */
const start = (options: { readonly data: string; readonly port?: number }) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly ready: Ready; readonly kill: Effect.Effect<void> }>((resume) => {
      const child = fork(program, [JSON.stringify(options)], { execArgv: [] })
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      const kill = Effect.promise(() => {
        child.kill("SIGKILL")
        return gone
      })
      child.once("message", (ready: Ready) => resume(Effect.succeed({ ready, kill })))
      child.once("exit", (code) => resume(Effect.die(new Error(`the emulator ended with ${code}`))))
    }),
    ({ kill }) => kill
  )

const client = ({ baseUrl, key, secret }: Ready) => Emulated.signed({ baseUrl }, { key, secret: Redacted.make(secret) })

const bytes = Scene.content(6 * 1024 * 1024 + 7)

/**
 * A source whose second half stays away until `gate` opens, but for the start of each part: whatever the machine is
 * doing, the upload is not over before.
 */
const held = (source: UploadSource.Replayable, gate: Effect.Effect<void>): UploadSource.Replayable => ({
  ...source,
  bytes: (from, end) => {
    const half = source.size / 2n
    const free = from + 65_536n > half ? from + 65_536n : half
    const middle = free < end ? free : end
    return Stream.concat(source.bytes(from, middle), Stream.unwrap(Effect.as(gate, source.bytes(middle, end))))
  }
})

layer(Layer.merge(NodeFileSystem.layer, Clients.undici))("R3", (it) => {
  it.effect("a server killed at the second PartCompleted gets the rest of a source, no second upload", function* () {
    const fs = yield* FileSystem.FileSystem
    const data = yield* fs.makeTempDirectoryScoped({ prefix: "restart-" })
    const first = yield* start({ data })
    const port = Number(new URL(first.ready.baseUrl).port)
    const api = yield* Layer.build(client(first.ready))
    const created = yield* Effect.provideContext(Assemblies.create({ numExpectedUploadFiles: 1 }), api)
    const target = yield* Effect.provideContext(UploadTarget.fromAssembly(created), api)

    const restarted = yield* Deferred.make<void>()
    let seen = 0
    const tags: Array<string> = []
    const upload = Upload.events(target, held(UploadSource.fromBytes(bytes), Deferred.await(restarted)), {
      ...Scene.options,
      parallel: 4,
      // A process takes a while to start, and to answer, on a busy machine more so.
      stallTimeout: "5 seconds",
      retryDelay: "50 millis",
      maxRetries: 40
    })
    yield* Stream.runForEach(upload, (event) => {
      tags.push(event._tag)
      return event._tag === "PartCompleted" && ++seen === 2
        ? Effect.andThen(first.kill, start({ data, port })).pipe(Effect.andThen(Deferred.succeed(restarted, undefined)))
        : Effect.void
    })
    assert.isAtLeast(seen, 2)
    assert.include(tags, "Retrying")
    assert.include(tags, "Resumed")
    const id = Assembly.AssemblyId.make(created.assembly_id)
    const status = yield* Effect.provideContext(Assemblies.get(id), api)
    assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", started_tus_uploads: 1, finished_tus_uploads: 1 })
    assert.deepInclude(status.uploads?.[0], { size: bytes.length, sha256: TusServer.sha256(bytes) })
  })
})
