/** The one process of an embedded runner of packs is killed at random moments, at a service with quotas: each job has one outcome all the same. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TcpProxy from "@assembly-effect/testkit/hostile/TcpProxy"
import { runner } from "./processes.ts"
import { folder, steps, storedIn, withRunner } from "./support.ts"

/** How many files of 16 KiB are uploaded, and how often the runner is killed meanwhile. */
const files = Number(process.env["PACKING_FILES"] ?? 200)
const kills = Number(process.env["PACKING_KILLS"] ?? 3)
const size = 16 * 1024

const poisoned = { ...steps, poison: { robot: "/emulator/fail", use: ":original", filename: "poison.bin" } }
const poison = Math.floor(files / 3)

layer(NodeFileSystem.layer, { excludeTestServices: true })("An embedded runner of packs", (it) => {
  it.effect(
    `${files} files in packs of 100, one of them poison, ${kills} kills: all others complete, each in one Assembly`,
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const proxy = yield* TcpProxy.make()
        const origin = `http://127.0.0.1:${proxy.port}`
        const emulator = yield* Layer.build(Emulator.layer({ publicUrl: origin, quotas: "service" }))
        const { credentials, localUrl } = yield* Effect.provideContext(Emulator.Emulator, emulator)
        proxy.to(localUrl)
        const { database, file, path } = yield* folder
        const contents = yield* Effect.forEach(
          Array.from({ length: files }, (_, row) => row),
          (row) => file(`${row}.bin`, size)
        )
        const jobs = contents.map((content, row): DurableJob.Job => ({
          key: `job ${row}`,
          params: { steps: poisoned },
          files: [{ source: DurableJob.path(content.path), filename: row === poison ? "poison.bin" : "photo.bin" }]
        }))
        yield* fs.writeFileString(`${path}/jobs.json`, JSON.stringify(jobs))
        const orders = {
          baseUrl: origin,
          key: credentials.key,
          secret: Redacted.value(credentials.secret),
          database,
          jobs: [],
          packed: `${path}/jobs.json`
        }
        const begun = Date.now()
        for (let kill = 0; kill < kills; kill++) {
          const after = Math.floor((yield* Random.next) * ((files * size) / kills))
          yield* Effect.scoped(
            Effect.gen(function* () {
              const one = yield* runner(orders)
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
            const last = yield* runner(orders)
            yield* last.report(({ _tag }) => _tag === "AllEnded")
          })
        )
        yield* Effect.log(`${files} files with ${kills} kills: ${Date.now() - begun} ms`)

        const clients = AssemblyNode.layer({ baseUrl: localUrl, ...credentials })
        yield* Effect.gen(function* () {
          const all = yield* Stream.runCollect(Durable.list())
          const states = new Map(all.map(({ key, state }) => [key, state]))
          for (const [row, { key }] of jobs.entries()) {
            assert.strictEqual(states.get(key), row === poison ? "Failed" : "Completed", key)
          }
          const entries = yield* Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0) }))
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
    { timeout: 120_000 + files * 50 + kills * 10_000 }
  )
})
