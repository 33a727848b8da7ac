/** A lost message or progress changes no exit code, and a command without a reader ends. */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Deferred, Effect } from "effect"
import { existsSync } from "node:fs"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Spawned from "./support/spawned.ts"
import * as Uploading from "./support/uploading.ts"

layer(Uploading.live)("the standard error", (it) => {
  it.effect.skipIf(!existsSync("/dev/full"))("may be lost, and the exit code is that of the command", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const [done, failed] = yield* Effect.all(
      [
        Uploading.spawned(folder, ["upload", "a.txt"], { redirection: "2>/dev/full" }),
        Uploading.spawned(folder, ["get", "x"], { redirection: "2>&-" })
      ],
      { concurrency: 2 }
    )
    expect([done.code, failed.code]).toEqual([0, 2])
  })

  it.effect.each([["--json"], []])("ends a list of all pages when its reader ends %j", function* (flags) {
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
  })
})
