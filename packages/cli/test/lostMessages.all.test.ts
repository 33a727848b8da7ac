/** A lost message is never a success, lost progress is no loss, and a command without a reader ends. */
import { expect, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { statistics } from "./support/answers.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Spawned from "./support/spawned.ts"
import * as Uploading from "./support/uploading.ts"

layer(Uploading.live, { excludeTestServices: true })("the standard error", (it) => {
  it.effect.skipIf(!existsSync("/dev/full"))("makes a command fail if it loses a message, but not progress", () =>
    Effect.gen(function* () {
      const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
      const full = { redirection: "2>/dev/full" }
      const progress = yield* Uploading.spawned(folder, ["upload", "a.txt"], full)
      expect(progress.code).toBe(0)
      const ASSEMBLY_BASE_URL = yield* Loopback.serve((request, response) =>
        response.end(
          JSON.stringify(
            request.url?.startsWith("/assembly_stats") ? { ...statistics, totalAssemblies: 0 } : { items: [], count: 0 }
          )
        )
      )
      const stats = ["stats", "--region", "us-east-1"]
      const told = yield* Uploading.assembly(folder, stats, { env: { ASSEMBLY_BASE_URL } })
      expect(told).toMatchObject({ code: 0, stderr: "no Assemblies in the region us-east-1 in this period\n" })
      // This hint is lost.
      const hint = yield* Uploading.spawned(folder, stats, { ...full, env: { ASSEMBLY_BASE_URL } })
      expect(hint.code).toBe(1)
      expect(hint.stdout).not.toBe("")
      // The exit code of a failure stays.
      expect((yield* Uploading.spawned(folder, ["get", "x"], full)).code).toBe(2)
      // A closed standard error is the choice of the user, as /dev/null.
      const closed = yield* Uploading.spawned(folder, stats, { redirection: "2>&-", env: { ASSEMBLY_BASE_URL } })
      expect(closed.code).toBe(0)
    }).pipe(Effect.scoped)
  )

  it.effect.each([["--json"], []])("ends a list of all pages when its reader ends %j", (flags) =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      let requests = 0
      const origin = yield* Loopback.serve((_, response) => {
        requests += 1
        const page = JSON.stringify({ items: [{ id: "0".repeat(32), created: "2026-01-01" }], count: 50 })
        // From the third page on, the service answers only when the reader has ended.
        if (requests < 3) response.end(page)
        else void Effect.runPromise(Deferred.await(ended)).then(() => response.end(page))
      })
      const { code, stderr } = yield* Spawned.run(["list", "--all", "--limit", "1", ...flags], {
        env: { ASSEMBLY_BASE_URL: origin, ASSEMBLY_AUTH_KEY: "key", ASSEMBLY_AUTH_SECRET: "secret" },
        started: (_, stdout) => {
          stdout?.once("data", () => stdout.destroy())
          stdout?.once("close", () => Deferred.doneUnsafe(ended, Effect.void))
        }
      })
      expect({ code, stderr }).toEqual({ code: 141, stderr: "" })
      expect(requests).toBeLessThan(5)
    }).pipe(Effect.scoped)
  )
})
