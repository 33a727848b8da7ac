/** The one process of an embedded runner is killed at random moments, and the next one continues its jobs. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { runner } from "./processes.ts"
import { assemblies, folder, job, proxied, steps, storedIn, withRunner } from "./support.ts"

const MiB = 1024 * 1024
/** With `RELIABILITY_KILLS`, the test kills this many processes, and each of them uploads 200 MiB. */
const many = process.env["RELIABILITY_KILLS"]
const kills = Number(many ?? 1)
const size = many === undefined ? 24 * MiB : 200 * MiB

/** Where each kill comes, as a part of the file: evenly spread, with chance within each part. */
const draw = Effect.forEach(
  Array.from({ length: kills }, (_, index) => index),
  (index) => Effect.map(Random.next, (chance) => (index + chance) / kills)
)

/** How many files of 16 KiB are uploaded, and how often the runner is killed meanwhile. */
const files = Number(process.env["PACKING_FILES"] ?? 120)
const packKills = Number(process.env["PACKING_KILLS"] ?? 1)
const packed = 16 * 1024

const poisoned = { ...steps, poison: { robot: "/emulator/fail", use: ":original", filename: "poison.bin" } }
const poison = Math.floor(files / 3)

layer(NodeFileSystem.layer, { excludeTestServices: true })("An embedded runner", (it) => {
  it.effect(
    `that is killed is continued by the next process: ${kills} times`,
    () =>
      Effect.gen(function* () {
        const moments = yield* draw
        const { clients, orders, proxy } = yield* proxied()
        const { database, file } = yield* folder
        const content = yield* file("a.bin", size)
        let worst = 0

        for (const [index, moment] of moments.entries()) {
          const key = `job ${index} at ${moment}`
          const jobs = [job(key, [content])]
          const before = proxy.sent()
          yield* Effect.scoped(
            Effect.gen(function* () {
              const first = yield* runner({ ...orders, database, jobs })
              yield* first.report(({ _tag }) => _tag === "Started")
              yield* proxy.reached(before + moment * size)
              yield* first.kill("SIGKILL")
              const second = yield* runner({ ...orders, database, jobs })
              const ended = yield* second.report(({ _tag }) => _tag !== "Started")
              assert.deepStrictEqual(ended, { _tag: "Ended", key, outcome: "ASSEMBLY_COMPLETED" })
            })
          )
          worst = Math.max(worst, proxy.sent() - before - size)
        }
        // The requests themselves take some kilobytes.
        assert.isAtMost(worst, MiB)

        yield* Effect.gen(function* () {
          assert.lengthOf(yield* assemblies(), kills)
          for (const [index, moment] of moments.entries()) {
            const status = yield* Durable.await(`job ${index} at ${moment}`)
            assert.deepInclude(status, { started_tus_uploads: 1, finished_tus_uploads: 1 })
            assert.deepStrictEqual(storedIn(status), [content.sha256])
          }
        }).pipe(withRunner(database), Effect.provide(clients))
        if (many !== undefined) yield* Effect.log(`${kills} kills; sent again at most ${worst} bytes`)
      }).pipe(Random.withSeed("kills")),
    { timeout: 60_000 + kills * 60_000 }
  )

  it.effect(
    `${files} files in packs of 100, one of them poison, ${packKills} kills: all others complete, each in one Assembly`,
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { clients, orders, proxy } = yield* proxied(undefined, { quotas: "service" })
        const { database, file, path } = yield* folder
        const contents = yield* Effect.forEach(
          Array.from({ length: files }, (_, row) => `${row}.bin`),
          (name) => file(name, packed)
        )
        const jobs = contents.map((content, row): DurableJob.Job => ({
          key: `job ${row}`,
          params: { steps: poisoned },
          files: [{ source: DurableJob.path(content.path), filename: row === poison ? "poison.bin" : "photo.bin" }]
        }))
        yield* fs.writeFileString(`${path}/jobs.json`, JSON.stringify(jobs))
        const packs = { ...orders, database, jobs: [], packed: `${path}/jobs.json` }
        const begun = Date.now()
        for (let kill = 0; kill < packKills; kill++) {
          const after = Math.floor((yield* Random.next) * ((files * packed) / packKills))
          yield* Effect.scoped(
            Effect.gen(function* () {
              const one = yield* runner(packs)
              yield* one.report(({ _tag }) => _tag === "Started")
              yield* Effect.raceFirst(
                proxy.reached(proxy.sent() + after),
                one.report(({ _tag }) => _tag === "AllEnded")
              )
              yield* one.kill("SIGKILL")
            })
          )
        }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const last = yield* runner(packs)
            yield* last.report(({ _tag }) => _tag === "AllEnded")
          })
        )
        yield* Effect.log(`${files} files with ${packKills} kills: ${Date.now() - begun} ms`)

        yield* Effect.gen(function* () {
          const all = yield* Stream.runCollect(Durable.list())
          const states = new Map(all.map(({ key, state }) => [key, state]))
          for (const [row, { key }] of jobs.entries()) {
            assert.strictEqual(states.get(key), row === poison ? "Failed" : "Completed", key)
          }
          const entries = yield* assemblies()
          // Nothing is left open.
          assert.isTrue(entries.every(Assembly.isOver))
          const completed = entries.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED")
          const stored = yield* Effect.forEach(completed, ({ id }) => Assemblies.get(Assembly.AssemblyId.make(id)))
          const hashes = new Set(stored.flatMap(storedIn))
          assert.isTrue(contents.every(({ sha256 }, row) => row === poison || hashes.has(sha256)))
          // The Status of a job has exactly its own file.
          for (let row = 0; row < files; row += Math.ceil(files / 100)) {
            if (row === poison) continue
            const status = yield* Durable.await(`job ${row}`)
            assert.deepStrictEqual(storedIn(status), [contents[row]?.sha256 ?? ""])
          }
        }).pipe(withRunner(database), Effect.provide(clients))
      }).pipe(Random.withSeed("packs")),
    { timeout: 120_000 + files * 50 + packKills * 10_000 }
  )
})
