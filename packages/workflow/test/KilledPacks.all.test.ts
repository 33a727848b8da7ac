/** The one process of an embedded runner is killed while it sends packs, and the next one continues them. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { runner } from "./processes.ts"
import { assemblies, folder, proxied, steps, storedIn, withRunner } from "./support.ts"

/** How many files of 16 KiB are uploaded, and how often the runner is killed meanwhile. */
const files = Number(process.env["PACKING_FILES"] ?? 120)
const packKills = Number(process.env["PACKING_KILLS"] ?? 1)
const packed = 16 * 1024

const poisoned = { ...steps, poison: { robot: "/emulator/fail", use: ":original", filename: "poison.bin" } }
const poison = Math.floor(files / 3)

layer(NodeFileSystem.layer)("An embedded runner", (it) => {
  it.effect(
    `${files} files in packs of 100, one of them poison, ${packKills} kills: all others complete, each in one Assembly`,
    Effect.fnUntraced(function* () {
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
    }, Random.withSeed("packs")),
    { timeout: 120_000 + files * 50 + packKills * 10_000 }
  )
})
