/** R2 for forms: a process that is killed while it sends. `RELIABILITY_KILLS` says how often. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fork } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Scene from "./utils/Scene.ts"
import * as TcpProxy from "./utils/TcpProxy.ts"
import * as TusServer from "./utils/TusServer.ts"

const kills = Number(process.env["RELIABILITY_KILLS"] ?? 4)

interface End {
  readonly tag: string
  readonly assemblyId: string
  readonly earlier: ReadonlyArray<string>
}

/** Runs the process; kills it after so many milliseconds, or not at all. */
const run = (args: ReadonlyArray<string>, killAfter: number | undefined): Promise<End | undefined> =>
  new Promise((resolve) => {
    const child = fork(new URL("utils/killedForm.ts", import.meta.url), [...args], { execArgv: [] })
    let end: End | undefined
    child.on("message", (message: End | "begin") => {
      if (message !== "begin") end = message
      else if (killAfter !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfter)
    })
    child.on("exit", () => resolve(end))
  })

const client = Layer.unwrap(
  Emulator.Emulator.useSync(({ baseUrl, credentials }) =>
    AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide(Authenticator.layerSigned()),
      Layer.provide(Credentials.layer(credentials))
    )
  )
)
const live = Layer.provideMerge(client, Layer.merge(Emulator.layer(), NodeHttpClient.layerUndici))

layer(live, { excludeTestServices: true })("R2, forms", (it) => {
  it.effect(
    `a process killed twice at ${kills} moments completes one Assembly, and tells the ids of the others`,
    () =>
      Effect.gen(function* () {
        const { baseUrl, credentials } = yield* Emulator.Emulator
        const folder = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "killed-"))),
          (path) => Effect.promise(() => rm(path, { recursive: true }))
        )
        const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
        const all = Effect.map(Stream.runCollect(Assemblies.listAll({ fromDate })), (list) => list.map(({ id }) => id))
        let others = 0
        for (let kill = 0; kill < kills; kill++) {
          const before = new Set(yield* all)
          const bytes = Scene.content(4 * 1024 * 1024 + kill)
          const path = join(folder, `file-${kill}`)
          yield* Effect.promise(() => writeFile(path, bytes))
          const proxy = yield* TcpProxy.make(Number(new URL(baseUrl).port))
          const secret = Redacted.value(credentials.secret)
          const args = [`http://${proxy.authority}`, credentials.key, secret, path, join(folder, `journal-${kill}`)]
          let end: End | undefined
          for (const moment of [
            yield* Random.nextIntBetween(0, 400),
            yield* Random.nextIntBetween(0, 400),
            undefined
          ]) {
            // So slow that most kills meet a form that is being sent.
            proxy.faults.push({ _tag: "Slow", method: "POST", bytes: 100_000, millis: 5 })
            end ??= yield* Effect.promise(() => run(args, moment))
          }
          assert.include(["Completed", "Skipped"], end?.tag)
          const created = (yield* all).filter((id) => !before.has(id))
          const statuses = yield* Effect.forEach(created, (id) => Assemblies.get(Assembly.AssemblyId.make(id)))
          const completed = statuses.filter(({ ok }) => ok === "ASSEMBLY_COMPLETED")
          assert.deepStrictEqual(
            completed.map(({ uploads }) => uploads?.map(({ sha256 }) => sha256)),
            [[TusServer.sha256(bytes)]]
          )
          const told = new Set([...(end?.earlier ?? []), completed[0]?.assembly_id])
          assert.deepStrictEqual(
            created.filter((id) => !told.has(Assembly.AssemblyId.make(id))),
            []
          )
          others += created.length - 1
        }
        console.log(`R2, forms: ${kills} completed, ${others} other Assemblies, all told`)
      }).pipe(Random.withSeed("forms")),
    { timeout: Math.max(120_000, kills * 20_000) }
  )
})
