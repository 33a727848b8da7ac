/** Jobs whose files are in the creating request, over HTTP to the emulator behind a proxy that injects faults. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyUploadEvent from "@assembly-effect/tus/AssemblyUploadEvent"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as AssemblyUpload from "./utils/AssemblyUpload.ts"
import * as Clients from "./utils/Clients.ts"
import * as Draw from "./utils/Draw.ts"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as TcpProxy from "./utils/TcpProxy.ts"
import * as TusServer from "./utils/TusServer.ts"

const wait = { interval: "5 millis", timeout: "30 seconds" } as const
const params = { steps: { ":original": { robot: "/upload/handle" } } } as const
const kibi = 1024
const mebi = 1024 * kibi

const bytesOf = (size: number) => UploadSource.fromBytes(Scene.content(size))
const pieced = (bytes: Uint8Array) =>
  UploadSource.make({
    size: BigInt(bytes.length),
    identity: TusServer.sha256(bytes),
    bytes: (offset) => Scene.pieces(bytes.subarray(Number(offset)), 50_000)
  })

const job = (sizes: ReadonlyArray<number>, options?: Partial<AssemblyUpload.Options>): AssemblyUpload.Options => ({
  params,
  files: sizes.map((size, index) => ({ source: bytesOf(size), filename: `${index}.bin` })),
  transport: "form",
  wait,
  ...options
})

const clientAt = (baseUrl: string, credentials: Emulator.Emulator["Service"]["credentials"]) =>
  AssemblyClient.layer({ baseUrl, requestTimeout: "20 seconds" }).pipe(
    Layer.provide(Authenticator.layerSigned()),
    Layer.provide(Credentials.layer(credentials)),
    Layer.orDie
  )

/** A proxy in front of the emulator, whose next requests meet the faults, and the services of a program behind it. */
const behind = Effect.fnUntraced(function* (
  faults: ReadonlyArray<Fault> = [],
  http: Layer.Layer<HttpClient.HttpClient> = Clients.beneath.undici
) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const proxy = yield* TcpProxy.make(Number(new URL(baseUrl).port))
  proxy.faults.push(...faults)
  const services = Layer.provideMerge(clientAt(`http://${proxy.authority}`, credentials), http)
  return { ...proxy, services }
})

/** The Status of each Assembly that `program` has created. */
const creating = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
    const direct = Layer.provideMerge(clientAt(baseUrl, credentials), Clients.beneath.undici)
    const ids = Effect.map(Stream.runCollect(Assemblies.listAll({ fromDate })), (all) => all.map(({ id }) => id))
    const before = new Set(yield* Effect.provide(ids, direct))
    const exit = yield* Effect.exit(program)
    const created = yield* Effect.gen(function* () {
      const news = (yield* ids).filter((id) => !before.has(id))
      return yield* Effect.forEach(news, (id) => Assemblies.get(Assembly.AssemblyId.make(id)))
    }).pipe(Effect.provide(direct))
    return { exit, created }
  })

const told = (program: ReturnType<typeof AssemblyUpload.events>) => {
  const events: Array<AssemblyUploadEvent.AssemblyUploadEvent> = []
  return Effect.as(
    Effect.exit(Stream.runForEach(program, (event) => Effect.sync(() => events.push(event)))),
    events
  )
}

const hashes = ({ uploads }: Pick<Assembly.Status, "uploads">) => (uploads ?? []).map(({ name, sha256 }) => `${name} ${sha256}`)
const hashesOf = (sizes: ReadonlyArray<number>) =>
  sizes.map((size, index) => `${index}.bin ${TusServer.sha256(Scene.content(size))}`)

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E => Option.getOrThrow(Exit.findErrorOption(exit))

const live = Layer.merge(Emulator.layer(), NodeFileSystem.layer)

layer(live, { excludeTestServices: true })("transport: form", (it) => {
  for (const [name, http] of Object.entries(Clients.beneath)) {
    it.effect(`sends small files in one request, with ${name}`, () =>
      Effect.gen(function* () {
        const { requests, services } = yield* behind([], http)
        const sizes = [16 * kibi, 0, 70_000]
        const status = yield* Effect.provide(AssemblyUpload.run(job(sizes)), services)
        assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
        assert.deepStrictEqual(hashes(status), hashesOf(sizes))
        assert.deepStrictEqual(requests, ["POST"])
      })
    )

    it.effect(`streams larger files, with ${name}`, () =>
      Effect.gen(function* () {
        const { requests, services } = yield* behind([], http)
        const fs = yield* FileSystem.FileSystem
        const path = yield* fs.makeTempFileScoped()
        yield* fs.writeFile(path, Scene.content(5 * mebi))
        const files = [
          { source: yield* UploadSource.fromPath(path), filename: "0.bin", fieldname: "video" },
          { source: pieced(Scene.content(300_000)), filename: "1.bin" }
        ]
        const events = yield* told(Stream.provide(AssemblyUpload.events(job([], { files })), services))
        const sent = events.flatMap((event) => (event._tag === "Progress" ? [event.sent] : []))
        assert.isAbove(sent.length, 5)
        const last = events.at(-1)
        assert.strictEqual(last?._tag, "Completed")
        if (last?._tag !== "Completed") return
        assert.deepStrictEqual(hashes(last.status), hashesOf([5 * mebi, 300_000]))
        assert.deepStrictEqual(last.status.uploads?.map(({ field }) => field), ["video", "file"])
        assert.deepStrictEqual(requests, ["POST"])
      })
    )
  }
})
