/** A database whose disk is full or loses its power: few lines in the log, and nothing that was acknowledged is lost. */
import { Durable } from "@assembly-effect/workflow"
import { assert } from "@assembly-effect/testkit/flow"
import { Effect, Logger, Predicate, Schedule } from "effect"
import { DatabaseSync } from "node:sqlite"
import { durableTests } from "./running.ts"
import { assemblies, job, storedIn, withRunner } from "./support.ts"
import * as Watched from "./watched.ts"

const isFullError = (error: unknown) => Predicate.hasProperty(error, "errcode") && error.errcode === 13

/**
 * Watches the statements of a database in this process until the scope closes.
 *
 * - `connection`: the open database at `path`.
 * - `fill`: no page can be added to this connection: SQLite itself fails, but only some of the statements.
 * - `tries`: how many statements have failed since then.
 */
const watch = (path: string) =>
  Effect.gen(function* () {
    const { prepare } = DatabaseSync.prototype
    const seen = { tries: 0, connection: undefined as DatabaseSync | undefined }
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...args: Parameters<typeof prepare>) {
          if (this.location() === path) seen.connection = this
          return Reflect.apply(prepare, this, args)
        }
      }),
      () => Effect.sync(() => Object.assign(DatabaseSync.prototype, { prepare }))
    )
    yield* Watched.statements((_, run) => {
      try {
        return run()
      } catch (error) {
        if (isFullError(error)) seen.tries++
        throw error
      }
    })
    const fill = Effect.sync(() => {
      const pages = seen.connection?.prepare("PRAGMA page_count").get()?.["page_count"]
      seen.connection?.exec(`PRAGMA max_page_count = ${Number(pages)}`)
    })
    return Object.assign(seen, { fill })
  })

/** Reads a number until it is at least `least`. */
const untilAtLeast = (least: number, read: () => number) =>
  Effect.sync(read).pipe(Effect.repeat({ until: (is) => is >= least, schedule: Schedule.spaced("20 millis") }))

/** So many files of a job that their entries need further pages of the database. */
const filesOf = <A>(one: A): ReadonlyArray<A> => Array.from({ length: 12 }, () => one)

durableTests("A database", (it) => {
  it.alone("writes each transaction to the disk before the transaction ends", function* ({ database, file }) {
    const seen = yield* watch(database)
    const [synchronous] = yield* Effect.gen(function* () {
      yield* Durable.run(job("a", [yield* file("a", 1000)]))
      return Object.values(seen.connection?.prepare("PRAGMA synchronous").get() ?? {})
    }).pipe(withRunner(database))
    // FULL
    assert.strictEqual(synchronous, 2)
  })

  it.alone(
    "that is full is one line of the log and lets its runner end; the next runner continues",
    function* ({ database, file, gate }) {
      const said: Array<string> = []
      const logger = Logger.make(({ cause, logLevel, message }) => {
        if (logLevel !== "Info") said.push([logLevel, String(message), ...cause.reasons.map(() => "cause")].join(" "))
      })
      const contents = yield* Effect.forEach(["a", "b", "c", "d"], (name) => file(name, 1000))
      const full = yield* watch(database)
      const before = (yield* assemblies()).length
      yield* Effect.gen(function* () {
        yield* gate.begin("begun")
        for (const [index, content] of contents.entries()) yield* Durable.start(job(`${index}`, filesOf(content)))
        yield* full.fill
        const big = { params: { fields: { a: "x".repeat(20_000) }, steps: {} } }
        const refused = yield* Effect.flip(Durable.start(job("refused", contents, big)))
        assert(refused._tag === "StoreFailed", refused.message)
        assert.include(refused.message, "database or disk is full")
        yield* gate.open
        yield* untilAtLeast(4, () => full.tries)
        // A line follows its statement some turns later.
        yield* untilAtLeast(1, () => said.length)
      }).pipe(
        withRunner(database, { uploads: 1 }),
        Effect.provide(Logger.layer([logger])),
        Effect.timeout("30 seconds")
      )
      assert.lengthOf(said, 1, said.join("\n"))
      const [line = ""] = said
      assert.match(line, /^Warn Durable jobs wait for their database: .*database or disk is full/u)
      assert.include(line, database)
      assert.notMatch(line, /cause$|\n/u)
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(storedIn(yield* Durable.await("begun")), [gate.sha256])
        for (const [index, { sha256 }] of contents.entries()) {
          const status = yield* Durable.await(`${index}`)
          assert.deepStrictEqual(storedIn(status), filesOf(sha256))
          assert.deepInclude(status, { started_tus_uploads: 12 })
        }
      }).pipe(withRunner(database))
      assert.strictEqual((yield* assemblies()).length - before, 1 + contents.length)
    }
  )
})
