/** A result that cannot be saved is explained in plain words, with a remedy. */
import { Emulator } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import * as Spawned from "./support/spawned.ts"
import * as Processes from "./support/processes.ts"
import * as Uploading from "./support/uploading.ts"

const live = Layer.mergeAll(Emulator.layer(), NodeServices.layer)

const unwritable = "Make the folder writable, or name another folder with --output. The files that are complete stay."

layer(live)("saved files", (it) => {
  it.effect.skipIf(process.platform === "win32")("each file that the system does not let grow is named", function* () {
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000), "b.bin": "purr".repeat(100_000) })
    const { stdout } = yield* Uploading.spawned(folder, ["upload", "a.bin", "b.bin", "--json"])
    const [, id = ""] = /"assembly_id":"(\w+)"/.exec(stdout) ?? []
    const env = { ...process.env, NO_COLOR: "1", ...(yield* Processes.environment), XDG_STATE_HOME: folder }
    const ran = yield* Effect.callback<string>((resume) => {
      // A limit of the size of files behaves as a full disk does: the write itself fails.
      execFile(
        "sh",
        ["-c", `ulimit -f 100; exec "$@"`, "sh", process.execPath, Spawned.bin, "results", "download", id, "-o", "out"],
        { cwd: folder, env: { ...env, XDG_CACHE_HOME: "", HOME: "" } },
        (_, __, stderr) => resume(Effect.succeed(stderr))
      )
    })
    const problem = "was not written: the file is larger than the limit of the file system or of the process"
    const lines = ran.split("\n")
    expect(lines.slice(0, 2).toSorted()).toEqual(["a", "b"].map((name) => `assembly: out/${name}.bin ${problem}`))
    expect(lines.slice(2)).toEqual([unwritable, ""])
    expect(readdirSync(`${folder}/out`)).toEqual([])
  })
})
