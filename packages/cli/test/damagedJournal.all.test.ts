/**
 * A damaged entry of the journal hides no other upload, and the command names its file. A creation that was never sent
 * leaves no entry.
 */
import * as Faults from "@assembly-effect/emulator/Faults"
import { assert, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Uploading from "./support/uploading.ts"

/** Interrupts an upload after the creation of its Assembly. Returns the id of the Assembly. */
const interrupted = Effect.fnUntraced(function* (cwd: string, file: string) {
  const { stderr } = yield* Uploading.assembly(
    cwd,
    ["upload", "--limit-rate", "20k", file],
    Uploading.quitAt(Uploading.created)
  )
  const [, id] = Uploading.created.exec(stderr) ?? []
  assert(id !== undefined, stderr)
  return id
})

const content = "meow".repeat(100_000)

/** The paths of the entries of jobs. */
const jobsIn = Effect.fnUntraced(function* (folder: string) {
  const names = yield* (yield* FileSystem.FileSystem).readDirectory(`${folder}/.state/assembly/uploads`)
  return names
    .filter((name) => name.startsWith("job") && name.endsWith(".json"))
    .map((name) => `${folder}/.state/assembly/uploads/${name}`)
})

const next =
  "Delete each damaged file. The same command then uploads into a new Assembly; assembly list --type=uploading shows the Assemblies that still wait for files.\n"

layer(Uploading.live, { excludeTestServices: true })("a damaged journal", (it) => {
  it.effect("is told with the file and the remedy, and the other uploads are listed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Uploading.folderWith({ "a.bin": content, "b.bin": content })
      const id = yield* interrupted(folder, "a.bin")
      const [healthy = ""] = yield* jobsIn(folder)
      const text = yield* fs.readFileString(healthy)
      const damaged = healthy.replace(/job[^/]*$/, `job${"0".repeat(61)}.json`)
      for (const broken of ["meow\u0000", text.slice(0, 40), text.replace(/"_tag":"\w+"/, '"_tag":"Version9"'), ""]) {
        yield* fs.writeFileString(damaged, broken)
        const { code, stderr, stdout } = yield* Uploading.assembly(folder, ["uploads"])
        expect(stdout).toContain(`Assembly  ${id}\n`)
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: `assembly: the entry of an unfinished upload is damaged: ${damaged} (the ${broken.length} characters cannot be decoded)\n${next}`
        })
      }
      const json = yield* Uploading.assembly(folder, ["uploads", "--json"])
      expect(json.code).toBe(1)
      expect(
        json.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown)
      ).toEqual([
        expect.objectContaining({ assembly_id: id }),
        { assembly_id: null, state: "damaged", file: damaged, description: "the 0 characters cannot be decoded" }
      ])

      // An entry that cannot be read at all does not hide the other uploads either.
      yield* fs.remove(damaged)
      yield* fs.makeDirectory(damaged)
      const unreadable = yield* Uploading.assembly(folder, ["uploads"])
      expect(unreadable.stdout).toContain(`Assembly  ${id}\n`)
      expect(unreadable.stderr).toContain(`${damaged} (is a folder)`)

      // A healthy upload can be forgotten, and an unknown one may be the damaged one.
      const unknown = yield* Uploading.assembly(folder, ["uploads", "forget", "0".repeat(32)])
      expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(damaged) as unknown })
      const forgotten = yield* Uploading.assembly(folder, ["uploads", "forget", "--json", id])
      expect({ ...forgotten, stdout: JSON.parse(forgotten.stdout) as unknown }).toEqual({
        code: 0,
        stdout: { event: "Forgotten", assembly_id: id, state: "canceled" },
        stderr: ""
      })
      const alone = yield* Uploading.assembly(folder, ["uploads"])
      expect(alone).toMatchObject({ code: 1, stdout: "" })
    }).pipe(Effect.scoped)
  )

  it.effect("is told by the upload whose entry it has", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Uploading.folderWith({ "a.bin": content })
      yield* interrupted(folder, "a.bin")
      const [entry = ""] = yield* jobsIn(folder)
      yield* fs.writeFileString(entry, "{")
      const again = yield* Uploading.assembly(folder, ["upload", "--limit-rate", "20k", "a.bin"])
      expect(again).toEqual({
        code: 1,
        stdout: "",
        stderr: `assembly: the entry of an unfinished upload is damaged: ${entry} (the 1 characters cannot be decoded)\n${next}`
      })
    }).pipe(Effect.scoped)
  )

  it.effect("has no entry of an Assembly that was never created, and says so if it is not known", () =>
    Effect.gen(function* () {
      const folder = yield* Uploading.folderWith({ "a.bin": "meow" })
      const nobody = { ASSEMBLY_BASE_URL: "http://127.0.0.1:9" }
      const refused = yield* Uploading.assembly(folder, ["upload", "a.bin"], { env: nobody })
      expect(refused.stderr).toContain("ECONNREFUSED")
      expect(refused.code).toBe(4)
      expect(yield* jobsIn(folder)).toEqual([])
      expect((yield* Uploading.assembly(folder, ["uploads"])).stdout).toBe("no unfinished uploads\n")

      const faults = yield* Faults.Faults
      yield* faults.inject(Faults.Fault.Refuse({ method: "POST", times: 1000, status: 500 }))
      expect((yield* Uploading.assembly(folder, ["upload", "a.bin"])).code).toBe(1)
      yield* faults.clear
      expect((yield* Uploading.assembly(folder, ["uploads"])).stdout).toContain(
        "State     the service has no such Assembly; the response to its creation was lost\n"
      )
    }).pipe(Effect.scoped)
  )
})
