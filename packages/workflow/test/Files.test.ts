/** The files of an embedded runner, and jobs whose files have changed or cannot be opened. */
import { UploadSource } from "@assembly-effect/tus"
import { Durable, DurableJob, ObjectStores } from "@assembly-effect/workflow"
import { Deferred, Effect, FileSystem, Stream } from "effect"
import { assert } from "@assembly-effect/testkit/flow"
import { execFileSync } from "node:child_process"
import * as OwnerFiles from "../src/internal/ownerFiles.ts"
import { durableTests } from "./running.ts"
import { folder, hurried, job, pathsOf, steps, until, warnings, withRunner } from "./support.ts"

const modeOf = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { mode } = yield* fs.stat(path)
    return (mode & 0o777).toString(8)
  })

const open = (database: string) => withRunner(database)(Effect.asVoid(Durable.Durable))

durableTests("The database of an embedded runner", (it) => {
  it.alone("can be read by its owner only, from its beginning", function* ({ database }) {
    yield* OwnerFiles.createDatabase(database)
    assert.strictEqual(yield* modeOf(database), "600")
    const modes = yield* withRunner(database)(
      Effect.all([modeOf(database), modeOf(`${database}-wal`), modeOf(`${database}.secret`)])
    )
    assert.deepStrictEqual(modes, ["600", "600", "600"])
  })
  it.effect.each([
    { what: "a folder", description: "unable to open database file", make: "mkdir -m 755 $0" },
    { what: "a short text", description: "file is not a database", make: "echo text > $0; chmod 644 $0" },
    {
      what: "a text behind a symbolic link",
      description: "file is not a database",
      make: "printf %10000s text > $0.text; chmod 644 $0.text; ln -s $0.text $0"
    }
  ])("is StoreFailed at the path of $what, which keeps its mode", function* ({ description, make }) {
    const { database } = yield* folder
    execFileSync("sh", ["-c", make, database])
    const before = yield* modeOf(database)
    const error = yield* Effect.flip(open(database))
    assert.deepInclude(error, { _tag: "StoreFailed", path: database })
    assert.include(error.message, description)
    assert.strictEqual(yield* modeOf(database), before)
  })

  it.alone("gets the mode 600 with its other files, behind a symbolic link", function* ({ database, path, fs }) {
    yield* open(database)
    yield* fs.writeFileString(`${database}-shm`, "")
    for (const name of [database, `${database}-shm`]) yield* fs.chmod(name, 0o644)
    yield* fs.symlink(database, `${path}/link.db`)
    const modes = yield* withRunner(`${path}/link.db`)(
      Effect.all([modeOf(database), modeOf(`${database}-shm`), modeOf(`${database}-wal`)])
    )
    assert.deepStrictEqual(modes, ["600", "600", "600"])
  })

  for (const mode of [0o640, 0o602]) {
    it.alone(`is refused with a secret of the mode ${mode.toString(8)}`, function* ({ database, fs }) {
      yield* open(database)
      yield* fs.chmod(`${database}.secret`, mode)
      const error = yield* Effect.flip(open(database))
      assert.strictEqual(error._tag, "InvalidSecret")
      assert.include(error.message, `${database}.secret is ${mode.toString(8)}`)
      assert.include(error.message, "chmod 600")
      yield* fs.chmod(`${database}.secret`, 0o600)
      yield* open(database)
    })
  }
  for (const path of ["", ":memory:", "file:jobs?mode=memory"]) {
    it.effect(`is refused at ${JSON.stringify(path)}, which is no file`, function* () {
      const error = yield* Effect.flip(open(path))
      assert.deepStrictEqual(pathsOf(error), ["path"])
    })
  }
  it.alone("that is damaged is a typed error with the path and the cause", function* ({ database, file, fs }) {
    const content = yield* file("a.bin", 100)
    yield* Durable.run(job("one", [content])).pipe(withRunner(database))
    const bytes = yield* fs.readFile(database)
    // The first page, which describes the tables, keeps its header only.
    for (const from of [100, 4096, 8192, 12_288]) {
      const damaged = bytes.slice()
      damaged.fill(0xa5, from, from === 100 ? 4096 : undefined)
      yield* fs.writeFile(database, damaged)
      const error = yield* Effect.flip(
        Effect.andThen(Durable.status("one"), Durable.start(job("two", [content]))).pipe(withRunner(database))
      )
      assert(error._tag === "StoreFailed", `${from}: ${error.message}`)
      assert.strictEqual(error.path, database)
      assert.include(error.message, "malformed")
    }
  })

  it.alone("in a folder that is missing is a typed error with the path", function* ({ path }) {
    const error = yield* Effect.flip(open(`${path}/none/jobs.db`))
    assert(error._tag === "StoreFailed", error.message)
    assert.strictEqual(error.path, `${path}/none/jobs.db`)
  })

  it.alone("is left without a warning, although the last reader of a file is slow to stop", function* ({ database }) {
    const reopened = yield* Deferred.make<void>()
    let opens = 0
    const stores = ObjectStores.layer({
      slow: () =>
        Effect.gen(function* () {
          if (++opens > 1) {
            yield* Deferred.succeed(reopened, undefined)
            // Longer than a runner that ends waits for its database.
            yield* Effect.sleep("3500 millis")
          }
          return { ...UploadSource.fromBytes(new Uint8Array(8)), identity: Effect.succeed("1") }
        }).pipe(Effect.uninterruptible)
    })
    const files = [{ source: DurableJob.object("slow", "a"), filename: "a.bin" }]
    const said = yield* Effect.andThen(Durable.start(job("slow", [], { files })), Deferred.await(reopened)).pipe(
      withRunner(database),
      Effect.provide(stores),
      hurried(50),
      warnings
    )
    assert.deepStrictEqual(said, [])
  })
})

durableTests("A key of a stored job", (it) => {
  it.running("is not the key of a file with other bytes, which would not be uploaded", function* ({ file }) {
    const fs = yield* FileSystem.FileSystem
    const first = job("report", [yield* file("a.bin", 100)], { params: { steps, fields: { a: 1, b: 2 } } })
    yield* Durable.run(first)
    const same = { ...first, params: { fields: { b: 2, a: 1 }, steps } }
    assert.deepInclude(yield* Durable.start(same), { state: "Completed" })
    const { path } = yield* file("a.bin", 200)
    const conflict = yield* Effect.flip(Durable.run(first))
    assert(conflict._tag === "JobConflict", conflict.message)
    assert.deepStrictEqual(conflict.changed, ["0.bin"])
    assert.include(conflict.message, "0.bin")
    assert.include(conflict.message, "use another key")
    assert.include(conflict.message, "Durable.retry")
    const [refused] = yield* Stream.runCollect(Durable.startAll(Stream.make(first)))
    assert(refused?._tag === "Refused" && refused.error._tag === "JobConflict")
    assert.deepStrictEqual(refused.error.changed, ["0.bin"])
    // Bytes that were removed after their upload are not other bytes.
    yield* fs.remove(path)
    assert.deepInclude(yield* Durable.start(first), { state: "Completed" })
    const second = job("second", [{ path, size: 200, sha256: "" }])
    const [again, unknown] = yield* Stream.runCollect(Durable.startAll(Stream.make(first, second)))
    assert(again?._tag === "Known")
    assert.strictEqual(again.summary.state, "Completed")
    assert(unknown?._tag === "Refused")
    assert.strictEqual(unknown.error._tag, "SourceFailed")
  })

  it.alone("waits with a warning for a runner that knows its object store", function* ({ database, gate }) {
    yield* gate.open
    yield* Durable.start(gate.job("far")).pipe(withRunner(database, { uploads: 1 }))
    const order = "Layer.provide(ObjectStores.layer("
    const said = yield* until("far", ({ waiting }) => waiting?.message.includes(order) === true).pipe(
      withRunner(database),
      Effect.provide(ObjectStores.layer({})),
      warnings
    )
    assert.include(said.join("\n"), order)
  })
})
