/** Runs `assembly upload` in a process of its own: with the standard input of a shell, signals, and long waits. */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { FileSystem } from "effect"
import { createHash } from "node:crypto"
import * as Uploading from "./support/uploading.ts"

const bytes = Uint8Array.from({ length: 8 * 1024 * 1024 }, (_, index) => (index * 31 + (index >> 8)) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

layer(Uploading.live)("assembly upload in a process", (it) => {
  it.effect("refuses a standard input that is a folder, and creates nothing", function* () {
    const folder = yield* Uploading.folderWith({})
    const refused = yield* Uploading.spawned(folder, ["upload", "--name", "folder.bin", "-"], {
      redirection: `< "${folder}"`
    })
    expect(refused).toEqual({
      code: 2,
      stdout: "",
      stderr: "assembly: the standard input (-): is a folder, not a file or a pipe\n"
    })
    const { stdout } = yield* Uploading.assembly(folder, ["assets", "list", "--json"])
    expect(stdout).not.toContain("folder.bin")
  })

  it.effect("refuses a standard input that is closed, and stores no empty file", function* () {
    const folder = yield* Uploading.folderWith({})
    for (const input of ["<&-", "</dev/null"]) {
      const refused = yield* Uploading.spawned(folder, ["upload", "--name", "closed.bin", "-"], { redirection: input })
      expect(refused).toEqual({
        code: 2,
        stdout: "",
        stderr:
          "assembly: the standard input (-): is closed, or is a device such as /dev/null; pipe the content, as cat does\n"
      })
    }
    const { stdout } = yield* Uploading.assembly(folder, ["assets", "list", "--json"])
    expect(stdout).not.toContain("closed.bin")
    // An empty file is a file.
    const empty = yield* Uploading.spawned(folder, ["upload", "--name", "empty.bin", "-"], { input: "" })
    expect(empty).toMatchObject({ code: 0, stdout: expect.stringContaining("empty.bin") })
  })

  it.effect("cancels the Assembly of the standard input after Ctrl-C, because nothing can continue it", function* () {
    const folder = yield* Uploading.folderWith({})
    // The standard input stays open.
    const args = ["upload", "--name", "endless.bin", "-"]
    const { code, stderr } = yield* Uploading.spawned(folder, args, Uploading.quitAt(Uploading.created))
    expect(code).toBe(130)
    expect(stderr).toMatch(/\nassembly: the Assembly was canceled, because the standard input cannot be read again\n$/)
    const status = JSON.parse(yield* Uploading.statusOf(Uploading.idIn(stderr)))
    expect(status).toMatchObject({ ok: "ASSEMBLY_CANCELED" })
  })

  it.effect("is continued after a kill by the same command", function* () {
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
