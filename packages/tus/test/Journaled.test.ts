/**
 * What an upload makes of its entry in the journal, and of another process that holds it.
 */
import { Tus, UploadEvent, UploadJournal, UploadSource, type UploadTarget } from "@assembly-effect/tus"
import { Deferred, Effect, Fiber, Redacted, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it, type Fault, Journals, Leases, Scene, Tests, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(700_000)
const source = UploadSource.fromBytes(bytes)
const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 300_000 }

type Entry = UploadJournal.Entry
type Options = Partial<Upload.Options>

const upload = (target: UploadTarget.UploadTarget, options: Options = {}) =>
  Upload.journaled.events(target, source, { ...Scene.options, ...options })

/** The one entry of the journal. */
const theEntry = Effect.gen(function* () {
  const journal = yield* UploadJournal.UploadJournal
  const entries = yield* journal.list
  assert.strictEqual(entries.length, 1)
  return entries[0]!
})

/** An upload that broke off, and what is known of it then. */
const broken = Effect.fnUntraced(function* (options: Options = {}) {
  const scene = yield* Scene.make([cut])
  yield* Effect.flip(UploadEvent.result(upload(scene.target, { ...options, maxRetries: 0 })))
  scene.server.requests.length = 0
  const { entry, key } = yield* theEntry
  assert.strictEqual(entry.state._tag, "Created")
  return { ...scene, entry, key }
})

const replace = (key: string, entry: Entry) => UploadJournal.UploadJournal.use((journal) => journal.put(key, entry))

const wrong = (method: "PATCH" | "HEAD", offset: string): Fault => ({ _tag: "WrongOffset", method, offset })

/** An upload whose PATCH was taken and counted otherwise, and what is known of it then. */
const untrusted = Effect.gen(function* () {
  const scene = yield* Scene.make([wrong("PATCH", "900000")])
  const error = yield* Effect.flip(UploadEvent.result(upload(scene.target)))
  assert.deepStrictEqual(scene.server.requests, ["POST", "PATCH"])
  scene.server.requests.length = 0
  const { entry, key } = yield* theEntry
  assert.strictEqual(entry.state._tag, "Untrusted")
  return { ...scene, entry, error, key }
})

const collect = <E, R>(events: Stream.Stream<UploadEvent.UploadEvent, E, R>) =>
  Effect.map(Stream.runCollect(events), (all) => all.filter(({ _tag }) => _tag !== "Progress"))

/** The event is the end of this upload. */
const isSame = (event: UploadEvent.UploadEvent | undefined, { url }: { readonly url: UploadTarget.UploadUrl }) => {
  assert(event?._tag === "Completed", event?._tag)
  assert.strictEqual(event.length, 700_000n)
  assert.strictEqual(Redacted.value(event.url), Redacted.value(url))
}

for (const [name, provided] of Object.entries(Journals.layers)) {
  const test = Tests.within(it.live, Journals.running(provided))

  describe(`an upload of a journal in ${name}`, () => {
    test("that is complete is answered again without a request", function* () {
      const { server, target } = yield* Scene.make()
      const first = yield* UploadEvent.result(upload(target))
      const { key } = yield* theEntry
      server.requests.length = 0
      for (const events of [upload(target), Upload.journaled.resumeEvents({ key }, source, Scene.options)]) {
        const [event, ...more] = yield* collect(events)
        assert.deepStrictEqual(more, [])
        isSame(event, first)
      }
      assert.deepStrictEqual(server.requests, [])
    })

    test("that another one completes in the meantime is answered with what that one completed", function* () {
      const { server, target } = yield* Scene.make([{ _tag: "SlowAnswer", method: "POST", millis: 100 }])
      const creating = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        upload(target).pipe(
          Stream.tap(() => Deferred.succeed(creating, undefined)),
          UploadEvent.result
        )
      )
      yield* Deferred.await(creating)
      const events = yield* collect(upload(target))
      const [waiting, end, ...more] = events
      assert(waiting?._tag === "Waiting")
      // A busy machine is later than the lease by some seconds.
      const rule = /^another process holds the upload, or ended without releasing it \(at most (?:10|[1-9]) s\)$/
      assert.match(waiting.reason, rule)
      assert.deepStrictEqual(more, [])
      isSame(end, yield* Fiber.join(first))
      assert.strictEqual(server.created.length, 1)
    })

    // The stores keep texts, see UploadJournal.test.ts; what a run makes of an entry does not depend on its store.
    if (name !== "files") return

    test("that is not to be trusted gives the same answer again, and nothing is sent", function* () {
      const { entry, error, key, server, target } = yield* untrusted
      assert.deepInclude(error, {
        _tag: "UploadUntrusted",
        description: "upload-offset is 900000, but bytes up to 700000 were sent",
        mayBeWhole: true
      })
      // What asks the server before anything else is not sent either.
      for (const events of [
        upload(target, { checksum: "sha256" }),
        Upload.journaled.resumeEvents({ key }, source, Scene.options)
      ]) {
        assert.deepStrictEqual(yield* Effect.flip(UploadEvent.result(events)), error)
      }
      assert.deepStrictEqual(server.requests, [])
      assert.deepStrictEqual((yield* theEntry).entry, entry)
    })

    for (const by of ["resumable", "resume"] as const) {
      test(`is removed and begun anew by the restart of ${by}, which is told`, function* () {
        const { key, server, target } = yield* untrusted
        const restart = { ...Scene.options, restart: true }
        const events =
          by === "resumable" ? upload(target, restart) : Upload.journaled.resumeEvents({ key }, source, restart)
        const told = (yield* collect(events)).map((event) => (event._tag === "Restarted" ? event.reason : event._tag))
        assert.strictEqual(told.shift(), "restart was requested; the upload in the journal was Untrusted")
        assert.deepStrictEqual(told, ["Created", "Finishing", "Completed"])
        assert.deepStrictEqual(server.requests, ["DELETE", "POST", "PATCH"])
        assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
        assert.strictEqual((yield* theEntry).entry.state._tag, "Completed")
      })
    }

    test("that changed its metadata between two runs continues with what it was created with", function* () {
      const named = (stamp: string) => ({ ...Scene.options.metadata, stamp, flag: null })
      const { server, target } = yield* broken({ metadata: named("monday") })
      yield* UploadEvent.result(upload(target, { metadata: named("tuesday") }))
      assert.strictEqual(server.created.length, 1)
      assert.deepInclude(server.created[0]?.metadata, { stamp: "monday", assembly_url: server.assemblySslUrl })
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      assert.strictEqual((yield* theEntry).entry.metadata["stamp"], "monday")
    })

    test("whose URL is that of another upload is refused, and nothing is appended to that", function* () {
      const { entry, key, server, target } = yield* broken()
      const { url } = yield* Tus.create(target, {
        _tag: "Fixed",
        length: 700_000n,
        metadata: { ...Scene.options.metadata }
      })
      yield* replace(key, { ...entry, state: { ...entry.state, url: Redacted.value(url) } as typeof entry.state })
      server.requests.length = 0
      const error = yield* Effect.flip(UploadEvent.result(upload(target)))
      assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-metadata" })
      const message = `upload-metadata at ${new URL(server.tusUrl).host}: expected the upload_marker of the creation, found another; start a new upload (with restart: true if the upload is in a journal)`
      assert.strictEqual(error.message, message)
      assert.deepStrictEqual(server.requests, ["HEAD"])
    })
  })
}

describe("a restart", () => {
  const test = Tests.within(it.live, Journals.running(UploadJournal.layerMemory()))
  const restart = { restart: true }

  for (const [status, tag] of [
    [404, undefined],
    [410, undefined],
    [403, "UploadRefused"],
    [423, "UploadLocked"],
    [500, "ServerFailure"]
  ] as const) {
    test(`of an upload whose removal is answered with ${status}: ${tag ?? "begins anew"}`, function* () {
      const { server, target } = yield* untrusted
      server.faults.push({ _tag: "Status", method: "DELETE", status })
      const end = yield* Effect.result(UploadEvent.result(upload(target, restart)))
      if (tag === undefined) return assert.strictEqual(server.created.length, 2)
      assert.deepInclude(Result.getOrThrow(Result.flip(end)), { _tag: tag, request: "terminate", status })
      assert.deepStrictEqual(server.requests, ["DELETE"])
      assert.strictEqual((yield* Effect.flip(UploadEvent.result(upload(target))))._tag, "UploadUntrusted")
    })
  }

  test("uploads a complete file again, and leaves the first one", function* () {
    const { server, target } = yield* Scene.make()
    yield* UploadEvent.result(upload(target))
    yield* UploadEvent.result(upload(target, restart))
    assert.strictEqual(server.created.length, 2)
    assert.notInclude(server.requests, "DELETE")
  })

  test("removes every part when one is not to be trusted, which the server has as no whole file", function* () {
    const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))
    const { server, target } = yield* Scene.make([wrong("PATCH", "9000000")])
    const options = { ...Scene.options, parallel: 3 } as const
    const error = yield* Effect.flip(Upload.journaled.run(target, parts, options))
    assert.deepInclude(error, { _tag: "UploadUntrusted", mayBeWhole: false })
    assert.deepInclude((yield* theEntry).entry.state, { _tag: "Untrusted", mayBeWhole: false })
    server.requests.length = 0
    assert.deepStrictEqual(yield* Effect.flip(Upload.journaled.run(target, parts, options)), error)
    assert.deepStrictEqual(server.requests, [])
    yield* Upload.journaled.run(target, parts, { ...options, ...restart })
    assert.strictEqual(server.requests.filter((method) => method === "DELETE").length, 3)
    assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(Scene.content(3 * 1024 * 1024)))
  })

  test("leaves an upload that its receipt tells to be a file by now", function* () {
    const { server, target } = yield* Scene.make([{ _tag: "LostAnswer", method: "POST" }])
    const small = UploadSource.fromBytes(Scene.content(1000))
    server.receipts = false
    const error = yield* Effect.flip(Upload.journaled.run(target, small, Scene.options))
    assert.strictEqual(error._tag, "CreationUnknown")
    server.receipts = true
    yield* Upload.journaled.run(target, small, { ...Scene.options, ...restart })
    assert.strictEqual(server.created.length, 2)
    assert.notInclude(server.requests, "DELETE")
  })

  test("of an upload that the journal does not know is an upload like any other", function* () {
    const { target } = yield* Scene.make()
    assert.notInclude(Tests.pluck(yield* collect(upload(target, restart)), "_tag"), "Restarted")
  })
})

it.live(
  "an upload that loses its lease sends nothing more, and leaves the entry to the next holder",
  Journals.platform,
  function* () {
    const { leases, store } = Leases.makeStore()
    const journal = Effect.runSync(UploadJournal.make(store, { leaseDuration: "300 millis" }))
    const { server, target } = yield* Scene.make([{ _tag: "NoAnswer", method: "PATCH" }])
    const another = JSON.stringify({ owner: "another", until: 1e15 })
    const taken = Effect.map(
      Scene.soon(() => server.requests.includes("PATCH")),
      () => {
        for (const key of leases.keys()) leases.set(key, another)
      }
    )
    yield* Effect.forkScoped(taken)
    const error = yield* upload(target).pipe(
      UploadEvent.result,
      Effect.flip,
      Effect.provideService(UploadJournal.UploadJournal, journal)
    )
    assert.strictEqual(error._tag, "LeaseLost")
    yield* Scene.soon(() => server.busy() === 0)
    assert.deepStrictEqual(server.requests, ["POST", "PATCH"])
    const states = (yield* journal.list).map(({ entry }) => entry.state._tag)
    assert.deepStrictEqual(states, ["Created"])
    assert.deepStrictEqual([...leases.values()], [another])
  }
)

it.live(
  "an upload whose process slept past its lease writes nothing over the entry of the next holder",
  Journals.platform,
  function* () {
    const journal = Effect.runSync(UploadJournal.make(Leases.makeStore().store))
    let hasSlept = false
    const late: Array<string> = []
    const slept = UploadJournal.UploadJournal.of({
      ...Leases.taken(journal, () => hasSlept),
      put: (key, entry) => {
        if (hasSlept) late.push(entry.state._tag)
        return journal.put(key, entry)
      }
    })
    const { target } = yield* Scene.make()
    const error = yield* upload(target, { chunkSize: 100_000 }).pipe(
      Stream.tap((event) => Effect.sync(() => void (hasSlept ||= event._tag === "Created"))),
      UploadEvent.result,
      Effect.flip,
      Effect.provideService(UploadJournal.UploadJournal, slept)
    )
    assert.strictEqual(error._tag, "LeaseLost")
    assert.deepStrictEqual(late, [])
  }
)

describe("an upload that somebody else holds", () => {
  /** A complete upload, what becomes of which needs no server, and the first event of a run that waits for a lease. */
  const waiting = Effect.fnUntraced(function* (owner: string, until: number) {
    const { leases, store } = Leases.makeStore()
    const journal = Effect.runSync(UploadJournal.make(store))
    const url = "https://a.example.com/resumable/files/1"
    const { entry, key } = yield* Journals.of(Scene.unused, source, { _tag: "Completed", url, length: 700_000n })
    yield* journal.put(key, entry)
    const hold = (end: number) => leases.set(key, JSON.stringify({ owner, until: end }))
    if (owner === "alive") yield* journal.lease(key)
    else hold(until)
    const begun = yield* Deferred.make<UploadEvent.UploadEvent>()
    const running = yield* Upload.journaled.resumeEvents({ key }, source, Scene.options).pipe(
      Stream.tap((event) => Deferred.succeed(begun, event)),
      UploadEvent.result,
      Effect.provideService(UploadJournal.UploadJournal, journal),
      Effect.provide(Journals.platform),
      Effect.forkChild
    )
    return { first: yield* Deferred.await(begun), hold, running }
  })

  it.effect("waits for the lease of one that died, tells why and until when, and continues then", function* () {
    const { first, running } = yield* waiting("dead", 10_000)
    assert.deepInclude(first, { _tag: "Waiting", until: 10_001 })
    yield* TestClock.adjust("9 seconds")
    assert.isUndefined(running.pollUnsafe())
    yield* TestClock.adjust("1001 millis")
    assert.strictEqual((yield* Fiber.join(running)).length, 700_000n)
  })

  it.effect.each([
    ["longer than one lease for one that lives", "alive", 10_000, 10_001],
    ["for a lease of a wrong clock", "ahead", 1e15, 60_001]
  ] as const)("does not wait %s", function* ([, owner, until, end]) {
    const { first, running } = yield* waiting(owner, until)
    assert.deepInclude(first, { _tag: "Waiting", until: end })
    yield* TestClock.adjust(end)
    assert.strictEqual((yield* Effect.flip(Fiber.join(running)))._tag, "UploadLeased")
  })

  it.effect("continues as soon as the other lets go", function* () {
    const { hold, running } = yield* waiting("other", 10_000)
    yield* TestClock.adjust("1 second")
    hold(1000)
    yield* TestClock.adjust("500 millis")
    assert.strictEqual((yield* Fiber.join(running)).length, 700_000n)
  })
})
