/** Runs the command line without a folder for unfinished uploads, and with a folder in which nothing can be created. */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import * as Processes from "./support/processes.ts"
import * as Uploading from "./support/uploading.ts"

const notice =
  "No command can continue this upload after an interruption, because there is no folder for unfinished uploads: set HOME or XDG_STATE_HOME, or name a folder with --journal"

layer(Uploading.live)("without a folder", (it) => {
  it.effect("an upload says that it cannot be continued, and Ctrl-C promises nothing", function* () {
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000), "b.txt": "meow" })
    const unset = { env: { HOME: undefined, XDG_STATE_HOME: undefined, LOCALAPPDATA: undefined } as never }
    const done = yield* Uploading.assembly(folder, ["upload", "b.txt"], unset)
    expect(done.code).toBe(0)
    expect(done.stderr).toContain(notice)
    const json = yield* Uploading.spawned(folder, ["upload", "b.txt", "--json"], unset)
    expect(JSON.parse(json.stdout.split("\n")[0] ?? "")).toEqual({ event: "Notice", message: notice })
    const kept = yield* Uploading.assembly(folder, ["upload", "b.txt", "--journal", "j"], unset)
    expect(kept.stderr).not.toContain("No command can continue")

    const options = { ...unset, ...Uploading.quitAt(Uploading.created) }
    const stopped = yield* Uploading.upload(folder, ["--limit-rate", "20k", "a.bin"], options)
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toMatch(/the Assembly still waits for its files; assembly cancel [0-9a-f]{32} cancels it/)
    expect(stopped.stderr).not.toContain("to continue")
  })

  it.effect.skipIf(!existsSync("/proc/self"))(
    "a home folder in which nothing can be created does not stop a command",
    () =>
      Effect.gen(function* () {
        const folder = yield* Uploading.folderWith({ "b.txt": "meow" })
        const service = yield* Processes.environment
        // A process that hangs is killed at the end of the test.
        for (const env of [
          { HOME: "/proc", XDG_STATE_HOME: "", XDG_CACHE_HOME: "" },
          { HOME: "/proc", XDG_STATE_HOME: "/proc", XDG_CACHE_HOME: "/proc/x" }
        ]) {
          const listed = yield* Processes.assembly(folder, { ...service, ...env }, "uploads")
          expect(listed).toEqual({ code: 0, stdout: "no unfinished uploads\n", stderr: "" })
        }
        const state = { ...service, HOME: "/proc", XDG_STATE_HOME: "/proc/state" }
        const upload = yield* Processes.assembly(folder, state, "upload", "b.txt")
        expect(upload.code).toBe(1)
        expect(upload.stderr).toContain("/proc/state/assembly/uploads: ")
      }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )
})
