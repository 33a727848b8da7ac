/**
 * The whole job in several runs: whatever ends a run, the next one continues the same Assembly and the same files.
 */
import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadEvent, UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Deferred, Effect, Fiber, Layer, Schedule, type Scope, Stream } from "effect"
import { HttpClient, type HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { assert, layer, AssemblyUpload, Emulated, Leases, Scene, Tests, TusServer, Upload } from "./utils/index.ts"

const { events: eventsOf, run } = AssemblyUpload.journaled
const handle = { ":original": { robot: "/upload/handle" } }
const upload = { retryDelay: "1 millis", maxRetries: 1, chunkSize: 300_000 } as const
const wait = { interval: "10 millis", timeout: "20 seconds" } as const

interface File extends AssemblyUpload.File {
  readonly source: UploadSource.Replayable
}
type Options = Partial<AssemblyUpload.Options>

const file = (filename: string, size: number): File => ({
  source: UploadSource.fromBytes(Scene.content(size)),
  filename
})
const files = [file("a.bin", 700_000), file("b.bin", 10), file("b.bin", 10), file("c.bin", 900_000)]

/** Jobs that differ in a field are different jobs. */
const job = (name: string, options: Options = {}): AssemblyUpload.Options => ({
  params: { steps: handle, fields: { name } },
  files,
  upload,
  wait,
  concurrency: 1,
  ...options
})

const whole = files.map(
  ({ filename }, index) => `${filename} ${TusServer.sha256(Scene.content([700_000, 10, 10, 900_000][index] ?? 0))}`
)
const storedIn = ({ uploads }: Assembly.Status) => (uploads ?? []).map(({ name, sha256 }) => `${name} ${sha256}`)

type Event = AssemblyUploadEvent.AssemblyUploadEvent

const idOf = (events: ReadonlyArray<Event>): string | undefined =>
  events.find((event) => "status" in event)?.status.assembly_id

/** The name of an event; that of a file's upload has its own behind it. */
const nameOf = (event: Event) => (event._tag === "FileEvent" ? `FileEvent ${event.event._tag}` : event._tag)

/** A run that ends at an event. */
const until = (options: AssemblyUpload.Options, name: string, count = 1) =>
  Effect.suspend(() => {
    let seen = 0
    return eventsOf(options).pipe(
      Stream.takeUntil((event) => nameOf(event) === name && ++seen === count),
      Stream.runCollect
    )
  })

const assembliesIn = Effect.flatMap(UploadJournal.UploadJournal, ({ assemblies }) => assemblies.list)

/** The one job that the journal knows. */
const known = Effect.map(assembliesIn, ([one]) => one ?? assert.fail("no entry"))

/** The id that the journal knows, as a text. */
const knownId = Effect.map(known, ({ entry }): string => entry.assemblyId)

/** Changes the one job that the journal knows. */
const rewrite = (change: Partial<UploadJournal.AssemblyEntry>) =>
  Effect.gen(function* () {
    const { assemblies } = yield* UploadJournal.UploadJournal
    const { entry, key } = yield* known
    yield* assemblies.put(key, { ...entry, ...change })
  })

/** No Assembly has this id. */
const gone = Assembly.AssemblyId.make("0".repeat(32))

/** A run with a journal that is changed. */
const withJournal = (
  change: (journal: UploadJournal.UploadJournal["Service"]) => Partial<UploadJournal.UploadJournal["Service"]>
) =>
  Effect.updateService(UploadJournal.UploadJournal, (journal) =>
    UploadJournal.UploadJournal.of({ ...journal, ...change(journal) })
  )

/** A run whose lease another process takes as soon as its Assembly is being created. */
const takenOver = Effect.fnUntraced(function* (options: AssemblyUpload.Options) {
  let isTaken = false
  const client = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) => {
    isTaken ||= request.method === "POST"
    return request
  })
  return yield* run(options).pipe(
    withJournal((journal) => Leases.taken(journal, () => isTaken)),
    Effect.provide(Emulated.over(client)),
    Effect.flip
  )
})

layer(Emulated.live)("A job with a journal", (it) => {
  type Services = Layer.Success<typeof Emulated.live> | UploadJournal.UploadJournal | Scope.Scope
  const test = Tests.within(it.effect, <A, E>(effect: Effect.Effect<A, E, Services>) =>
    Effect.provide(effect, UploadJournal.layerMemory())
  )

  test.each([
    ["AssemblyCreated", 1],
    ["FileEvent Created", 1],
    ["Progress", 2],
    ["FileCompleted", 1],
    ["FileCompleted", 3],
    ["Uploaded", 1]
  ] as const)(
    "a job that is left at %s %s continues with the same Assembly and the same files",
    function* ([name, count]) {
      const options = job(`${name} ${count}`)
      const first = yield* until(options, name, count)
      const second = yield* Stream.runCollect(eventsOf(options))
      const status = yield* AssemblyUploadEvent.result(Stream.fromIterable(second))
      assert.strictEqual<string | undefined>(status.assembly_id, idOf(first))
      assert.sameMembers(storedIn(status), whole)
      assert.isTrue(second.some(AssemblyUploadEvent.$is("AssemblyResumed")))
      const completed = new Set(first.filter(AssemblyUploadEvent.$is("FileCompleted")).map((event) => event.file))
      // What was stored is not uploaded again.
      const begun = second.filter((event) => nameOf(event) === "FileEvent Created")
      assert.isFalse(begun.some((event) => "file" in event && completed.has(event.file)))
    }
  )

  test("a job whose lease is taken while the store does not answer its first read fails with LeaseLost", function* () {
    const { leases, store } = Leases.makeStore()
    const another = JSON.stringify({ owner: "another", until: 1e15 })
    const frozen = {
      ...store,
      get: (key: UploadJournal.Key) =>
        Effect.andThen(
          Effect.sync(() => leases.set(key, another)),
          Effect.never
        )
    }
    const journal = UploadJournal.layerStore(Effect.succeed(frozen), { leaseDuration: "300 millis" })
    const error = yield* Effect.flip(Effect.provide(run(job("frozen")), journal))
    assert.strictEqual(error._tag, "LeaseLost")
  })

  test("an upload of a job can be continued alone, by its key", function* () {
    const { list } = yield* UploadJournal.UploadJournal
    yield* until(job("alone"), "FileEvent Created")
    const first = (yield* list)[0]!
    assert.strictEqual(first.entry.file, 0)
    const { source } = file("a.bin", 700_000)
    assert.strictEqual((yield* Upload.journaled.resume({ key: first.key }, source)).length, 700_000n)
  })

  test("a job that has completed answers with its Status, and sends nothing", function* () {
    const status = yield* run(job("completed"))
    const again = yield* Stream.runCollect(eventsOf(job("completed")))
    assert.deepStrictEqual(again.map(nameOf), ["AssemblyResumed", "Completed"])
    assert.strictEqual<string | undefined>(idOf(again), status.assembly_id)
  })

  test("a job has completed even if the journal cannot record this", function* () {
    const failure = new UploadJournal.JournalFailed({ action: "write", description: "the disk is full" })
    const status = yield* run(job("not recorded")).pipe(
      withJournal(({ assemblies }) => ({
        assemblies: {
          ...assemblies,
          put: (key, entry) => (entry._tag === "Completed" ? Effect.fail(failure) : assemblies.put(key, entry))
        }
      }))
    )
    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual((yield* run(job("not recorded"))).assembly_id, status.assembly_id)
  })

  test("other params, another name or other bytes are another job", function* () {
    const sized = (size: number): File => {
      const { filename, source } = file("a.bin", size)
      return { source: { ...source, identity: Effect.succeed("a row") }, filename }
    }
    const small = file("a.bin", 10)
    const jobs = [
      sized(10),
      sized(11),
      small,
      file("b.bin", 10),
      file("a.bin", 11),
      { ...small, metadata: { kind: "one" } },
      { ...small, fieldname: "other" },
      // As many bytes, but others.
      { source: UploadSource.fromBytes(new Uint8Array(10)), filename: "a.bin" }
    ].map((one) => job("other", { files: [one] }))
    const all = [...jobs, job("others", { files: [small] })]
    const ids = yield* Effect.forEach(all, (one) => run(one))
    assert.strictEqual(new Set(ids.map((status) => status.assembly_id)).size, all.length)
  })

  test("the same job at another service is another job", function* () {
    const one = run(job("elsewhere", { files: [file("a.bin", 10)] }))
    const here = yield* one
    const there = yield* Effect.provide(one, Layer.fresh(Emulated.live))
    assert.notStrictEqual(there.assembly_id, here.assembly_id)
    assert.strictEqual((yield* one).assembly_id, here.assembly_id)
  })

  test("a creation that never arrived is made again, under the id that the journal knows", function* () {
    const error = yield* Effect.flip(Effect.provide(run(job("never arrived")), Emulated.without("POST")))
    assert.strictEqual(error._tag, "TransportFailure")
    const { entry } = yield* known
    assert.strictEqual(entry._tag, "Creating")
    assert.strictEqual((yield* run(job("never arrived"))).assembly_id, entry.assemblyId)
  })

  test("a creation that is refused leaves nothing in the journal", function* () {
    const error = yield* Effect.flip(run(job("refused", { params: { templateId: "unknown" } })))
    assert.deepInclude(error, { _tag: "ServiceFailure", status: 404 })
    assert.deepStrictEqual(yield* assembliesIn, [])
  })

  test("an id of the caller that another Assembly has is refused, and that Assembly gets no file", function* () {
    const assemblyId = yield* Assemblies.newId
    yield* Assemblies.create({ assemblyId, steps: handle, numExpectedUploadFiles: 5 })
    const error = yield* Effect.flip(run(job("own id", { params: { assemblyId, steps: handle } })))
    assert.deepInclude(error, { _tag: "ServiceFailure", status: 409 })
    assert.deepStrictEqual(storedIn(yield* Assemblies.get(assemblyId)), [])
    assert.deepStrictEqual(yield* assembliesIn, [])
  })

  test("a creation whose response was lost is recorded as soon as its Assembly is found", function* () {
    yield* until(job("lost"), "AssemblyCreated")
    const { assemblyId } = (yield* known).entry
    yield* rewrite({ _tag: "Creating" })
    yield* until(job("lost"), "AssemblyResumed")
    // From now on, a missing Assembly is not made again.
    assert.deepInclude((yield* known).entry, { _tag: "Created", assemblyId })
  })

  test("an Assembly that is gone is told, and not made again before the caller has heard of it", function* () {
    yield* until(job("gone"), "Uploaded")
    assert.strictEqual((yield* known).entry._tag, "Created")
    yield* rewrite({ assemblyId: gone })
    const error = yield* Effect.flip(run(job("gone")))
    assert.deepInclude(error, { _tag: "ServiceFailure", status: 404 })
    assert.deepStrictEqual(yield* assembliesIn, [])
    assert.notStrictEqual<string | undefined>(idOf(yield* until(job("gone"), "AssemblyCreated")), gone)
  })

  test("a job that failed is told, and the run after that creates another Assembly", function* () {
    const params = { steps: { ...handle, fail: { robot: "/emulator/fail", use: ":original" } } }
    const options = job("fails", { params, files: [file("a.bin", 10)] })
    const first = yield* until(options, "Uploaded")
    assert.strictEqual((yield* Effect.flip(run(options)))._tag, "AssemblyFailed")
    assert.deepStrictEqual(yield* assembliesIn, [])
    const third = yield* until(options, "Uploaded")
    assert.isTrue(third.some(AssemblyUploadEvent.$is("AssemblyCreated")))
    assert.notStrictEqual(idOf(third), idOf(first))
  })

  test("a file that failed keeps the Assembly for what is missing, or cancels it if the options say so", function* () {
    let isBroken = true
    const failure = new UploadSource.SourceFailed({ kind: "Unreadable", description: "a broken disk" })
    const [a, b] = [file("a.bin", 700_000), file("b.bin", 10)]
    const bytes: typeof a.source.bytes = (...range) => (isBroken ? Stream.fail(failure) : a.source.bytes(...range))
    const broken = [{ ...a, source: { ...a.source, bytes } }, b]
    const canceled = yield* Effect.flip(run(job("canceled", { files: broken, onFailure: "cancel" })))
    assert.deepInclude(canceled, { _tag: "FilesFailed", assembly: "canceled" })
    assert.deepStrictEqual(yield* assembliesIn, [])
    const options = job("broken", { files: broken })
    const error = yield* Effect.flip(run(options))
    assert.deepInclude(error, { _tag: "FilesFailed", assembly: "kept" })
    isBroken = false
    const status = yield* run(options)
    assert.strictEqual("assemblyId" in error ? error.assemblyId : "", status.assembly_id)
    assert.sameMembers(storedIn(status), whole.slice(0, 2))
  })

  type Sent = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

  /** A client that changes the creation of the second upload. */
  const changingCreation = (change: (sent: Sent, request: HttpClientRequest.HttpClientRequest) => Sent) =>
    Effect.map(HttpClient.HttpClient, (http) => {
      let uploads = 0
      return HttpClient.transform(http, (sent, request) =>
        request.method === "POST" && request.url.includes("/resumable/") && ++uploads === 2
          ? change(sent, request)
          : sent
      )
    })

  /** A run that is interrupted when the creation of its second upload was sent. */
  const leftInCreation = Effect.fnUntraced(function* (
    options: AssemblyUpload.Options,
    change: (sent: Sent) => Sent = () => Effect.never
  ) {
    const started = yield* Deferred.make<void>()
    const client = yield* changingCreation((sent) => Effect.andThen(Deferred.succeed(started, undefined), change(sent)))
    const fiber = yield* Effect.forkChild(Effect.provideService(run(options), HttpClient.HttpClient, client))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(fiber)
  })

  /** The next run continues the Assembly of the journal, and stores every file once. */
  const isContinued = Effect.fnUntraced(function* (options: AssemblyUpload.Options, stored = whole) {
    const id = yield* knownId
    const status = yield* run(options)
    assert.sameMembers(storedIn(status), stored)
    assert.strictEqual<string>(status.assembly_id, id)
  })

  test("an interruption waits for the response to a creation, so that the next run continues the Assembly", function* () {
    const options = job("interrupted creation")
    yield* leftInCreation(options, Effect.delay("200 millis"))
    const { list } = yield* UploadJournal.UploadJournal
    // Without the response, the entry would be `Creating`, and only a receipt could decide.
    assert.isFalse((yield* list).some(({ entry }) => entry.state._tag === "Creating"))
    yield* isContinued(options)
  })

  test("an interruption between a creation that was turned away and the next one leaves no doubt", function* () {
    const options = job("turned away")
    const busy = new Response("", { status: 503, headers: { "retry-after": "60" } })
    const client = yield* changingCreation((_, request) => Effect.succeed(HttpClientResponse.fromWeb(request, busy)))
    yield* Effect.provideService(until(options, "FileEvent Retrying"), HttpClient.HttpClient, client)
    yield* isContinued(options)
  })

  test("an interruption before a creation is sent leaves no doubt", function* () {
    const options = job("not sent", { files: [file("b.bin", 100_000)] })
    const fiber = yield* run(options).pipe(
      // The creation waits for hours until it may be sent.
      Effect.provide(Upload.layerBandwidth({ bytesPerSecond: 10 })),
      Effect.forkChild
    )
    const isWaiting = Effect.flatMap(assembliesIn, (entries) =>
      entries.some(({ entry }) => entry._tag === "Created") ? Effect.void : Effect.fail("not yet")
    )
    yield* Effect.retry(isWaiting, { schedule: Schedule.spaced("5 millis"), times: 2000 })
    yield* Fiber.interrupt(fiber)
    // Runners of an earlier version know no other fields.
    const { entry } = yield* known
    assert.deepStrictEqual(Object.keys(entry).toSorted(), ["_tag", "assemblyId", "writtenAt"])
    yield* isContinued(options, [`b.bin ${TusServer.sha256(Scene.content(100_000))}`])
  })

  test("a creation of an upload that no receipt decides costs the Assembly, and not the job", function* () {
    const options = job("undecided")
    yield* leftInCreation(options)
    const { assemblyId } = (yield* known).entry
    const events = yield* Stream.runCollect(eventsOf(options))
    const status = yield* AssemblyUploadEvent.result(Stream.fromIterable(events))
    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    assert.sameMembers(storedIn(status), whole)
    assert.notStrictEqual<string>(status.assembly_id, assemblyId)
    assert.strictEqual((yield* Assemblies.get(assemblyId)).ok, "ASSEMBLY_CANCELED")
    const assemblies = events.map(({ _tag }) => _tag).filter((tag) => tag.startsWith("Assembly"))
    assert.deepStrictEqual(assemblies, ["AssemblyResumed", "AssemblyCreated"])
  })

  test("an undecided creation is told if the Assembly has the id of the caller", function* () {
    const assemblyId = yield* Assemblies.newId
    const options = job("undecided id", { params: { assemblyId, steps: handle, fields: { name: "undecided id" } } })
    yield* leftInCreation(options)
    const error = yield* Effect.flip(run(options))
    assert(error._tag === "FilesFailed", error._tag)
    assert.strictEqual(error.assembly, "kept")
    const outcomes = error.files.map((outcome) => (outcome.outcome === "Failed" ? outcome.error._tag : outcome.outcome))
    assert.deepStrictEqual(outcomes, ["Completed", "CreationUnknown", "Completed", "Completed"])
  })

  test.each([
    ["an undecided creation", leftInCreation, {}],
    ["restart", (options: AssemblyUpload.Options) => until(options, "FileCompleted"), { restart: true }]
  ] as const)("%s creates no other Assembly while the first one cannot be canceled", function* ([what, begin, more]) {
    yield* begin(job(`${what}, stuck`))
    const before = yield* knownId
    const created: Array<string> = []
    const down = Emulated.without("DELETE", ({ method, url }) => method === "POST" && created.push(url))
    const error = yield* Effect.flip(Effect.provide(run(job(`${what}, stuck`, more)), down))
    assert.include(error.message, "the Assembly has not ended after its cancellation")
    assert.isFalse(created.some((url) => url.endsWith("/assemblies")))
    assert.strictEqual(yield* knownId, before)
  })

  const restartable: Readonly<
    Record<string, (options: AssemblyUpload.Options) => Effect.Effect<unknown, unknown, Services>>
  > = {
    "is uploading": (options) => until(options, "FileCompleted"),
    "has completed": run,
    "is gone": (options) => Effect.andThen(until(options, "AssemblyCreated"), rewrite({ assemblyId: gone }))
  }
  test.each(Object.entries(restartable))(
    "restart creates another Assembly if the one that the journal knows %s",
    function* ([state, begin]) {
      yield* begin(job(`restarted, ${state}`))
      const { assemblyId } = (yield* known).entry
      const status = yield* run(job(`restarted, ${state}`, { restart: true }))
      assert.notStrictEqual<string>(status.assembly_id, assemblyId)
      assert.sameMembers(storedIn(status), whole)
      if (state === "is uploading") assert.strictEqual((yield* Assemblies.get(assemblyId)).ok, "ASSEMBLY_CANCELED")
    }
  )

  test("restart is refused before anything is canceled if the Assembly has the id of the caller", function* () {
    const assemblyId = yield* Assemblies.newId
    const params = { assemblyId, steps: handle, fields: { name: "restarted id" } }
    yield* until(job("restarted id", { params }), "FileCompleted")
    const error = yield* Effect.flip(run(job("restarted id", { params, restart: true })))
    assert(error._tag === "InvalidRequest", error._tag)
    assert.deepStrictEqual(Tests.pathsOf(error), ["restart"])
    yield* isContinued(job("restarted id", { params }))
  })

  test("one run at a time holds a job; the other waits, and answers with what the first completed", function* () {
    const both = yield* Effect.all(
      [1, 2].map(() => Stream.runCollect(eventsOf(job("twice")))),
      { concurrency: 2 }
    )
    const tags = both.flat().map(({ _tag }) => _tag)
    for (const tag of ["AssemblyCreated", "Waiting"]) assert.strictEqual(tags.filter((one) => one === tag).length, 1)
    const ends = both.map((events) => events.at(-1)?._tag)
    assert.deepStrictEqual(ends, ["Completed", "Completed"])
  })

  test("a stream that comes once is refused by name, before anything is created", function* () {
    const once = UploadSource.fromStream(Stream.make(new Uint8Array(1))) as unknown as UploadSource.Replayable
    const error = yield* Effect.flip(
      run(job("once", { files: [file("a.bin", 1), { source: once, filename: "b.bin" }] }))
    )
    const message = "AssemblyUpload: files.1.source: Expected a source that can be read again, got a one-shot stream"
    assert.strictEqual(error.message, message)
    assert.deepStrictEqual(yield* assembliesIn, [])
  })

  test.each([
    ["written", "LeaseLost", { steps: handle }],
    ["forgotten", "ServiceFailure", { templateId: "unknown" }]
  ] as const)("a job is not %s by a run that has lost it", function* ([, tag, params]) {
    assert.strictEqual((yield* takenOver(job("lost lease", { params })))._tag, tag)
    assert.strictEqual((yield* known).entry._tag, "Creating")
  })

  test.each([
    ["ASSEMBLY_CANCELED", "AssemblyCanceled"],
    ["REQUEST_ABORTED", "AssemblyAborted"]
  ] as const)("a job is forgotten when its Assembly ends as %s", function* ([ok, tag]) {
    const faults = yield* Faults.Faults
    const assemblyId = yield* Assemblies.newId
    const body = JSON.stringify({ ok, assembly_id: assemblyId })
    const fault = { method: "GET", path: "/assemblies/:assemblyId", status: 200, times: Infinity } as const
    yield* faults.inject(Faults.Fault.Refuse({ ...fault, body }))
    const ended = job(ok, { params: { steps: handle, assemblyId }, files: [file("a.bin", 10)] })
    assert.strictEqual((yield* Effect.flip(run(ended)).pipe(Effect.ensuring(faults.clear)))._tag, tag)
    assert.deepStrictEqual(yield* assembliesIn, [])
  })
})
