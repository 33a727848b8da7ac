/** Jobs whose files are in the creating request, over HTTP to the emulator behind a proxy that injects faults. */
import { RetryPolicy } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import type { AssemblyUploadError } from "@assembly-effect/tus/AssemblyUploadError"
import { type AssemblyUploadEvent, UploadJournal, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Exit, FileSystem, Layer, Option, Random, type Scope, Stream } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import {
  AssemblyUpload,
  Clients,
  Draw,
  Emulated,
  type Fault,
  Scene,
  TcpProxy,
  Tests,
  TusServer
} from "./utils/index.ts"

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
  Layer.orDie(Emulated.signed({ baseUrl, requestTimeout: "20 seconds" }, credentials))

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
    const direct = Layer.provideMerge(clientAt(baseUrl, credentials), Clients.beneath.undici)
    const before = yield* Effect.provide(Emulated.ids, direct)
    const exit = yield* Effect.exit(program)
    const created = yield* Effect.provide(Emulated.since(before), direct)
    return { exit, created }
  })

type Event = AssemblyUploadEvent.AssemblyUploadEvent

const told = <E, R>(program: Stream.Stream<Event, E, R>) => {
  const events: Array<Event> = []
  return Effect.as(Effect.exit(Stream.runForEach(program, (event) => Effect.sync(() => events.push(event)))), events)
}

const hashes = ({ uploads }: Pick<Assembly.Status, "uploads">) =>
  (uploads ?? []).map(({ name, sha256 }) => `${name} ${sha256}`)
const hashesOf = (sizes: ReadonlyArray<number>) =>
  sizes.map((size, index) => `${index}.bin ${TusServer.sha256(Scene.content(size))}`)

/** One of the Assemblies has completed, and the outcome tells the ids of all others. */
const tellsAll = (
  { earlier, status }: { earlier: ReadonlyArray<string>; status: Assembly.Status },
  created: ReadonlyArray<Assembly.Status>
) =>
  assert.sameMembers(
    created.map(({ assembly_id, ok }) => `${assembly_id} ${ok}`),
    [`${status.assembly_id} ASSEMBLY_COMPLETED`, ...earlier.map((id) => `${id} REQUEST_ABORTED`)]
  )

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E => Option.getOrThrow(Exit.findErrorOption(exit))

const live = Layer.merge(Emulator.layer(), NodeFileSystem.layer)

layer(live)("transport: form", (it) => {
  for (const [name, http] of Object.entries(Clients.beneath)) {
    it.effect(`sends small files in one request, with ${name}`, function* () {
      const { requests, services } = yield* behind([], http)
      const sizes = [16 * kibi, 0, 70_000]
      const status = yield* Effect.provide(AssemblyUpload.run(job(sizes)), services)
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
      assert.deepStrictEqual(hashes(status), hashesOf(sizes))
      assert.deepStrictEqual(requests, ["POST"])
    })

    it.effect(`streams larger files, with ${name}`, function* () {
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
      assert.deepStrictEqual(Tests.pluck(last.status.uploads, "field"), ["video", "file"])
      assert.deepStrictEqual(requests, ["POST"])
    })
  }

  it.effect("keeps the names of files and fields of any script", function* () {
    const { services } = yield* behind()
    const names = ["größe 100%.bin", "写真.jpg", "a;b=c.txt", "it's, 'fine'.bin", "🐈.gif"]
    const files = names.map((filename, index) => ({ source: bytesOf(10), filename, fieldname: `Feld ü ${index}` }))
    const { uploads } = yield* Effect.provide(AssemblyUpload.run(job([], { files })), services)
    assert.deepStrictEqual(Tests.pluck(uploads, "name"), names)
    assert.deepStrictEqual(
      Tests.pluck(uploads, "field"),
      files.map(({ fieldname }) => fieldname)
    )
  })

  it.effect("sends a file that contains parts of a form as it is", function* () {
    const { services } = yield* behind()
    const text =
      '\r\n--assembly-effect-0\r\nContent-Disposition: form-data; name="params"\r\n\r\n{}\r\n--assembly-effect-0--\r\n'
    const bytes = new TextEncoder().encode(text)
    const files = [{ source: UploadSource.fromBytes(bytes), filename: "a.txt" }]
    const { uploads } = yield* Effect.provide(AssemblyUpload.run(job([], { files })), services)
    assert.deepStrictEqual(Tests.pluck(uploads, "sha256"), [TusServer.sha256(bytes)])
  })

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
    it.effect(`refuses ${rule}, and sends no request`, function* () {
      const { requests, services } = yield* behind()
      for (const run of [AssemblyUpload.run, AssemblyUpload.journaled.run]) {
        const error = yield* run(job([10], options)).pipe(
          Effect.provide(Layer.merge(services, UploadJournal.layerMemory())),
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
  }

  for (const fault of [
    { _tag: "LostAnswer", method: "POST" },
    { _tag: "HalfAnswer", method: "POST" },
    { _tag: "StatusAfter", method: "POST", status: 500 },
    { _tag: "StatusAfter", method: "POST", status: 502 }
  ] satisfies ReadonlyArray<Fault>) {
    it.effect(`after ${JSON.stringify(fault)}, the Status of the chosen id is the result`, function* () {
      const { requests, services } = yield* behind([fault])
      const { created, exit } = yield* creating(Effect.provide(AssemblyUpload.run(job([1000])), services))
      assert.deepStrictEqual(
        created.map(({ assembly_id, ok }) => [assembly_id, ok]),
        [[Exit.isSuccess(exit) ? exit.value.assembly_id : "", "ASSEMBLY_COMPLETED"]]
      )
      assert.deepStrictEqual(requests, ["POST", "GET"])
    })
  }

  // A form in memory, and one that is streamed, in the fields, in the files, and before the last boundary.
  for (const [size, places] of [
    [1000, [0, 900]],
    [2 * mebi, [100, 2 * mebi + 500]]
  ] as const) {
    for (const bytes of places) {
      const cut: Fault = { _tag: "Cut", method: "POST", bytes }
      it.effect(`a form of ${size} bytes, broken after ${bytes}: FormBroken with its id`, function* () {
        const { services } = yield* behind([cut])
        const once = AssemblyUpload.run(job([size])).pipe(RetryPolicy.none, Effect.provide(services))
        const { created, exit } = yield* creating(once)
        const error = failureOf(exit)
        assert.strictEqual(error._tag, "FormBroken")
        if (error._tag !== "FormBroken") return
        assert.deepStrictEqual(
          Tests.pluck(created, "ok"),
          created.map(() => "REQUEST_ABORTED")
        )
        assert.includeMembers(
          [...error.assemblyIds],
          created.map(({ assembly_id }) => assembly_id)
        )
        assert.lengthOf(error.assemblyIds, 1)
      })

      it.effect(`with resend, a form of ${size} bytes, broken after ${bytes}: completes once`, function* () {
        const { services } = yield* behind([cut, cut])
        const jobs = Stream.make({ ...job([size]), resend: true })
        const all = Stream.runCollect(AssemblyUpload.batch(jobs)).pipe(Effect.provide(services))
        const { created, exit } = yield* creating(all)
        const [outcome] = Exit.isSuccess(exit) ? exit.value : []
        assert.strictEqual(outcome?._tag, "Completed")
        if (outcome?._tag !== "Completed") return
        assert.deepStrictEqual(hashes(outcome.status), hashesOf([size]))
        tellsAll(outcome, created)
      })
    }
  }

  it.effect("sends the form again with the same id, so that a form that arrives late is the only one", function* () {
    const { services } = yield* behind([], held)
    const { created, exit } = yield* creating(
      Effect.provide(AssemblyUpload.run(job([1000], { resend: true })), services)
    )
    assert.deepStrictEqual(
      created.map(({ assembly_id, ok }) => [assembly_id, ok]),
      [[Exit.isSuccess(exit) ? exit.value.assembly_id : "", "ASSEMBLY_COMPLETED"]]
    )
  })

  it.effect("waits after a rate limit, and sends the form again with the same id", function* () {
    const limit: Fault = { _tag: "Status", method: "POST", status: 429, headers: { "retry-after": "0" } }
    const { requests, services } = yield* behind([limit])
    const { created } = yield* creating(Effect.provide(AssemblyUpload.run(job([2 * mebi])), services))
    assert.deepStrictEqual(Tests.pluck(created, "ok"), ["ASSEMBLY_COMPLETED"])
    assert.deepStrictEqual(requests, ["POST", "POST"])
  })

  it.effect("fails with the error of the service if it refuses the form, or if no byte was sent", function* () {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const refused = yield* behind([{ _tag: "Status", method: "POST", status: 400, body: '{"error":"NO"}' }])
    const unreachable = Layer.provideMerge(clientAt("http://127.0.0.1:1", credentials), Clients.beneath.undici)
    const unknown = Layer.provideMerge(clientAt(baseUrl, { ...credentials, key: "another" }), Clients.beneath.undici)
    for (const [services, expected] of [
      [refused.services, "ServiceFailure"],
      [unreachable, "TransportFailure"],
      [unknown, "AuthenticationFailed"]
    ] as const) {
      const error = yield* AssemblyUpload.run(job([2 * mebi], { resend: true })).pipe(
        RetryPolicy.none,
        Effect.provide(services),
        Effect.flip
      )
      assert.strictEqual(error._tag, expected)
    }
  })

  it.effect("is FormBroken with isOver false if the Status cannot be read either", function* () {
    const { requests, services } = yield* behind([
      { _tag: "LostAnswer", method: "POST" },
      { _tag: "Status", method: "GET", status: 503 }
    ])
    const error = yield* AssemblyUpload.run(job([10])).pipe(RetryPolicy.none, Effect.provide(services), Effect.flip)
    assert.deepInclude(error, { _tag: "FormBroken", isOver: false })
    assert.include(error.message, "the service may still get the files")
    assert.deepStrictEqual(requests, ["POST", "GET"])
  })

  for (const [what, kind, size, bytes] of [
    ["a small source ends early", "TooShort", 10, Stream.make(new Uint8Array(9))],
    ["a source ends early", "TooShort", 2 * mebi, Scene.pieces(Scene.content(mebi), 100_000)],
    ["a source has more bytes", "TooLong", 2 * mebi, Scene.pieces(Scene.content(3 * mebi), 100_000)],
    [
      "a source fails",
      "Unreadable",
      2 * mebi,
      Stream.concat(
        Scene.pieces(Scene.content(mebi), 100_000),
        Stream.fail(new UploadSource.SourceFailed({ kind: "Unreadable", description: "a broken disk" }))
      )
    ]
  ] as const) {
    it.effect(`is SourceFailed, and sends nothing, if ${what}`, function* () {
      const { requests, services } = yield* behind()
      const files = [
        { source: bytesOf(10), filename: "a.bin" },
        { source: UploadSource.make({ size: BigInt(size), bytes: () => bytes }), filename: "b.bin" }
      ]
      const error = yield* Effect.flip(Effect.provide(AssemblyUpload.run(job([], { files, resend: true })), services))
      assert.deepInclude(error, { _tag: "SourceFailed", kind })
      assert.deepStrictEqual(requests, [])
    })
  }

  it.effect("is DeliveryMismatch if the MD5 in the Status differs from the bytes that were read", function* () {
    const { services } = yield* behind([], forging)
    const { created, exit } = yield* creating(Effect.provide(AssemblyUpload.run(job([10], { resend: true })), services))
    assert.deepInclude(failureOf(exit), { _tag: "DeliveryMismatch", field: "md5hash" })
    assert.lengthOf(created, 1)
  })

  it.effect("returns when the files have arrived if wait is false, after a lost response too", function* () {
    const slow = { ...params.steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 3600 } }
    for (const [faults, expected] of [
      [[], ["POST"]],
      [[{ _tag: "LostAnswer", method: "POST" }], ["POST", "GET"]]
    ] as ReadonlyArray<readonly [ReadonlyArray<Fault>, ReadonlyArray<string>]>) {
      const { requests, services } = yield* behind(faults)
      const status = yield* Effect.provide(
        AssemblyUpload.run(job([10], { params: { steps: slow }, wait: false })),
        services
      )
      assert.strictEqual(status.ok, "ASSEMBLY_EXECUTING")
      assert.deepStrictEqual(requests, expected)
    }
  })
})

/** The ids that the events and the error of a run tell. */
const idsIn = (events: ReadonlyArray<Event>, error: AssemblyUploadError | undefined): ReadonlyArray<string> => [
  ...events.flatMap((event) => {
    if ("status" in event) return [event.status.assembly_id]
    return event._tag === "Resent" ? [event.assemblyId] : []
  }),
  ...(error?._tag === "FormBroken" ? error.assemblyIds : []),
  ...(error !== undefined && "assemblyId" in error && error.assemblyId !== undefined ? [error.assemblyId] : [])
]

layer(live)("transport: form, with a journal", (it) => {
  type Services =
    | Layer.Success<typeof live | ReturnType<typeof clientAt>>
    | HttpClient.HttpClient
    | UploadJournal.UploadJournal
    | Scope.Scope

  /** A test of runs with one journal, and of the requests that they send. */
  const test = (
    title: string,
    body: (requests: ReadonlyArray<string>) => Generator<Effect.Effect<unknown, unknown, Services>, void, never>
  ) =>
    it.effect(title, function* () {
      const { requests, services } = yield* behind()
      const journal = UploadJournal.layerMemory()
      yield* Effect.provide(
        Effect.gen(() => body(requests)),
        Layer.merge(services, journal)
      )
    })

  /** A run that is left at an event. */
  const until = (options: AssemblyUpload.Options, name: Event["_tag"], count = 1) =>
    AssemblyUpload.journaled.events(options).pipe(
      Stream.filter(({ _tag }) => _tag === name),
      Stream.take(count),
      Stream.runDrain
    )

  const skipped = (options: AssemblyUpload.Options) =>
    Stream.provide(AssemblyUpload.runAll(Stream.make(options)), AssemblyUpload.layerJournaled).pipe(Stream.runCollect)

  test("a completed job is skipped, and its Status is returned by run, without another form", function* (requests) {
    const options = job([1000])
    const { assembly_id } = yield* AssemblyUpload.journaled.run(options)
    const [outcome] = yield* skipped(options)
    assert.deepInclude(outcome, { _tag: "Skipped", assemblyId: assembly_id })
    assert.strictEqual((yield* AssemblyUpload.journaled.run(options)).assembly_id, assembly_id)
    assert.deepStrictEqual(requests, ["POST", "GET"])
  })

  test("a run that was left after the response is continued, whatever transport the next run has", function* (requests) {
    const slow = { ...params.steps, wait: { robot: "/emulator/wait", use: ":original", seconds: 1 } }
    const options = job([1000], { params: { steps: slow } })
    yield* until(options, "AssemblyCreated")
    const status = yield* AssemblyUpload.journaled.run({ ...options, transport: "tus" })
    assert.deepStrictEqual(hashes(status), hashesOf([1000]))
    assert.deepStrictEqual(
      requests.filter((method) => method === "POST"),
      ["POST"]
    )
  })

  test("a run that was left while it sent: FormBroken, then a new id", function* () {
    const options = job([], { files: [{ source: pieced(Scene.content(6 * mebi)), filename: "0.bin" }] })
    yield* until(options, "Progress", 20)
    const { created, exit } = yield* creating(
      Effect.gen(function* () {
        const second = yield* Effect.flip(AssemblyUpload.journaled.run(options))
        const third = yield* AssemblyUpload.journaled.run(options)
        return { second, third }
      })
    )
    const { second, third } = Exit.isSuccess(exit) ? exit.value : assert.fail(String(exit))
    assert.deepInclude(second, { _tag: "FormBroken", isOver: true })
    assert.deepStrictEqual(Tests.pluck(created, "assembly_id"), [third.assembly_id])
    assert.deepStrictEqual(hashes(third), hashesOf([6 * mebi]))
  })

  test("with resend, each run tells the ids of all earlier runs", function* () {
    const files = [{ source: pieced(Scene.content(6 * mebi)), filename: "0.bin" }]
    const options = job([], { files, resend: true })
    const left = Effect.andThen(until(options, "Progress", 20), until(options, "Progress", 20))
    const { created, exit } = yield* creating(Effect.andThen(left, skipped(options)))
    const [outcome] = Exit.isSuccess(exit) ? exit.value : []
    const again = yield* skipped(options)
    assert.strictEqual(outcome?._tag, "Completed")
    if (outcome?._tag !== "Completed") return
    assert.lengthOf(outcome.earlier, 2)
    assert.deepStrictEqual(again[0]?.earlier, outcome.earlier)
    tellsAll(outcome, created)
  })

  test("an unreadable source leaves no entry, a form that was not sent keeps its id", function* (requests) {
    const { assemblies } = yield* UploadJournal.UploadJournal
    const options = job([1000])
    const source = UploadSource.make({ size: 10n, identity: "a", bytes: () => Stream.make(new Uint8Array(9)) })
    yield* Effect.flip(AssemblyUpload.journaled.run(job([], { files: [{ source, filename: "a.bin" }] })))
    assert.deepStrictEqual(yield* assemblies.list, [])
    assert.deepStrictEqual(requests, [])
    // The process ends between the entry and the request.
    const journal = yield* UploadJournal.UploadJournal
    const ending = UploadJournal.UploadJournal.of({
      ...journal,
      assemblies: { ...assemblies, put: (key, entry) => Effect.andThen(assemblies.put(key, entry), Effect.interrupt) }
    })
    yield* Effect.exit(
      Effect.provideService(AssemblyUpload.journaled.run(options), UploadJournal.UploadJournal, ending)
    )
    const [entry] = yield* assemblies.list
    assert.deepInclude(entry?.entry, { _tag: "Creating", isForm: true })
    const status = yield* AssemblyUpload.journaled.run(options)
    assert.strictEqual(status.assembly_id, entry?.entry.assemblyId)
    assert.deepStrictEqual(requests, ["GET", "POST"])
  })
})

const schedules = Number(process.env["FORM_SCHEDULES"] ?? 12)

const drawFault = (size: number): Effect.Effect<Fault> =>
  Effect.gen(function* () {
    const bytes = yield* Random.nextIntBetween(0, size + 1500)
    const again = { "retry-after": "0" }
    return yield* Draw.pick<Fault>([
      { _tag: "Cut", method: "POST", bytes },
      { _tag: "Cut", method: "POST", bytes },
      { _tag: "LostAnswer", method: "POST" },
      { _tag: "HalfAnswer", method: "POST" },
      { _tag: "StatusAfter", method: "POST", status: yield* Draw.pick([500, 502, 504]) },
      { _tag: "Status", method: "POST", status: yield* Draw.pick([500, 503]), headers: again },
      { _tag: "Status", method: "POST", status: 429, headers: again },
      { _tag: "SlowAnswer", method: "POST", millis: 20 },
      { _tag: "Slow", method: "POST", bytes: Math.max(20_000, size >> 3), millis: 2 },
      { _tag: "LostAnswer", method: "GET" },
      { _tag: "HalfAnswer", method: "GET" },
      { _tag: "Status", method: "GET", status: yield* Draw.pick([500, 503]), headers: again }
    ])
  })

/** A job with and without a journal, some of whose runs are left, until it has completed or failed for good. */
const oneJob = Effect.gen(function* () {
  const sizes = yield* Draw.pick([[1000], [16 * kibi, 5], [300_000], [mebi, 2 * mebi]])
  const sources = sizes.map((size) => pieced(Scene.content(size)))
  const resend = yield* Draw.pick([true, true, false])
  const files = sources.map((source, index) => ({ source, filename: `${index}.bin` }))
  const options = job([], { files, resend, params: { ...params, fields: { id: yield* Random.nextInt } } })
  const count = yield* Random.nextIntBetween(0, 5)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const faults = yield* Effect.forEach(Array.from({ length: count }), () => drawFault(total))
  const { services } = yield* behind(faults, yield* Draw.pick(Object.values(Clients.beneath)))
  const isJournaled = yield* Draw.pick([true, true, false])
  const program = isJournaled ? AssemblyUpload.journaled.events(options) : AssemblyUpload.events(options)
  const ids: Array<string> = []
  let end = "left"
  for (let run = 0; run < 20 && end !== "Completed"; run++) {
    const leaveAt = isJournaled && run < 3 ? yield* Random.nextIntBetween(1, 12) : Infinity
    const events: Array<Event> = []
    const exit = yield* program.pipe(
      Stream.takeUntil((event) => events.push(event) >= leaveAt),
      Stream.runDrain,
      RetryPolicy.withPolicy(RetryPolicy.make({ retries: 6, base: "2 millis" })),
      Effect.provide(services),
      Effect.exit
    )
    const error = Option.getOrUndefined(Exit.findErrorOption(exit))
    ids.push(...idsIn(events, error))
    end = error?._tag ?? events.find(({ _tag }) => _tag === "Completed")?._tag ?? "left"
    if (error !== undefined && !isJournaled) break
  }
  return { ids, end, isJournaled, sizes }
}).pipe(Effect.provide(UploadJournal.layerMemory()), Effect.scoped)

layer(live)("transport: form, under faults", (it) => {
  it.effect(
    `${schedules} jobs complete one Assembly each, or say why not, and tell every id`,
    () =>
      Effect.gen(function* () {
        const seeds = Array.from({ length: schedules }, (_, seed) => seed)
        const { created, exit } = yield* creating(
          Effect.forEach(seeds, (seed) => Random.withSeed(oneJob, seed), { concurrency: 4 })
        )
        const jobs = Exit.isSuccess(exit) ? exit.value : assert.fail(String(exit))
        const byId = new Map(created.map((status) => [String(status.assembly_id), status]))
        for (const [seed, { end, ids, isJournaled, sizes }] of jobs.entries()) {
          const own = [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
          const completed = own.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED")
          if (isJournaled) assert.strictEqual(end, "Completed", `seed ${seed}`)
          if (end === "Completed") assert.deepStrictEqual(completed.map(hashes), [hashesOf(sizes)], `seed ${seed}`)
          // Nothing shows what became of a form if its Status cannot be read either.
          else assert.isAtMost(completed.length, end === "FormBroken" ? 1 : 0, `seed ${seed}: ${end}`)
        }
        const listed = new Set(jobs.flatMap(({ ids }) => ids))
        assert.deepStrictEqual(
          [...byId.keys()].filter((id) => !listed.has(id)),
          []
        )
        const others = created.length - created.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED").length
        console.log(`forms: ${Draw.counts(jobs.map(({ end }) => end))}; ${others} other Assemblies, all told`)
      }),
    { timeout: Math.max(60_000, schedules * 5000) }
  )
})

/** The first form arrives only when the second one is sent; until then its connection is broken. */
const held = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    let late: (() => Promise<unknown>) | undefined
    return HttpClient.transform(client, (sent, request) => {
      const { body, headers, method, url } = request
      if (method !== "POST" || body._tag !== "Uint8Array") return sent
      if (late !== undefined) return Effect.andThen(Effect.promise(late), sent)
      late = () => fetch(url, { method, headers, body: body.body as Uint8Array<ArrayBuffer> })
      const reason = new HttpClientError.TransportError({ request, description: "the connection broke" })
      return Effect.fail(new HttpClientError.HttpClientError({ reason }))
    })
  })
).pipe(Layer.provide(Clients.beneath.undici))

/** Changes the MD5 of every file in a response. */
const forging = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) =>
    Clients.retelling(client, (text) => text.replaceAll(/"md5hash":"[0-9a-f]{32}"/g, `"md5hash":"${"0".repeat(32)}"`))
  )
).pipe(Layer.provide(Clients.beneath.undici))
