/**
 * Runs commands with a standard output that cannot be written: a full disk, and a pipe whose reader has ended. Each
 * command writes in another way; the commands that are missing here write as one of these.
 */
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Deferred, Effect } from "effect"
import { closeSync, existsSync, openSync } from "node:fs"
import { assembly, environment, folderWith } from "./support/processes.ts"
import * as Spawned from "./support/spawned.ts"
import * as Uploading from "./support/uploading.ts"

const full = "/dev/full"

const problem = /^assembly: the output cannot be written: ENOSPC[^\n]*\n$/m

layer(Uploading.live)("lost output", (it) => {
  it.effect.skipIf(!existsSync(full))("is never a success of a command", function* () {
    const cwd = yield* folderWith({ "a.txt": "meow", "new.txt": "new" })
    const env = { ...(yield* environment), XDG_STATE_HOME: cwd }
    const { stdout } = yield* assembly(cwd, env, "upload", "a.txt")
    const [, id] = /Assembly (\w+)/.exec(stdout) ?? []
    assert(id !== undefined, stdout)
    const disk = openSync(full, "w")
    yield* Effect.addFinalizer(() => Effect.sync(() => closeSync(disk)))
    yield* Effect.forEach(
      [
        "upload new.txt",
        "stats",
        "list --all",
        "list --json",
        `get ${id}`,
        `watch --json ${id}`,
        `results download ${id} -o results`,
        "keys create --scope assemblies:read --show-secret",
        "token",
        "emulator",
        "doctor",
        "completions bash",
        "help exit-codes",
        "--help",
        "--version"
      ],
      Effect.fnUntraced(function* (args) {
        const { code, stderr } = yield* Spawned.run(args.split(" "), { cwd, env, stdout: disk })
        expect(stderr, args).toMatch(problem)
        expect(code, args).toBe(1)
      }),
      { concurrency: 2 }
    )
  })

  it.effect("has no message if the reader has ended, and the exit code says so", function* () {
    const cwd = yield* folderWith({})
    const env = { ...(yield* environment), XDG_STATE_HOME: cwd }
    const all = ["list", "list --json", "list --all", "doctor", "token", "completions fish", "emulator"]
    yield* Effect.forEach(
      all,
      Effect.fnUntraced(function* (args) {
        const { code, stderr } = yield* Spawned.run(args.split(" "), { cwd, env, stdout: "closed" })
        expect({ args, code, stderr }).toEqual({ args, code: 141, stderr: "" })
      }),
      { concurrency: 2 }
    )
  })
})

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
