/** What a program is told if a job that it names is not the one that is stored, or cannot be opened. */
import * as Durable from "@assembly-effect/workflow/Durable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { gated } from "./gates.ts"
import { folder, job, live, until, withRunner } from "./support.ts"

layer(live, { excludeTestServices: true })("A key of a stored job", (it) => {
  it.effect("is not the key of a file with other bytes, which would not be uploaded", () =>
    Effect.gen(function* () {
      const { database, file } = yield* folder
      const fs = yield* FileSystem.FileSystem
      const first = job("report", [yield* file("a.bin", 100)])
      yield* Effect.gen(function* () {
        yield* Durable.run(first)
        assert.deepInclude(yield* Durable.start(first), { state: "Completed" })
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
      }).pipe(withRunner(database))
    })
  )

  it.effect("waits with a warning for a runner that knows its object store", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const gate = yield* gated
      const messages: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void messages.push(String(message)))])
      yield* gate.open
      yield* Effect.gen(function* () {
        yield* Durable.start(job("far", [], { files: [gate.file("far")] }))
      }).pipe(withRunner(database, { uploads: 1 }), Effect.provide(gate.layer))
      const { waiting } = yield* until("far", (now) => now.waiting !== undefined).pipe(
        withRunner(database),
        Effect.provide(logger)
      )
      const order = "Layer.provide(ObjectStores.layer("
      assert.include(waiting?.message, order)
      assert.include(messages.join("\n"), order)
    })
  )

  it.effect("is not told to start or to upload again what it never did", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      yield* Effect.gen(function* () {
        const unknown = yield* Effect.flip(Durable.cancel("nobody"))
        assert.notInclude(unknown.message, "start the job")
        const missing = job("missing", [{ path: "/nowhere/at/all", size: 1, sha256: "" }])
        const { message } = yield* Effect.flip(Durable.start(missing))
        assert.include(message, "/nowhere/at/all")
        assert.notInclude(message, "run the upload again")
      }).pipe(withRunner(database))
    })
  )
})
