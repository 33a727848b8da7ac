/** Jobs whose files are in the creating request, over HTTP to the emulator behind a proxy that injects faults. */
import { RetryPolicy } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadEvent, UploadJournal, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, Layer, Option, Random, type Scope, Stream } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { AssemblyUpload, assert, Clients, Draw, Emulated, type Fault } from "./utils/index.ts"
import { Idle, layer, layerTest, Scene, Tests } from "./utils/index.ts"
import { make as proxyTo } from "./utils/TcpProxy.ts"

const wait = { interval: "5 millis", timeout: "30 seconds" } as const
const params = { steps: { ":original": { robot: "/upload/handle" } } } as const
const waiting = (seconds: number) => ({
  steps: { ...params.steps, wait: { robot: "/emulator/wait", use: ":original", seconds } }
})
const kibi = 1024
const mebi = 1024 * kibi

const bytesOf = (size: number) => UploadSource.fromBytes(Scene.content(size))
const pieced = (bytes: Uint8Array) =>
  UploadSource.make({
    size: BigInt(bytes.length),
    identity: Scene.sha256(bytes),
    bytes: (offset) => Scene.pieces(bytes.subarray(Number(offset)), 50_000)
  })

type Options = Partial<AssemblyUpload.Options>

const job = (sizes: ReadonlyArray<number>, options?: Options): AssemblyUpload.Options => ({
  params,
  files: sizes.map((size, index) => ({ source: bytesOf(size), filename: `${index}.bin` })),
  transport: "form",
  wait,
  ...options
})

/** A form of 6 MiB, which takes a while. */
const long = (options?: Options) =>
  job([], { files: [{ source: pieced(Scene.content(6 * mebi)), filename: "0.bin" }], ...options })

const clientAt = (baseUrl: string, credentials: Emulator.Emulator["Service"]["credentials"]) =>
  Layer.orDie(Emulated.signed({ baseUrl, requestTimeout: "20 seconds" }, credentials))

/** A proxy in front of the emulator, whose next requests meet the faults, and the services of a program behind it. */
const behind = Effect.fnUntraced(function* (
  faults: ReadonlyArray<Fault> = [],
  http: Layer.Layer<HttpClient.HttpClient> = Clients.beneath.undici
) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const proxy = yield* proxyTo(Number(new URL(baseUrl).port))
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
    return { exit, created: yield* Effect.provide(Emulated.since(before), direct) }
  })

type Event = AssemblyUploadEvent.AssemblyUploadEvent

/** What a job came to: its events, its Status or error, its requests, and the Assemblies that it has created. */
const send = Effect.fnUntraced(function* (
  options: AssemblyUpload.Options,
  {
    faults,
    http,
    once = false
  }: {
    readonly faults?: ReadonlyArray<Fault>
    readonly http?: Layer.Layer<HttpClient.HttpClient>
    readonly once?: boolean
  } = {}
) {
  const { requests, services } = yield* behind(faults, http)
  const events: Array<Event> = []
  const run = AssemblyUploadEvent.result(
    Stream.tap(AssemblyUpload.events(options), (event) => Effect.sync(() => events.push(event)))
  ).pipe(once ? RetryPolicy.none : (same) => same, Effect.provide(services))
  const { created, exit } = yield* creating(run)
  const status = Exit.isSuccess(exit) ? exit.value : undefined
  return { created, error: Option.getOrUndefined(Exit.findErrorOption(exit)), events, requests, status }
})

const hashes = (status: Pick<Assembly.Status, "uploads"> | undefined) =>
  (status?.uploads ?? []).map(({ name, sha256 }) => `${name} ${sha256}`)
const hashesOf = (sizes: ReadonlyArray<number>) =>
  sizes.map((size, index) => `${index}.bin ${Scene.sha256(Scene.content(size))}`)

/** One of the Assemblies has completed, and the outcome tells the ids of all others. */
const tellsAll = (
  outcome: AssemblyUpload.Outcome<AssemblyUpload.Options> | undefined,
  created: ReadonlyArray<Assembly.Status>
) => {
  assert(outcome?._tag === "Completed", outcome?._tag)
  const ends = created.map(({ assembly_id, ok }) => `${assembly_id} ${ok}`)
  const others = outcome.earlier.map((id) => `${id} REQUEST_ABORTED`)
  assert.sameMembers(ends, [`${outcome.status.assembly_id} ASSEMBLY_COMPLETED`, ...others])
  return outcome
}

/** The one Assembly that was created has completed, and is the result. */
const isOnly = ({ created, status }: Effect.Success<ReturnType<typeof send>>) => {
  const ends = created.map(({ assembly_id, ok }) => [assembly_id, ok])
  assert.deepStrictEqual(ends, [[status?.assembly_id, "ASSEMBLY_COMPLETED"]])
}

const live = Layer.merge(Emulator.layer(), NodeFileSystem.layer)

layer(live)("transport: form", (it) => {
  for (const [name, http] of Object.entries(Clients.beneath)) {
    it.effect(`sends small files in one request, with ${name}`, function* () {
      const sizes = [16 * kibi, 0, 70_000]
      const { requests, status } = yield* send(job(sizes), { http })
      assert.strictEqual(status?.ok, "ASSEMBLY_COMPLETED")
      assert.deepStrictEqual(hashes(status), hashesOf(sizes))
      assert.deepStrictEqual(requests, ["POST"])
    })

    it.effect(`streams larger files, with ${name}`, function* () {
      const files = [
        { source: yield* Draw.file(Scene.content(5 * mebi)), filename: "0.bin", fieldname: "video" },
        { source: pieced(Scene.content(300_000)), filename: "1.bin" }
      ]
      const { events, requests, status } = yield* send(job([], { files }), { http })
      assert.isAbove(events.filter(AssemblyUploadEvent.$is("Progress")).length, 5)
      assert.deepStrictEqual(hashes(status), hashesOf([5 * mebi, 300_000]))
      assert.deepStrictEqual(Tests.pluck(status?.uploads, "field"), ["video", "file"])
      assert.deepStrictEqual(requests, ["POST"])
    })
  }

  it.effect(
    "keeps the names of files and fields of any script, and a file that contains parts of a form",
    function* () {
      const part = 'Content-Disposition: form-data; name="params"\r\n\r\n{}'
      const bytes = new TextEncoder().encode(`\r\n--assembly-effect-0\r\n${part}\r\n--assembly-effect-0--\r\n`)
      const names = ["größe 100%.bin", "写真.jpg", "a;b=c.txt", "it's, 'fine'.bin", "🐈.gif"]
      const files = names.map((filename, index) => ({
        source: UploadSource.fromBytes(bytes),
        filename,
        fieldname: `Feld ü ${index}`
      }))
      const { status } = yield* send(job([], { files }))
      const stored = status?.uploads?.map(({ field, name, sha256 }) => [name, field, sha256])
      const sent = files.map(({ fieldname, filename }) => [filename, fieldname, Scene.sha256(bytes)])
      assert.deepStrictEqual(stored, sent)
    }
  )

  const oneShot = UploadSource.fromStream(Stream.make(new Uint8Array(1)), { size: 1n })
  const id = Assembly.AssemblyId.make("0123456789abcdef".repeat(2))
  const of = (file: Partial<AssemblyUpload.File>) => ({ files: [{ source: bytesOf(1), filename: "a", ...file }] })
  it.effect.each([
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
  ] as ReadonlyArray<readonly [string, Options, string]>)(
    "refuses %s, and sends no request",
    function* ([, options, path]) {
      const { requests, services } = yield* behind()
      for (const run of [AssemblyUpload.run, AssemblyUpload.journaled.run]) {
        const error = yield* run(job([10], options)).pipe(
          Effect.provide(Layer.merge(services, UploadJournal.layerMemory())),
          Effect.flip
        )
        assert(error._tag === "InvalidRequest", error._tag)
        assert.deepStrictEqual(Tests.pathsOf(error), [path])
      }
      assert.deepStrictEqual(requests, [])
    }
  )

  it.effect.each([
    { _tag: "LostAnswer", method: "POST" },
    { _tag: "StatusAfter", method: "POST", status: 500 },
    { _tag: "StatusAfter", method: "POST", status: 502 }
  ] satisfies ReadonlyArray<Fault>)("after %j, the Status of the chosen id is the result", function* (fault) {
    const ended = yield* send(job([1000]), { faults: [fault] })
    isOnly(ended)
    assert.deepStrictEqual(ended.requests, ["POST", "GET"])
  })

  // A form in memory, and one that is streamed, in the fields, in the files, and before the last boundary.
  it.effect.each([
    [1000, 0],
    [1000, 900],
    [2 * mebi, 100],
    [2 * mebi, 2 * mebi + 500]
  ] as const)(
    "a form of %d bytes, broken after %d: FormBroken with its id; with resend, completes once",
    function* ([size, bytes]) {
      const cut: Fault = { _tag: "Cut", method: "POST", bytes }
      const { created, error } = yield* send(job([size]), { faults: [cut], once: true })
      assert(error?._tag === "FormBroken", error?._tag)
      assert.isTrue(created.every(({ ok }) => ok === "REQUEST_ABORTED"))
      const ids = created.map(({ assembly_id }) => assembly_id)
      assert.includeMembers([...error.assemblyIds], ids)
      assert.lengthOf(error.assemblyIds, 1)

      const { services } = yield* behind([cut, cut])
      const all = AssemblyUpload.batch(Stream.make(job([size], { resend: true })))
      const again = yield* creating(Effect.provide(Stream.runCollect(all), services))
      const outcome = tellsAll(Exit.isSuccess(again.exit) ? again.exit.value[0] : undefined, again.created)
      assert.deepStrictEqual(hashes(outcome.status), hashesOf([size]))
    }
  )

  it.effect("sends the form again with the same id, so that a form that arrives late is the only one", function* () {
    isOnly(yield* send(job([1000], { resend: true }), { http: held }))
  })

  it.effect("waits after a rate limit, and sends the form again with the same id", function* () {
    const limit: Fault = { _tag: "Status", method: "POST", status: 429, headers: { "retry-after": "0" } }
    const ended = yield* send(job([2 * mebi]), { faults: [limit] })
    isOnly(ended)
    assert.deepStrictEqual(ended.requests, ["POST", "POST"])
  })

  it.effect("fails with the error of the service if it refuses the form, or if no byte was sent", function* () {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const refused = yield* behind([{ _tag: "Status", method: "POST", status: 400, body: '{"error":"NO"}' }])
    for (const [client, expected] of [
      [refused.services, "ServiceFailure"],
      [clientAt("http://127.0.0.1:1", credentials), "TransportFailure"],
      [clientAt(baseUrl, { ...credentials, key: "another" }), "AuthenticationFailed"]
    ] as const) {
      const error = yield* AssemblyUpload.run(job([2 * mebi], { resend: true })).pipe(
        RetryPolicy.none,
        Effect.provide(Layer.provideMerge(client, Clients.beneath.undici)),
        Effect.flip
      )
      assert.strictEqual(error._tag, expected)
    }
  })

  it.effect("is FormBroken with isOver false if the Status cannot be read either", function* () {
    const faults: ReadonlyArray<Fault> = [
      { _tag: "LostAnswer", method: "POST" },
      { _tag: "Status", method: "GET", status: 503 }
    ]
    const { error, requests } = yield* send(job([10]), { faults, once: true })
    assert.deepInclude(error, { _tag: "FormBroken", isOver: false })
    assert.include(error?.message, "the service may still get the files")
    assert.deepStrictEqual(requests, ["POST", "GET"])
  })

  it.effect(
    "a form whose response was lost is FormBroken again if the next run reads no Status",
    UploadJournal.layerMemory(),
    function* () {
      const away: Fault = { _tag: "Status", method: "GET", status: 503 }
      const { services } = yield* behind([{ _tag: "LostAnswer", method: "POST" }, away, away])
      const run = Effect.flip(AssemblyUpload.journaled.run(job([10])).pipe(RetryPolicy.none, Effect.provide(services)))
      for (const error of [yield* run, yield* run]) assert.deepInclude(error, { _tag: "FormBroken", isOver: false })
    }
  )

  const first = Scene.pieces(Scene.content(mebi), 100_000)
  const broken = Stream.fail(new UploadSource.SourceFailed({ kind: "Unreadable", description: "a broken disk" }))
  it.effect.each([
    ["a small source ends early", "TooShort", 10, Stream.make(new Uint8Array(9))],
    ["a source ends early", "TooShort", 2 * mebi, first],
    ["a source has more bytes", "TooLong", 2 * mebi, Scene.pieces(Scene.content(3 * mebi), 100_000)],
    ["a source fails", "Unreadable", 2 * mebi, Stream.concat(first, broken)]
  ] as const)("is SourceFailed, and sends nothing, if %s", function* ([, kind, size, bytes]) {
    const files = [
      { source: bytesOf(10), filename: "a.bin" },
      { source: UploadSource.make({ size: BigInt(size), bytes: () => bytes }), filename: "b.bin" }
    ]
    const { error, requests } = yield* send(job([], { files, resend: true }))
    assert.deepInclude(error, { _tag: "SourceFailed", kind })
    assert.deepStrictEqual(requests, [])
  })

  it.effect("is DeliveryMismatch if the MD5 in the Status differs from the bytes that were read", function* () {
    const { created, error } = yield* send(job([10], { resend: true }), { http: forging })
    assert.deepInclude(error, { _tag: "DeliveryMismatch", field: "md5hash" })
    assert.lengthOf(created, 1)
  })

  it.effect("returns when the files have arrived if wait is false, after a lost response too", function* () {
    const options = job([10], { params: waiting(3600), wait: false })
    const whole = yield* send(options)
    const lost = yield* send(options, { faults: [{ _tag: "LostAnswer", method: "POST" }] })
    for (const { status } of [whole, lost]) assert.strictEqual(status?.ok, "ASSEMBLY_EXECUTING")
    assert.deepStrictEqual([whole.requests, lost.requests], [["POST"], ["POST", "GET"]])
  })
})

layerTest(Layer.empty)("transport: form, on the TestClock", (it) => {
  it.effect("a form whose bytes leave slowly is FormBroken at the deadline", function* () {
    const http = HttpClient.make(({ body }) => {
      const stream = body._tag === "Stream" ? body.stream : Stream.never
      return Effect.andThen(Effect.orDie(Stream.runForEach(stream, () => Effect.sleep("500 millis"))), Effect.never)
    })
    const client = Emulated.signed({ baseUrl: "https://api.example.com", deadline: "1 second" })
    const services = Layer.provideMerge(client, Layer.succeed(HttpClient.HttpClient, http))
    const run = Effect.flip(Effect.provide(AssemblyUpload.run(job([4 * mebi])), services))
    const { seconds, value } = yield* Idle.passTime(run, "100 millis")
    assert.deepInclude(value, { _tag: "FormBroken", isOver: false })
    assert.isAtMost(seconds, 2)
  })
})

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

  const { events, run } = AssemblyUpload.journaled

  /** A run that is left at an event. */
  const until = (options: AssemblyUpload.Options, name: Event["_tag"], count = 1) =>
    events(options).pipe(
      Stream.filter(({ _tag }) => _tag === name),
      Stream.take(count),
      Stream.runDrain
    )

  const outcomeOf = (options: AssemblyUpload.Options) =>
    Effect.map(Stream.runCollect(AssemblyUpload.journaled.batch(Stream.make(options))), ([outcome]) => outcome)

  test("a completed job is skipped, and its Status is returned by run, without another form", function* (requests) {
    const options = job([1000])
    const { assembly_id } = yield* run(options)
    assert.deepInclude(yield* outcomeOf(options), { _tag: "Skipped", assemblyId: assembly_id })
    assert.strictEqual((yield* run(options)).assembly_id, assembly_id)
    assert.deepStrictEqual(requests, ["POST", "GET"])
  })

  test("a run that was left after the response is continued, whatever transport the next run has", function* (requests) {
    const options = job([1000], { params: waiting(1) })
    yield* until(options, "AssemblyCreated")
    assert.deepStrictEqual(hashes(yield* run({ ...options, transport: "tus" })), hashesOf([1000]))
    assert.strictEqual(requests.filter((method) => method === "POST").length, 1)
  })

  test("a run that was left while it sent: FormBroken, then a new id", function* () {
    yield* until(long(), "Progress", 20)
    const { created, exit } = yield* creating(Effect.all([Effect.flip(run(long())), run(long())]))
    const [second, third] = Exit.isSuccess(exit) ? exit.value : assert.fail(String(exit))
    assert.deepInclude(second, { _tag: "FormBroken", isOver: true })
    assert.deepStrictEqual(Tests.pluck(created, "assembly_id"), [third.assembly_id])
    assert.deepStrictEqual(hashes(third), hashesOf([6 * mebi]))
  })

  test("with resend, each run tells the ids of all earlier runs", function* () {
    const options = long({ resend: true })
    const left = Effect.andThen(until(options, "Progress", 20), until(options, "Progress", 20))
    const { created, exit } = yield* creating(Effect.andThen(left, outcomeOf(options)))
    const { earlier } = tellsAll(Exit.isSuccess(exit) ? exit.value : undefined, created)
    assert.lengthOf(earlier, 2)
    assert.deepStrictEqual((yield* outcomeOf(options))?.earlier, earlier)
  })

  test("an unreadable source leaves no entry, a form that was not sent keeps its id", function* (requests) {
    const journal = yield* UploadJournal.UploadJournal
    const { assemblies } = journal
    const options = job([1000])
    const source = UploadSource.make({ size: 10n, identity: "a", bytes: () => Stream.make(new Uint8Array(9)) })
    yield* Effect.flip(run(job([], { files: [{ source, filename: "a.bin" }] })))
    assert.deepStrictEqual(yield* assemblies.list, [])
    assert.deepStrictEqual(requests, [])
    // The process ends between the entry and the request.
    const ending = UploadJournal.UploadJournal.of({
      ...journal,
      assemblies: { ...assemblies, put: (key, entry) => Effect.andThen(assemblies.put(key, entry), Effect.interrupt) }
    })
    yield* Effect.exit(Effect.provideService(run(options), UploadJournal.UploadJournal, ending))
    const [entry] = yield* assemblies.list
    assert.deepInclude(entry?.entry, { _tag: "Creating", isForm: true })
    assert.strictEqual((yield* run(options)).assembly_id, entry?.entry.assemblyId)
    assert.deepStrictEqual(requests, ["GET", "POST"])
  })
})

const schedules = Number(process.env["FORM_SCHEDULES"] ?? 12)

const drawFault = (size: number): Effect.Effect<Fault> =>
  Effect.gen(function* () {
    const bytes = yield* Random.nextIntBetween(0, size + 1500)
    const method = yield* Draw.pick(["POST", "GET"] as const)
    const headers = { "retry-after": "0" }
    return yield* Draw.pick<Fault>([
      { _tag: "Cut", method: "POST", bytes },
      { _tag: "LostAnswer", method },
      { _tag: "HalfAnswer", method },
      { _tag: "StatusAfter", method: "POST", status: yield* Draw.pick([500, 502, 504]) },
      { _tag: "Status", method, status: yield* Draw.pick([429, 500, 503]), headers },
      { _tag: "Slow", method: "POST", bytes: Math.max(20_000, size >> 3), millis: 2 }
    ])
  })

/** A job with a journal, whose first runs are left, until it has completed. `told` gets the ids that its runs tell. */
const oneJob = (seed: number, told: Set<unknown>) =>
  Effect.gen(function* () {
    const sizes = yield* Draw.pick([[1000], [16 * kibi, 5], [300_000], [mebi, 2 * mebi]])
    const files = sizes.map((size, index) => ({ source: pieced(Scene.content(size)), filename: `${index}.bin` }))
    const resend = yield* Draw.pick([true, true, false])
    const count = yield* Random.nextIntBetween(0, 5)
    const faults = yield* Effect.forEach(Array.from({ length: count }), () => drawFault(sizes[0]!))
    const { services } = yield* behind(faults, yield* Draw.pick(Object.values(Clients.beneath)))
    const events = AssemblyUpload.journaled.events(job([], { files, resend, params: { ...params, fields: { seed } } }))
    const run = (most: number) =>
      Stream.take(events, most).pipe(
        Stream.tap((event) =>
          Effect.sync(() => {
            if ("status" in event) told.add(event.status.assembly_id)
            if (event._tag === "Resent") told.add(event.assemblyId)
          })
        ),
        AssemblyUploadEvent.result,
        Effect.tapError((error) =>
          Effect.sync(() => {
            for (const id of error._tag === "FormBroken" ? error.assemblyIds : []) told.add(id)
          })
        ),
        RetryPolicy.withPolicy(RetryPolicy.make({ retries: 6, base: "2 millis" })),
        Effect.provide(services)
      )
    for (let left = 0; left < 3; left++) yield* Effect.exit(run(yield* Random.nextIntBetween(1, 12)))
    const status = yield* Effect.retry(run(Infinity), { times: 20 })
    assert.deepStrictEqual(hashes(status), hashesOf(sizes), `seed ${seed}`)
  }).pipe(Random.withSeed(seed), Effect.provide(UploadJournal.layerMemory()), Effect.scoped)

layer(live)("transport: form, under faults", (it) => {
  it.effect(
    `${schedules} jobs complete one Assembly each, and tell every id`,
    function* () {
      const told = new Set<unknown>()
      const seeds = Array.from({ length: schedules }, (_, seed) => seed)
      const { created, exit } = yield* creating(Effect.forEach(seeds, (seed) => oneJob(seed, told), { concurrency: 4 }))
      assert(Exit.isSuccess(exit), String(exit))
      const completed = created.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED")
      const jobs = completed.map(({ fields }) => Number(fields?.["seed"]))
      assert.sameMembers(jobs, seeds)
      const ids = created.map(({ assembly_id }) => assembly_id)
      assert.deepStrictEqual(
        ids.filter((id) => !told.has(id)),
        []
      )
    },
    { timeout: Math.max(60_000, schedules * 5000) }
  )
})

/** The first form arrives only when the second one is sent; until then its connection is broken. */
const held = Clients.changed(Clients.undici, (client) => {
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

/** Changes the MD5 of every file in a response. */
const forging = Clients.changed(Clients.undici, (client) =>
  Clients.retelling(client, (text) => text.replaceAll(/"md5hash":"[0-9a-f]{32}"/g, `"md5hash":"${"0".repeat(32)}"`))
)
