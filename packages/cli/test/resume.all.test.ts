/**
 * Runs `assembly upload` in a separate process, kills it during the upload, and runs the same command again.
 */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { FileSystem } from "effect"
import { createHash } from "node:crypto"
import * as Uploading from "./support/uploading.ts"

const bytes = Uint8Array.from({ length: 8 * 1024 * 1024 }, (_, index) => (index * 31 + (index >> 8)) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

layer(Uploading.live)("assembly upload", (it) => {
  it.effect("that was killed is continued by the same command", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFile(`${folder}/a.bin`, bytes)
    const args = ["upload", "--journal", `${folder}/state`, `${folder}/a.bin`]

    const ended = yield* Uploading.spawned(
      folder,
      [...args, "--limit-rate", "4M"],
      Uploading.quitAt(/ [2-9]\d% /, "SIGKILL")
    )
    const [, id] = /^a\.bin: Assembly (\w{32})$/m.exec(ended.stderr) ?? []
    expect(id).toBeDefined()
    expect(ended).toMatchObject({ stdout: "" })
    expect(ended.stderr).not.toContain("Processing")

    const { code, stderr } = yield* Uploading.assembly(folder, args)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(`a.bin: Continuing Assembly ${id}\n`)
    expect(stderr).toContain("a.bin: Resumed at ")
    expect(yield* Uploading.statusOf(id ?? "")).toContain(sha256)
  })
})
