/**
 * The same `assembly upload` again: after its end, after Ctrl-C, and after the files or the service have changed.
 */
import { Faults } from "@assembly-effect/emulator"
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem } from "effect"
import * as Uploading from "./support/uploading.ts"

const upload = (cwd: string, ...args: ReadonlyArray<string>) => Uploading.assembly(cwd, ["upload", ...args])

/** The id in a line, such as `Assembly 0123…`. */
const idIn = (text: string, before = "Assembly"): string => {
  const [, id] = new RegExp(`${before} ([0-9a-f]{32})`).exec(text) ?? []
  assert(id !== undefined, `no id in ${JSON.stringify(text)}`)
  return id
}

const stateOf = (id: string) =>
  Effect.map(Uploading.statusOf(id), (text) => (JSON.parse(text) as { readonly ok?: string }).ok)

/** An upload of a file that Ctrl-C has ended. Returns the id of its Assembly. */
const interrupted = Effect.fnUntraced(function* (cwd: string) {
  const { code, stderr } = yield* Uploading.assembly(
    cwd,
    ["upload", "--limit-rate", "20k", "a.bin"],
    Uploading.quitAt(Uploading.created)
  )
  assert.strictEqual(code, 130)
  expect(stderr).toMatch(/\nassembly: the upload is kept; run the same command again to continue it\n$/)
  return idIn(stderr)
})

layer(Uploading.live)("the same assembly upload again", (it) => {
  it.effect("starts again if the Assembly of the interrupted upload was canceled", function* () {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const id = yield* interrupted(folder)
    yield* Uploading.assembly(folder, ["cancel", id])
    const { code, stderr, stdout } = yield* upload(folder, "a.bin")
    expect(stderr).toContain(`a.bin: Assembly ${id} of the interrupted upload was canceled. Starting again\n`)
    expect(code).toBe(0)
    expect(idIn(stdout)).not.toBe(id)
  })

  it.effect("starts again if the service no longer has the Assembly of the interrupted upload", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith(Uploading.large)
    const id = yield* interrupted(folder)
    const journal = `${folder}/.state/assembly/uploads`
    for (const name of (yield* fs.readDirectory(journal)).filter((one) => /^job\w+\.json$/.test(one))) {
      const text = yield* fs.readFileString(`${journal}/${name}`)
      yield* fs.writeFileString(`${journal}/${name}`, text.replace(id, "0".repeat(32)))
    }
    const { code, stderr } = yield* upload(folder, "a.bin")
    expect(stderr).toContain(
      "a.bin: The service no longer has the Assembly of the interrupted upload. Starting again\n"
    )
    expect(code).toBe(0)
  })

  it.effect("cancels the Assembly of an interrupted upload whose file has changed, and says so", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith(Uploading.large)
    const id = yield* interrupted(folder)
    yield* fs.writeFileString(`${folder}/a.bin`, "changed")
    const { code, stderr, stdout } = yield* upload(folder, "./a.bin")
    expect(stderr).toContain(`./a.bin changed after an interrupted upload. Its Assembly ${id} was canceled\n`)
    expect(code).toBe(0)
    expect(idIn(stdout)).not.toBe(id)
    expect(yield* stateOf(id)).toBe("ASSEMBLY_CANCELED")
    // The memory of commands has nothing to keep.
    expect(yield* fs.readDirectory(`${folder}/.state/assembly/uploads/commands`)).toEqual([])
  })

  it.effect("continues the Assembly of 20 small files after Ctrl-C, and then asks for them in a list", function* () {
    const names = Array.from({ length: 20 }, (_, index) => `many/${index}.txt`)
    const folder = yield* Uploading.folderWith(Object.fromEntries(names.map((name) => [name, name])))
    const first = yield* Uploading.assembly(folder, ["upload", "many/*.txt"], Uploading.quitAt(/ [2-9]0% /))
    expect(first).toMatchObject({ code: 130, stdout: "" })
    expect(first.stderr).not.toContain("failed")
    expect(first.stderr).toMatch(/\nassembly: the upload is kept; run the same command again to continue it\n$/)
    const second = yield* upload(folder, "many/*.txt")
    expect(second.code).toBe(0)
    expect(second.stderr).toContain(`20 files: Continuing Assembly ${idIn(first.stderr)}\n`)
    expect(second.stderr).not.toContain("failed")
    expect(idIn(second.stdout)).toBe(idIn(first.stderr))
    expect(second.stdout).toMatch(/, 20 results\n/)
    // The list of the Workspace has all files, so that no file needs a request of its own.
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", path: "/dam/assets/:id", times: 1000, status: 400 }))
    const third = yield* upload(folder, "many/*.txt")
    yield* faults.clear
    expect(third.stderr).toMatch(/no file was uploaded again\. --restart uploads again\n/)
    yield* Uploading.assembly(folder, ["assets", "move", "7.txt", "elsewhere/7.txt"])
    expect((yield* upload(folder, "many/*.txt")).stderr).toContain("no longer has 1 of 20 files, such as 7.txt")
  })

  it.effect("sends nothing if the service does not say whether it still has the file, and says so", function* () {
    const folder = yield* Uploading.folderWith({ "unknown.txt": "meow" })
    const first = yield* upload(folder, "unknown.txt")
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", path: "/dam/assets/:id", times: 1000, status: 400 }))
    const again = yield* upload(folder, "unknown.txt")
    yield* faults.clear
    expect(again.stderr).toMatch(
      /Already uploaded on .* \(UTC\) by Assembly \w+; no file was uploaded again\. --restart uploads again\. It is not known whether its files still exist: Dam\.get/
    )
    expect(again.code).toBe(0)
    expect(idIn(again.stdout)).toBe(idIn(first.stdout))
  })
})
