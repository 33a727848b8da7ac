/** R2 for forms and packs: a process that is killed while it sends. `RELIABILITY_KILLS` says how often. */
import { Emulator } from "@assembly-effect/emulator"
import type { Assembly } from "@assembly-effect/schema"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Random, Redacted } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Emulated, Kills, Scene, TcpProxy, TusServer } from "./utils/index.ts"

const killed = new URL("utils/killedForm.ts", import.meta.url)
const kills = Number(process.env["RELIABILITY_KILLS"] ?? 2)

interface End {
  readonly tag: string
  readonly earlier: ReadonlyArray<string>
}

const hashesOf = ({ uploads }: Assembly.Status) => (uploads ?? []).map(({ sha256 }) => String(sha256))

layer(Emulated.live)("R2", (it) => {
  it.effect(
    `killed twice at ${kills} moments: completes one Assembly, tells the others`,
    () =>
      Effect.gen(function* () {
        const { baseUrl, credentials } = yield* Emulator.Emulator
        const path = yield* Kills.folder
        let others = 0
        for (let kill = 0; kill < kills; kill++) {
          const before = yield* Emulated.ids
          const bytes = Scene.content(4 * 1024 * 1024 + kill)
          const file = join(path, `file-${kill}`)
          yield* Effect.promise(() => writeFile(file, bytes))
          const proxy = yield* TcpProxy.make(Number(new URL(baseUrl).port))
          const secret = Redacted.value(credentials.secret)
          const args = [`http://${proxy.authority}`, credentials.key, secret, join(path, `journal-${kill}`), file]
          let end: End | undefined
          const sends = () => proxy.requests.includes("POST")
          for (const [moment, when] of [
            [yield* Random.nextIntBetween(0, 400)],
            [yield* Random.nextIntBetween(0, 400), sends],
            [undefined]
          ] as const) {
            // So slow that a kill after the arrival of its head meets a form that is being sent.
            if (moment !== undefined) proxy.faults.push({ _tag: "Slow", method: "POST", bytes: 50_000, millis: 10 })
            proxy.requests.length = 0
            end ??= (yield* Kills.run<End>(killed, args, moment, when))[0]
          }
          assert.include(["Completed", "Skipped"], end?.tag)
          const created = yield* Emulated.since(before)
          const completed = created.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED")
          assert.deepStrictEqual(completed.map(hashesOf), [[TusServer.sha256(bytes)]])
          const told = new Set([...(end?.earlier ?? []), completed[0]?.assembly_id])
          assert.deepStrictEqual(
            created.filter(({ assembly_id: id }) => !told.has(id)),
            []
          )
          others += created.length - 1
        }
        console.log(`R2, forms: ${kills} completed, ${others} other Assemblies, all told`)
      }).pipe(Random.withSeed("forms")),
    { timeout: Math.max(600_000, kills * 60_000) }
  )

  it.effect(
    `20 files in packs, killed twice at ${kills} series of moments: every file completes`,
    () =>
      Effect.gen(function* () {
        const { baseUrl, credentials } = yield* Emulator.Emulator
        const path = yield* Kills.folder
        let again = 0
        for (let kill = 0; kill < kills; kill++) {
          const before = yield* Emulated.ids
          const contents = Array.from({ length: 20 }, (_, file) => Scene.content(20_000 + 100 * kill + file))
          const files = contents.map((_, file) => join(path, `pack-${kill}-${file}`))
          yield* Effect.promise(() => Promise.all(files.map((file, index) => writeFile(file, contents[index]!))))
          const secret = Redacted.value(credentials.secret)
          const args = [baseUrl, credentials.key, secret, join(path, `packs-${kill}`), ...files]
          for (let moment = 0; moment < 2; moment++) {
            const after = yield* Random.nextIntBetween(0, 600)
            yield* Kills.run<End>(killed, args, after)
          }
          const ends = yield* Kills.run<End>(killed, args, undefined)
          assert.lengthOf(
            ends.filter(({ tag }) => tag === "Completed" || tag === "Skipped"),
            20
          )
          const completed = (yield* Emulated.since(before)).filter(({ ok }) => ok === "ASSEMBLY_COMPLETED")
          const stored = completed.flatMap(hashesOf)
          assert.deepStrictEqual([...new Set(stored)].toSorted(), contents.map(TusServer.sha256).toSorted())
          // The journal has no packs. So a file is in two of them if the process ended after its last byte, and before
          // its Assembly had completed: the Steps of a pack are `repeatable`.
          assert.isAtMost(stored.length, 3 * 20)
          again += stored.length - 20
        }
        console.log(`R2, packs: ${kills} times 20 completed, ${again} files again`)
      }).pipe(Random.withSeed("packs")),
    { timeout: Math.max(600_000, kills * 60_000) }
  )
})
