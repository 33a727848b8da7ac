/**
 * The same `assembly upload` again: after its end, after Ctrl-C, and after the files or the service have changed.
 */
import { Emulator, Faults } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer } from "effect"
import { content } from "./support/resources.ts"
import * as Uploading from "./support/uploading.ts"

const upload = (cwd: string, ...args: ReadonlyArray<string>) => Uploading.assembly(cwd, ["upload", ...args])

const stateOf = (id: string) =>
  Effect.map(Uploading.statusOf(id), (text) => (JSON.parse(text) as { readonly ok?: string }).ok)

const kept = "assembly: the upload is kept; run the same command again to continue it"

/** An upload of a file that Ctrl-C has ended. Returns the id of its Assembly. */
const interrupted = Effect.fnUntraced(function* (cwd: string, ...args: ReadonlyArray<string>) {
  const { id, last } = yield* Uploading.interrupted(cwd, ["--limit-rate", "20k", ...args, "a.bin"])
  expect(last).toBe(kept)
  return id
})

layer(Uploading.live)("the same assembly upload again", (it) => {
  it.effect("starts again if the Assembly of the interrupted upload was canceled", function* () {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const id = yield* interrupted(folder)
    yield* Uploading.assembly(folder, ["cancel", id])
    const { code, stderr, stdout } = yield* upload(folder, "a.bin")
    expect(stderr).toContain(`a.bin: Assembly ${id} of the interrupted upload was canceled. Starting again\n`)
    expect(code).toBe(0)
    expect(Uploading.idIn(stdout)).not.toBe(id)
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
    expect(Uploading.idIn(stdout)).not.toBe(id)
    expect(yield* stateOf(id)).toBe("ASSEMBLY_CANCELED")
    // The memory of commands has nothing to keep.
    expect(yield* fs.readDirectory(`${folder}/.state/assembly/uploads/commands`)).toEqual([])
  })

  it.effect("cancels the Assembly of an interrupted folder to which a file came, and says so", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith({ "in/a.bin": Object.values(Uploading.large)[0] ?? "" })
    const { id } = yield* Uploading.interrupted(folder, ["--limit-rate", "20k", "-r", "in"])
    yield* fs.writeFileString(`${folder}/in/b.bin`, "new")
    const { code, stderr, stdout } = yield* upload(folder, "--limit-rate", "20M", "-r", "in")
    expect(code).toBe(0)
    // Other arguments may be another upload, which goes on.
    expect(stderr).not.toContain("was canceled")
    expect(Uploading.idIn(stdout)).not.toBe(id)
    yield* fs.writeFileString(`${folder}/in/c.bin`, "new")
    const again = yield* upload(folder, "--limit-rate", "20k", "-r", "in", "--exclude", "a.bin")
    expect(again.code).toBe(0)
    const same = yield* Uploading.assembly(
      folder,
      ["upload", "--limit-rate", "20k", "-r", "in"],
      Uploading.quitAt(/ [1-9]% /)
    )
    expect(same.stderr).toContain(`The files changed after an interrupted upload. Its Assembly ${id} was canceled\n`)
    expect(yield* stateOf(id)).toBe("ASSEMBLY_CANCELED")
  })

  it.effect.each([
    ["another list of --files-from", ["--files-from", "list.txt"], "list.txt", "b.txt"],
    ["other fields in the same file", ["a.bin", "--fields-file", "fields.json"], "fields.json", '{"n":2}']
  ] as const)("keeps the Assembly of an interrupted upload that had %s", function* ([, args, changed, text]) {
    const fs = yield* FileSystem.FileSystem
    const files = { ...Uploading.large, "b.txt": "b", "list.txt": "a.bin", "fields.json": '{"n":1}' }
    const folder = yield* Uploading.folderWith(files)
    const { id } = yield* Uploading.interrupted(folder, ["--limit-rate", "20k", ...args])
    yield* fs.writeFileString(`${folder}/${changed}`, text)
    const command = ["upload", "--limit-rate", "20k", ...args]
    const { stderr } = yield* Uploading.assembly(folder, command, Uploading.quitAt(/ (?:[1-9]|100)% /))
    expect(stderr).not.toContain("was canceled")
    expect(yield* stateOf(id)).toBe("ASSEMBLY_UPLOADING")
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
    expect(second.stderr).toContain(`20 files: Continuing Assembly ${Uploading.idIn(first.stderr)}\n`)
    expect(second.stderr).not.toContain("failed")
    expect(Uploading.idIn(second.stdout)).toBe(Uploading.idIn(first.stderr))
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
    expect(Uploading.idIn(again.stdout)).toBe(Uploading.idIn(first.stdout))
  })
})

/** A service behind a proxy that has lost it. */
const gone = Faults.Fault.Refuse({ method: "GET", times: 1000, status: 503, body: "<h1>gone</h1>" })

layer(Layer.merge(Emulator.layer({ templates: [{ id: "my-template", name: "hashes", content }] }), NodeServices.layer))(
  "a continued assembly upload",
  (it) => {
    it.effect.each([
      ["does not answer", Faults.Fault.LoseAnswer({ method: "GET", times: 1000 }), [], "Assemblies"],
      ["knows the id of a Template, and is gone behind a proxy", gone, ["--template", "hashes"], "Templates"]
    ] as const)("waits for a service that %s, and says why", function* ([, fault, args, resource]) {
      const folder = yield* Uploading.folderWith(Uploading.large)
      const faults = yield* Faults.Faults
      yield* interrupted(folder, ...args)
      yield* faults.inject(fault)
      const again = yield* Uploading.upload(folder, [...args, "a.bin"], {
        onError: (text) => {
          if (text.includes("Waiting: ")) Effect.runSync(faults.clear)
        }
      })
      yield* faults.clear
      expect(again.stderr).toMatch(new RegExp(String.raw`^a\.bin: Waiting: ${resource}\.get: `))
      expect(again.stderr).toMatch(/\na\.bin: Continuing Assembly /)
      expect(again.code).toBe(0)
    })

    it.effect("says after Ctrl-C that the upload is kept, while the service is gone", function* () {
      const folder = yield* Uploading.folderWith(Uploading.large)
      const faults = yield* Faults.Faults
      yield* interrupted(folder)
      yield* faults.inject(gone)
      const again = yield* Uploading.upload(folder, ["a.bin"], Uploading.quitAt(/Waiting: /))
      yield* faults.clear
      expect(again).toMatchObject({ code: 130, stdout: "" })
      expect(again.stderr.trimEnd().endsWith(kept)).toBe(true)
    })

    it.effect(
      "says after Ctrl-C that all files are uploaded, and the same command waits for the results",
      function* () {
        const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
        const faults = yield* Faults.Faults
        yield* faults.inject(gone)
        const first = yield* Uploading.upload(folder, ["a.txt"], Uploading.quitAt(/Waiting: /))
        yield* faults.clear
        expect(first).toMatchObject({ code: 130, stdout: "" })
        expect(first.stderr.trimEnd().split("\n").at(-1)).toBe(
          "assembly: all files are uploaded, and their Assembly continues; run the same command again to wait for its results"
        )
        expect(yield* Uploading.upload(folder, ["a.txt"])).toMatchObject({ code: 0 })
      }
    )

    it.effect("says after Ctrl-C how to continue an upload that --restart began", function* () {
      const folder = yield* Uploading.folderWith(Uploading.large)
      const args = ["--restart", "--limit-rate", "20k", "a.bin"]
      const { last } = yield* Uploading.interrupted(folder, args)
      expect(last).toBe("assembly: the upload is kept; run the same command again without --restart to continue it")
    })

    it.effect("says after Ctrl-C before the creation of the Assembly that nothing was sent", function* () {
      const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
      const faults = yield* Faults.Faults
      yield* faults.inject(Faults.Fault.Delay({ method: "POST", times: 1000, duration: "1 minute" }))
      const { code, stderr } = yield* Uploading.upload(folder, ["a.txt"], Uploading.quitAt(/Waiting for /))
      yield* faults.clear
      expect(code).toBe(130)
      // The progress writes the line, because another writer would write it into the progress.
      expect(stderr).toMatch(
        /^a\.txt: Waiting for 127\.0\.0\.1:\d+ …\nassembly: interrupted before a file was sent; run the same command again\n$/
      )
    })
  }
)
