/** How an `assembly upload` ends whose Assembly, file or service changes while it runs. */
import { Faults } from "@assembly-effect/emulator"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem } from "effect"
import * as Uploading from "./support/uploading.ts"

const idsIn = (text: string): ReadonlyArray<string | undefined> =>
  Array.from(text.matchAll(/^Assembly ([0-9a-f]{32})$|: Assembly ([0-9a-f]{32})$/gm), ([, one, other]) => one ?? other)

/** Runs `act` once, when the pattern is on the standard error. */
const once = <R>(pattern: RegExp, act: (found: RegExpExecArray) => Effect.Effect<unknown, unknown, R>) =>
  Effect.map(Effect.context<R>(), (context) => {
    let isDone = false
    return {
      onError: (text: string) => {
        const found = pattern.exec(text)
        if (isDone || found === null) return
        isDone = true
        Effect.runForkWith(context)(act(found))
      }
    }
  })

layer(Uploading.live)("an assembly upload ends", (it) => {
  it.effect("if somebody cancels its Assembly, and does not start another one", function* () {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const cancel = yield* once(/Assembly ([0-9a-f]{32})\n/, ([, id = ""]) => Uploading.assembly(folder, ["cancel", id]))
    const { code, stderr, stdout } = yield* Uploading.upload(folder, ["--limit-rate", "100k", "a.bin"], cancel)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).not.toContain("Starting again")
    expect(idsIn(stderr)).toHaveLength(1)
    expect(stderr.trimEnd().split("\n").at(-1)).toBe("Run the same command again to upload into a new Assembly.")
  })

  it.effect("in the Assembly that --restart has created, also if the service was gone meanwhile", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", times: 1000, status: 503, body: "<h1>gone</h1>" }))
    const back = yield* once(/Waiting: /, () => faults.clear)
    const { code, stderr, stdout } = yield* Uploading.upload(folder, ["--restart", "a.txt"], back)
    yield* faults.clear
    const [id] = idsIn(stdout)
    expect({ code, ids: idsIn(stderr) }).toEqual({ code: 0, ids: [id] })
    expect(stderr).not.toContain("Already uploaded")
    // A completed command leaves nothing to continue.
    expect(yield* fs.readDirectory(`${folder}/.state/assembly/uploads/commands`)).toEqual([])
  })

  it.effect("at once if a proxy asks for a password, and is kept", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", times: 1000, status: 407, body: "<h1>who?</h1>" }))
    const { code, stderr } = yield* Uploading.upload(folder, ["a.txt"])
    yield* faults.clear
    expect(code, stderr).toBe(4)
    expect(stderr).toContain("status 407")
    expect(stderr).not.toContain("Waiting: ")
    expect((yield* Uploading.upload(folder, ["a.txt"])).code).toBe(0)
  })

  it.effect("if somebody cancels its Assembly while the service is gone", function* () {
    const steps = JSON.stringify({ steps: { slow: { robot: "/emulator/wait", seconds: 60 } } })
    const folder = yield* Uploading.folderWith({ "a.txt": "meow", "s.json": steps })
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Refuse({ method: "GET", times: 1000, status: 503, body: "<h1>gone</h1>" }))
    const cancel = yield* once(/Assembly ([0-9a-f]{32})\n[^]*Waiting: /, ([, id = ""]) =>
      Effect.andThen(faults.clear, Uploading.assembly(folder, ["cancel", id]))
    )
    const { code, stderr } = yield* Uploading.upload(folder, ["--steps", "s.json", "a.txt"], cancel)
    yield* faults.clear
    expect(stderr).not.toContain("Starting again")
    expect(code, stderr).toBe(1)
  })

  it.effect("after the connection of a file has failed several times in a row", function* () {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.RefuseEarly({ method: "PATCH", times: 3, status: 500 }))
    const { code, stderr } = yield* Uploading.upload(folder, ["a.bin"])
    yield* faults.clear
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/Retrying in .* \(attempt 1\): /)
  })

  it.effect("if its file changes, and says that the same command uploads into a new Assembly", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith(Uploading.large)
    const change = yield* once(/ \d0% /, () => fs.writeFileString(`${folder}/a.bin`, "changed"))
    const { code, stderr } = yield* Uploading.upload(folder, ["--limit-rate", "200k", "a.bin"], change)
    expect(code).toBe(1)
    expect(stderr.trimEnd().split("\n").at(-1)).toBe("Run the same command again to upload into a new Assembly.")
  })

  it.effect("not sooner than --limit-rate allows", function* () {
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(50_000) })
    const { code, stderr } = yield* Uploading.upload(folder, ["--limit-rate", "50k", "a.bin"])
    expect(code).toBe(0)
    const [, seconds] = /a\.bin: 100% .*, in ([\d.]+) s\n/.exec(stderr) ?? []
    expect(Number(seconds)).toBeGreaterThan(2)
  })

  it.effect("with a failure if the service has stored a file under another path, and names the file", function* () {
    const faults = yield* Faults.Faults
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(25_000) })
    const args = ["--limit-rate", "100k", "--path", "backup", "a.bin"]
    const before = Uploading.idIn((yield* Uploading.upload(folder, args)).stdout)
    const status = yield* Uploading.statusOf(before)
    expect(status).toContain(`"backup/a.bin"`)
    // The second Assembly ends as the first one has ended, but with another path.
    const moved = yield* once(Uploading.created, ([, id = ""]) => {
      const body = status.replaceAll(before, id).replaceAll(`"backup/a.bin"`, `"backup/a-2.bin"`)
      const fault = { method: "GET", path: `/assemblies/${id}`, times: 1000, status: 200, body } as const
      return faults.inject(Faults.Fault.Refuse(fault))
    })
    const { code, stderr, stdout } = yield* Uploading.upload(folder, [...args, "--restart"], moved)
    yield* faults.clear
    expect({ code, last: stderr.trimEnd().split("\n").at(-1) }).toEqual({
      code: 1,
      last: "assembly: the service stored 1 of 1 files under another path than expected, such as backup/a.bin; the table and --json show the paths"
    })
    expect(stdout).toContain("backup/a-2.bin")
  })
})
