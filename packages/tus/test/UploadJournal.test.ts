import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as TusServer from "./utils/TusServer.ts"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeHttpClient.layerUndici)

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "journal-" }))

const layers = {
  memory: UploadJournal.layerMemory(),
  files: Layer.unwrap(Effect.map(folder, (path) => UploadJournal.layerFileSystem(`${path}/deep/journal`))),
  "key-value store": UploadJournal.layerKeyValueStore().pipe(Layer.provide(KeyValueStore.layerMemory))
}

const bytes = Scene.content(700_000)
const source = UploadSource.fromBytes(bytes)
const otherSource = UploadSource.fromBytes(bytes.map((byte) => byte ^ 1))

const entry = Effect.map(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" }),
  (target): UploadJournal.Entry => ({
    _tag: "Created",
    target,
    marker: "m",
    metadata: { filename: "a", fieldname: "b" },
    size: 2n ** 60n,
    identity: "sha256 00",
    writtenAt: 0,
    url: "https://a.example.com/resumable/files/1"
  })
)

/** An upload that dies: interrupted when the server has met these faults and the budget is used up. */
const dying = (faults: ReadonlyArray<Fault>, more?: Partial<Upload.Options>) =>
  Effect.gen(function* () {
    const { server, target } = yield* Scene.make(faults)
    const error = yield* Effect.flip(
      Upload.result(Upload.resumable(target, source, { ...Scene.options, maxRetries: 0, ...more }))
    )
    return { error, server, target }
  })

for (const [name, provided] of Object.entries(layers)) {
  const run = <A, E>(
    effect: Effect.Effect<A, E, Layer.Success<typeof platform> | UploadJournal.UploadJournal | Scope.Scope>
  ) => Effect.scoped(effect).pipe(Effect.provide(Layer.provideMerge(provided, platform)))

  describe(`UploadJournal in ${name}`, () => {
    it.effect("keeps, lists and forgets entries", () =>
      run(
        Effect.gen(function* () {
          const journal = yield* UploadJournal.UploadJournal
          const one = yield* entry
          assert.isTrue(Option.isNone(yield* journal.get("k")))
          yield* journal.put("k", one)
          const read = Option.getOrThrow(yield* journal.get("k"))
          assert.deepInclude(read, { size: 2n ** 60n, marker: "m", _tag: "Created" })
          assert.deepStrictEqual(
            (yield* journal.list).map(({ key }) => key),
            ["k"]
          )
          yield* journal.forget("k")
          yield* journal.forget("k")
          assert.isTrue(Option.isNone(yield* journal.get("k")))
        })
      )
    )

    it.effect("an entry expires", () =>
      run(
        Effect.gen(function* () {
          const journal = yield* UploadJournal.UploadJournal
          yield* journal.put("k", yield* entry)
          yield* TestClock.adjust("23 hours")
          assert.isTrue(Option.isSome(yield* journal.get("k")))
          yield* TestClock.adjust("1 hours")
          assert.isTrue(Option.isNone(yield* journal.get("k")))
        })
      )
    )

    it.effect("an upload is leased to one at a time, and again when the lease ran out", () =>
      run(
        Effect.gen(function* () {
          const journal = yield* UploadJournal.UploadJournal
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* journal.lease("k")
              assert.strictEqual((yield* Effect.flip(journal.lease("k")))._tag, "UploadLeased")
              yield* journal.lease("other")
            })
          )
          yield* Effect.scoped(journal.lease("k"))
        })
      )
    )

    it.live("a broken upload goes on, and the journal is empty then", () =>
      run(
        Effect.gen(function* () {
          const { server, target } = yield* dying([{ _tag: "Cut", method: "PATCH", bytes: 300_000 }])
          const journal = yield* UploadJournal.UploadJournal
          assert.strictEqual((yield* journal.list)[0]?.entry._tag, "Created")
          yield* Upload.result(Upload.resumable(target, source, Scene.options))
          assert.strictEqual(server.created.length, 1)
          assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
          assert.deepStrictEqual(yield* journal.list, [])
          assert.deepStrictEqual(
            server.log.filter((line) => line === "POST 201"),
            ["POST 201"]
          )
        })
      )
    )

    it.live("a lost creation is found again by the next run", () =>
      run(
        Effect.gen(function* () {
          const { server, target } = yield* Scene.make([{ _tag: "LostAnswer", method: "POST" }])
          server.receipts = false
          const events = Upload.resumable(target, source, Scene.options)
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "CreationUnknown")
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "CreationUnknown")
          assert.strictEqual(server.created.length, 1)
          server.receipts = true
          yield* Upload.result(events)
          assert.strictEqual(server.created.length, 1)
          assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
        })
      )
    )

    for (const status of [403, 413, 423, 429] as const) {
      it.live(`a creation that ends in ${status} made nothing, and the next run makes the upload`, () =>
        run(
          Effect.gen(function* () {
            const { server, target } = yield* dying([{ _tag: "Status", method: "POST", status }])
            server.receipts = false
            yield* Upload.result(Upload.resumable(target, source, Scene.options))
            assert.strictEqual(server.created.length, 1)
            assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
          })
        )
      )
    }

    for (const status of [403, 429] as const) {
      it.live(`a concatenation that ends in ${status} put nothing together, and the next run does`, () =>
        run(
          Effect.gen(function* () {
            const parts = UploadSource.fromBytes(Scene.content(2 * 1024 * 1024))
            const { server, target } = yield* Scene.make([{ _tag: "Status", method: "FINAL", status }])
            server.receipts = false
            const events = (maxRetries: number) =>
              Upload.resumable(target, parts, { ...Scene.options, parallel: 2, maxRetries })
            assert.include(["UploadRefused", "RateLimited"], (yield* Effect.flip(Upload.result(events(0))))._tag)
            yield* Upload.result(events(1))
            assert.strictEqual(server.partials(), 2)
            assert.strictEqual(server.log.filter((line) => line === "FINAL 201").length, 1)
            assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(Scene.content(2 * 1024 * 1024)))
          })
        )
      )
    }

    it.live("other bytes are refused with what differs", () =>
      run(
        Effect.gen(function* () {
          const { server } = yield* dying([{ _tag: "Cut", method: "PATCH", bytes: 300_000 }])
          const journal = yield* UploadJournal.UploadJournal
          const key = (yield* journal.list)[0]?.key ?? ""
          for (const [wrong, field] of [
            [otherSource, "fingerprint"],
            [UploadSource.fromBytes(bytes.subarray(1)), "size"]
          ] as const) {
            const error = yield* Effect.flip(Upload.result(Upload.resume(key, wrong, Scene.options)))
            assert.deepInclude(error, { _tag: "UploadMismatch", field })
          }
          yield* Upload.result(Upload.resume(key, source, Scene.options))
          assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
          const error = yield* Effect.flip(Upload.result(Upload.resume(key, source, Scene.options)))
          assert.strictEqual(error._tag, "NoSuchUpload")
        })
      )
    )

    for (const status of [401, 429, 502] as const) {
      it.live(`a resume that meets ${status} keeps the entry`, () =>
        run(
          Effect.gen(function* () {
            const { server, target } = yield* dying([
              { _tag: "Cut", method: "PATCH", bytes: 300_000 },
              { _tag: "Status", method: "HEAD", status }
            ])
            const journal = yield* UploadJournal.UploadJournal
            yield* Effect.flip(Upload.result(Upload.resumable(target, source, { ...Scene.options, maxRetries: 0 })))
            assert.strictEqual((yield* journal.list).length, 1)
            yield* Upload.result(Upload.resumable(target, source, Scene.options))
            assert.strictEqual(server.created.length, 1)
          })
        )
      )
    }

    it.live("a resume of an upload that is gone ends, and the next run starts over", () =>
      run(
        Effect.gen(function* () {
          const { server, target } = yield* dying([{ _tag: "Cut", method: "PATCH", bytes: 300_000 }])
          server.forget(server.created[0]?.id ?? "")
          const error = yield* Effect.flip(Upload.result(Upload.resumable(target, source, Scene.options)))
          assert.strictEqual(error._tag, "UploadGone")
          yield* Upload.result(Upload.resumable(target, source, Scene.options))
          assert.strictEqual(server.created.length, 2)
        })
      )
    )

    it.live("parts go on as a whole", () =>
      run(
        Effect.gen(function* () {
          const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))
          const { server, target } = yield* Scene.make([
            { _tag: "SlowAnswer", method: "PATCH", millis: 0 },
            { _tag: "Cut", method: "PATCH", bytes: 500_000 }
          ])
          const options = { ...Scene.options, parallel: 3 }
          yield* Effect.flip(Upload.result(Upload.resumable(target, parts, { ...options, maxRetries: 0 })))
          const journal = yield* UploadJournal.UploadJournal
          assert.strictEqual((yield* journal.list)[0]?.entry._tag, "Parts")
          yield* Upload.result(Upload.resumable(target, parts, options))
          assert.strictEqual(server.partials(), 3)
          assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(Scene.content(3 * 1024 * 1024)))
          assert.deepStrictEqual(yield* journal.list, [])
        })
      )
    )

    it.live("a part whose creation was not answered is looked for before it is made again", () =>
      run(
        Effect.gen(function* () {
          const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))
          const { server, target } = yield* Scene.make(
            Array.from({ length: 3 }, () => ({ _tag: "SlowAnswer", method: "POST", millis: 1000 }))
          )
          const events = Upload.resumable(target, parts, { ...Scene.options, stallTimeout: "20 seconds", parallel: 3 })
          const left = yield* Effect.forkChild(Upload.result(events))
          yield* Effect.suspend(() => (server.created.length === 3 ? Effect.void : Effect.fail("not yet"))).pipe(
            Effect.retry({ schedule: Schedule.spaced("5 millis"), times: 1000 })
          )
          yield* Fiber.interrupt(left)
          yield* Upload.result(events)
          assert.strictEqual(server.partials(), 3)
          assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(Scene.content(3 * 1024 * 1024)))
        })
      )
    )

    it.live("a part whose creation was lost is unknown until its receipt comes, and never made again", () =>
      run(
        Effect.gen(function* () {
          const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))
          const { server, target } = yield* Scene.make([{ _tag: "LostAnswer", method: "POST" }])
          server.receipts = false
          const events = Upload.resumable(target, parts, { ...Scene.options, parallel: 3 })
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "CreationUnknown")
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "CreationUnknown")
          assert.strictEqual(server.partials(), 3)
          server.receipts = true
          yield* Upload.result(events)
          assert.strictEqual(server.partials(), 3)
          assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(Scene.content(3 * 1024 * 1024)))
        })
      )
    )

    it.live("a part whose creation was refused is made by the next run, and the others are not made again", () =>
      run(
        Effect.gen(function* () {
          const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))
          const { server, target } = yield* Scene.make([{ _tag: "Status", method: "POST", status: 403 }])
          // Nothing but the journal tells what was made.
          server.receipts = false
          const events = Upload.resumable(target, parts, { ...Scene.options, parallel: 3 })
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "UploadRefused")
          assert.strictEqual(server.partials(), 2)
          yield* Upload.result(events)
          assert.strictEqual(server.partials(), 3)
          assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(Scene.content(3 * 1024 * 1024)))
        })
      )
    )

    it.live("an unknown concatenation is settled by its receipt, never repeated", () =>
      run(
        Effect.gen(function* () {
          const parts = UploadSource.fromBytes(Scene.content(3 * 1024 * 1024))
          const { server, target } = yield* Scene.make([{ _tag: "LostAnswer", method: "FINAL" }])
          server.receipts = false
          const events = Upload.resumable(target, parts, { ...Scene.options, parallel: 3 })
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "ConcatenationUnknown")
          assert.strictEqual((yield* Effect.flip(Upload.result(events)))._tag, "ConcatenationUnknown")
          server.receipts = true
          yield* Upload.result(events)
          assert.strictEqual(server.log.filter((line) => line === "FINAL 201").length, 1)
        })
      )
    )
  })
}

describe("UploadJournal in files", () => {
  const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof platform> | Scope.Scope>) =>
    Effect.scoped(effect).pipe(Effect.provide(platform))

  const journalIn = (path: string) =>
    Effect.map(Layer.build(UploadJournal.layerFileSystem(path)), (context) =>
      Context.get(context, UploadJournal.UploadJournal)
    )

  it.effect("is for its owner only, and leaves no temporary file", () =>
    run(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = `${yield* folder}/journal`
        const journal = yield* journalIn(path)
        yield* journal.put("k", yield* entry)
        yield* Effect.scoped(journal.lease("k"))
        assert.deepStrictEqual(yield* fs.readDirectory(path), ["k.json"])
        assert.strictEqual((yield* fs.stat(`${path}/k.json`)).mode & 0o777, 0o600)
        assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o700)
      })
    )
  )

  it.effect("a torn entry is a typed error that does not tell it, and can be forgotten", () =>
    run(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* folder
        const journal = yield* journalIn(path)
        yield* journal.put("k", yield* entry)
        const text = yield* fs.readFileString(`${path}/k.json`)
        for (const torn of ["", text.slice(0, -10), "null", text.replace("https:", "http:")]) {
          yield* fs.writeFileString(`${path}/k.json`, torn)
          const error = yield* Effect.flip(journal.get("k"))
          assert.strictEqual(error._tag, "JournalTorn")
          assert.notInclude(error.message, "example.com")
          assert.deepStrictEqual(yield* journal.list, [])
        }
        yield* journal.forget("k")
        assert.isTrue(Option.isNone(yield* journal.get("k")))
      })
    )
  )

  it.effect("a journal that cannot be written says so", () =>
    run(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = `${yield* folder}/journal`
        const journal = yield* journalIn(path)
        yield* fs.remove(path, { recursive: true })
        assert.deepInclude(yield* Effect.flip(journal.put("k", yield* entry)), {
          _tag: "JournalFailed",
          action: "write"
        })
      })
    )
  )

  it.effect("of many that take over a lease that ran out, one gets it", () =>
    run(
      Effect.gen(function* () {
        const path = yield* folder
        for (let round = 0; round < 20; round++) {
          const fs = yield* FileSystem.FileSystem
          const dead = JSON.stringify({ owner: `dead ${round}`, until: 0 })
          yield* fs.writeFileString(`${path}/lease-k.json`, dead)
          const journals = yield* Effect.forEach(Array.from({ length: 8 }), () => journalIn(path))
          const won = yield* Effect.scoped(
            Effect.forEach(journals, (journal) => Effect.isSuccess(journal.lease("k")), { concurrency: "unbounded" })
          )
          assert.strictEqual(won.filter(Boolean).length, 1)
        }
      })
    )
  )
})

describe("UploadJournal in a key-value store that takes its time", () => {
  /** Every operation is a round trip, some longer than others; `modify` is one too, as where the store does it. */
  const slowStore = Effect.gen(function* () {
    const store = yield* KeyValueStore.KeyValueStore
    const later = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.flatMap(Random.nextIntBetween(1, 20), (turns) =>
        Effect.andThen(Effect.repeat(Effect.yieldNow, { times: turns }), effect)
      )
    return KeyValueStore.make({
      get: (key) => later(store.get(key)),
      getUint8Array: (key) => later(store.getUint8Array(key)),
      set: (key, value) => later(store.set(key, value)),
      remove: (key) => later(store.remove(key)),
      clear: store.clear,
      size: store.size,
      keys: later(store.keys),
      modify: (key, change) => later(store.modify(key, change))
    })
  }).pipe(Effect.provide(Layer.fresh(KeyValueStore.layerMemory)))

  const journalOf = (store: KeyValueStore.KeyValueStore) =>
    Effect.map(
      Layer.build(
        Layer.fresh(UploadJournal.layerKeyValueStore()).pipe(
          Layer.provide(Layer.succeed(KeyValueStore.KeyValueStore, store))
        )
      ),
      (context) => Context.get(context, UploadJournal.UploadJournal)
    )

  /** How many of those who try at once hold the lease. */
  const holders = (journals: ReadonlyArray<UploadJournal.UploadJournal["Service"]>) =>
    Effect.scoped(
      Effect.forEach(journals, (journal) => Effect.isSuccess(journal.lease("k")), { concurrency: "unbounded" })
    ).pipe(Effect.map((won) => won.filter(Boolean).length))

  /** Twenty orders in which what they do may happen. */
  const inManyOrders = <E>(holding: Effect.Effect<number, E, Scope.Scope>) =>
    Effect.forEach(
      Array.from({ length: 20 }, (_, seed) => seed),
      (seed) =>
        holding.pipe(
          Effect.scoped,
          Random.withSeed(seed),
          Effect.map((count) => assert.strictEqual(count, 1, `seed ${seed}`))
        )
    )

  it.effect("of many fibers that begin at once, one gets the lease", () =>
    inManyOrders(
      Effect.gen(function* () {
        const journal = yield* journalOf(yield* slowStore)
        return yield* holders(Array.from({ length: 8 }, () => journal))
      })
    )
  )

  it.effect("of many processes that take over a lease which ran out, one gets it", () =>
    inManyOrders(
      Effect.gen(function* () {
        const store = yield* slowStore
        yield* store.set("upload-journal-lease-k", JSON.stringify({ owner: "dead", until: 0 }))
        return yield* holders(yield* Effect.forEach(Array.from({ length: 8 }), () => journalOf(store)))
      })
    )
  )
})
