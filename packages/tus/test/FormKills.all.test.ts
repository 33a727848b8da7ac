/** R2 for forms and packs: a process that is killed while it sends. `RELIABILITY_KILLS` says how often. */
import { Emulator } from "@assembly-effect/emulator"
import type { Assembly } from "@assembly-effect/schema"
import { Effect, Random, Redacted } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer, Emulated, type Fault, Kills, Scene, TcpProxy, Tests, TusServer } from "./utils/index.ts"

const killed = new URL("utils/killed.ts", import.meta.url)
const kills = Number(process.env["RELIABILITY_KILLS"] ?? 2)

interface End {
  readonly tag: string
  readonly earlier: ReadonlyArray<string>
}

/** The runs of a process with these files, each killed at its moment, until the last one, which is not. */
const runs = Effect.fnUntraced(function* (
  folder: string,
  contents: ReadonlyArray<Uint8Array>,
  longest: number,
  slow?: Fault
) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const before = yield* Emulated.ids
  const files = contents.map((_, file) => join(folder, `${file}`))
  yield* Effect.promise(() => Promise.all(files.map((file, index) => writeFile(file, contents[index]!))))
  const proxy = yield* TcpProxy.make(Number(new URL(baseUrl).port))
  const { key, secret } = credentials
  // A proxy that answers of the service do not name.
  const url = slow === undefined ? baseUrl : `http://${proxy.authority}`
  const args = [join(folder, "journal"), "jobs", url, key, Redacted.value(secret), ...files]
  const sends = () => slow === undefined || proxy.requests.includes("POST")
  let ends: ReadonlyArray<End> = []
  for (const [moment, when] of [
    [yield* Random.nextIntBetween(0, longest)],
    [yield* Random.nextIntBetween(0, longest), sends],
    [undefined]
  ] as const) {
    if (moment !== undefined && slow !== undefined) proxy.faults.push(slow)
    proxy.requests.length = 0
    if (ends.length === 0 || files.length > 1) ends = yield* Kills.run<End>(killed, args, moment, when)
  }
  const created = yield* Emulated.since(before)
  return { created, completed: created.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED"), ends }
})

const hashesOf = (contents: ReadonlyArray<Uint8Array>) => contents.map(TusServer.sha256).toSorted()
const storedIn = (completed: ReadonlyArray<Assembly.Status>) =>
  completed.flatMap(({ uploads }) => (uploads ?? []).map(({ sha256 }) => String(sha256))).toSorted()

layer(Emulated.live)("R2", (it) => {
  it.effect(
    `killed twice at ${kills} moments: completes one Assembly, tells the others; 20 files in packs all complete`,
    () =>
      Effect.gen(function* () {
        // So slow that a kill after the arrival of its head meets a form that is being sent.
        const slow: Fault = { _tag: "Slow", method: "POST", bytes: 50_000, millis: 10 }
        let [others, again] = [0, 0]
        for (let kill = 0; kill < kills; kill++) {
          const form = [Scene.content(4 * 1024 * 1024 + kill)]
          const one = yield* runs(yield* Kills.folder, form, 400, slow)
          assert.include(["Completed", "Skipped"], one.ends[0]?.tag)
          assert.deepStrictEqual(storedIn(one.completed), hashesOf(form))
          const told = [...(one.ends[0]?.earlier ?? []), one.completed[0]?.assembly_id]
          assert.includeMembers(told, Tests.pluck(one.created, "assembly_id").slice())
          others += one.created.length - 1

          const contents = Array.from({ length: 20 }, (_, file) => Scene.content(20_000 + 100 * kill + file))
          const packs = yield* runs(yield* Kills.folder, contents, 600)
          const whole = packs.ends.filter(({ tag }) => tag === "Completed" || tag === "Skipped")
          assert.lengthOf(whole, 20, String(Tests.pluck(packs.ends, "tag")))
          const stored = storedIn(packs.completed)
          assert.deepStrictEqual([...new Set(stored)], hashesOf(contents))
          // The journal has no packs. So a file is in two of them if the process ended after its last byte, and before
          // its Assembly had completed: the Steps of a pack are `repeatable`.
          assert.isAtMost(stored.length, 3 * 20)
          again += stored.length - 20
        }
        console.log(`R2: ${kills} forms completed, ${others} other Assemblies, all told; ${again} files in packs again`)
      }).pipe(Random.withSeed("forms")),
    { timeout: Math.max(600_000, kills * 60_000) }
  )
})
