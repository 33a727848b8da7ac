/** Runs the example of docs/examples, every second instead of every night. */
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableSqlite from "@assembly-effect/workflow/DurableSqlite"
import { assert, layer } from "@effect/vitest"
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { nightly, queueFolder } from "../../../docs/examples/durable-nightly.ts"
import { folder, live, storedIn } from "./support.ts"

layer(live, { excludeTestServices: true })("The example of a nightly upload", (it) => {
  it.effect("queues every file of a folder once a night", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { database, file, path } = yield* folder
      yield* fs.makeDirectory(`${path}/outbox`)
      const contents = [yield* file("outbox/a.bin", 1000), yield* file("outbox/b.bin", 2000)]
      const everySecond = Cron.parseUnsafe("* * * * * *", "UTC")
      const host = DurableSqlite.layer(database)
      const hashes = yield* Effect.gen(function* () {
        // The first night.
        const keys = yield* Stream.runCollect(Durable.list()).pipe(
          Effect.map((jobs) => jobs.map(({ key }) => key)),
          Effect.repeat({ until: ({ length }) => length >= 2, schedule: Schedule.spaced("50 millis") })
        )
        const [first = ""] = keys
        const night = first.slice(0, first.indexOf("/"))
        assert.isTrue(DateTime.isDateTime(DateTime.makeUnsafe(night)))
        assert.strictEqual(yield* queueFolder(`${path}/outbox`, night), 2)
        const statuses = yield* Effect.forEach(["a.bin", "b.bin"], (name) => Durable.await(`${night}/${name}`))
        return statuses.flatMap(storedIn)
      }).pipe(Effect.provide(Layer.provideMerge(nightly(`${path}/outbox`, everySecond), host)))
      assert.deepStrictEqual(
        hashes,
        contents.map(({ sha256 }) => sha256)
      )
    })
  )
})
