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
  return Effect.as(Effect.exit(Stream.runForEach(program, (event) => Effect.sync(() => events.push(event)))), events)
}

const hashes = ({ uploads }: Pick<Assembly.Status, "uploads">) =>
  (uploads ?? []).map(({ name, sha256 }) => `${name} ${sha256}`)
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
        assert.deepStrictEqual(
          last.status.uploads?.map(({ field }) => field),
          ["video", "file"]
        )
        assert.deepStrictEqual(requests, ["POST"])
      })
    )
  }

  it.effect("keeps the names of files and fields of any script", () =>
    Effect.gen(function* () {
      const { services } = yield* behind()
      const names = ["größe 100%.bin", "写真.jpg", "a;b=c.txt", "it's, 'fine'.bin", "🐈.gif"]
      const files = names.map((filename, index) => ({ source: bytesOf(10), filename, fieldname: `Feld ü ${index}` }))
      const { uploads } = yield* Effect.provide(AssemblyUpload.run(job([], { files })), services)
      assert.deepStrictEqual(
        uploads?.map(({ name }) => name),
        names
      )
      assert.deepStrictEqual(
        uploads?.map(({ field }) => field),
        files.map(({ fieldname }) => fieldname)
      )
    })
  )

  it.effect("sends a file that contains parts of a form as it is", () =>
    Effect.gen(function* () {
      const { services } = yield* behind()
      const text =
        '\r\n--assembly-effect-0\r\nContent-Disposition: form-data; name="params"\r\n\r\n{}\r\n--assembly-effect-0--\r\n'
      const bytes = new TextEncoder().encode(text)
      const files = [{ source: UploadSource.fromBytes(bytes), filename: "a.txt" }]
      const { uploads } = yield* Effect.provide(AssemblyUpload.run(job([], { files })), services)
      assert.deepStrictEqual(
        uploads?.map(({ sha256 }) => sha256),
        [TusServer.sha256(bytes)]
      )
    })
  )

  const oneShot = UploadSource.fromStream(Stream.make(new Uint8Array(1)), { size: 1n })
  const id = Assembly.AssemblyId.make("0123456789abcdef".repeat(2))
  const of = (file: Partial<AssemblyUpload.File>) => ({ files: [{ source: bytesOf(1), filename: "a", ...file }] })
  for (const [rule, options, path] of [
    ["more than 8 MiB", { files: job([8 * mebi, 1]).files }, "files"],
    ["a one-shot stream", of({ source: oneShot }), "files.0.source"],
    ["metadata", of({ metadata: { a: "b" } }), "files.0.metadata"],
    ["a quotation mark in a filename", of({ filename: 'a"; name="params' }), "files.0.filename"],
    ["a line break in a fieldname", of({ fieldname: "a\r\nb" }), "files.0.fieldname"],
    ["a backslash in a filename", of({ filename: "a\\b" }), "files.0.filename"],
    ["options of uploads", { upload: { chunkSize: 1 } }, "upload"],
    ["a concurrency", { concurrency: 2 }, "concurrency"],
    ["a remedy for failed files", { onFailure: "keep" }, "onFailure"],
    ["resend with a chosen id", { resend: true, params: { ...params, assemblyId: id } }, "resend"],
    ["resend without a form", { resend: true, transport: undefined }, "resend"],
    ["an unknown transport", { transport: "carrier pigeon" as "form" }, "transport"]
  ] as ReadonlyArray<readonly [string, Partial<AssemblyUpload.Options>, string]>) {
    it.effect(`refuses ${rule}, and sends no request`, () =>
      Effect.gen(function* () {
        const { requests, services } = yield* behind()
        for (const run of [AssemblyUpload.run, AssemblyUpload.journaled.run]) {
          const error = yield* run(job([10], options)).pipe(
            Effect.provide(services),
            Effect.provide(UploadJournal.layerMemory()),
            Effect.flip
          )
          assert.strictEqual(error._tag, "InvalidRequest")
          if (error._tag === "InvalidRequest")
            assert.deepStrictEqual(
              error.issues.map((issue) => issue.path.join(".")),
              [path]
            )
        }
        assert.deepStrictEqual(requests, [])
      })
    )
  }

  for (const fault of [
    { _tag: "LostAnswer", method: "POST" },
    { _tag: "HalfAnswer", method: "POST" },
    { _tag: "StatusAfter", method: "POST", status: 500 },
    { _tag: "StatusAfter", method: "POST", status: 502 }
  ] satisfies ReadonlyArray<Fault>) {
    it.effect(`after ${JSON.stringify(fault)}, the Status of the chosen id is the result`, () =>
      Effect.gen(function* () {
        const { requests, services } = yield* behind([fault])
        const { created, exit } = yield* creating(Effect.provide(AssemblyUpload.run(job([1000])), services))
        assert.deepStrictEqual(
          created.map(({ assembly_id, ok }) => [assembly_id, ok]),
          [[Exit.isSuccess(exit) ? exit.value.assembly_id : "", "ASSEMBLY_COMPLETED"]]
        )
        assert.deepStrictEqual(requests, ["POST", "GET"])
      })
    )
  }

  for (const size of [1000, 2 * mebi]) {
    // In the fields, in the files, and before the last boundary.
    for (const bytes of [0, 100, 900, size + 500]) {
      const cut: Fault = { _tag: "Cut", method: "POST", bytes }
      it.effect(
        `a form of ${size} bytes that breaks after ${bytes} is FormBroken with its id, and none completes`,
        () =>
          Effect.gen(function* () {
            const { services } = yield* behind([cut])
            const once = AssemblyUpload.run(job([size])).pipe(RetryPolicy.none, Effect.provide(services))
            const { created, exit } = yield* creating(once)
            const error = failureOf(exit)
            assert.strictEqual(error._tag, "FormBroken")
            if (error._tag !== "FormBroken") return
            assert.deepStrictEqual(
              created.map(({ ok }) => ok),
              created.map(() => "REQUEST_ABORTED")
            )
            assert.includeMembers(
              [...error.assemblyIds],
              created.map(({ assembly_id }) => assembly_id)
            )
            assert.lengthOf(error.assemblyIds, 1)
          })
      )

      it.effect(
        `with resend, a form of ${size} bytes that breaks after ${bytes} completes once, and every id is told`,
        () =>
          Effect.gen(function* () {
            const { services } = yield* behind([cut, cut])
            const jobs = Stream.make({ ...job([size]), resend: true })
            const all = Stream.runCollect(AssemblyUpload.batch(jobs)).pipe(Effect.provide(services))
            const { created, exit } = yield* creating(all)
            const [outcome] = Exit.isSuccess(exit) ? exit.value : []
            assert.strictEqual(outcome?._tag, "Completed")
            if (outcome?._tag !== "Completed") return
            assert.deepStrictEqual(hashes(outcome.status), hashesOf([size]))
            assert.sameMembers(
              created.map(({ assembly_id, ok }) => `${assembly_id} ${ok}`),
              [
                `${outcome.status.assembly_id} ASSEMBLY_COMPLETED`,
                ...outcome.earlier.map((earlier) => `${earlier} REQUEST_ABORTED`)
              ]
            )
          })
      )
    }
  }
})
