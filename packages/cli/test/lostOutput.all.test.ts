/**
 * Runs commands with a standard output that cannot be written: a full disk, and a pipe whose reader has ended. Each
 * command writes in another way; the commands that are missing here write as one of these.
 */
import { Emulator } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import { closeSync, existsSync, openSync } from "node:fs"
import { assembly, environment, folderWith } from "./support/processes.ts"
import * as Spawned from "./support/spawned.ts"

const full = "/dev/full"

const problem = /^assembly: the output cannot be written: ENOSPC[^\n]*\n$/m

layer(Layer.merge(Emulator.layer(), NodeServices.layer))("lost output", (it) => {
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
