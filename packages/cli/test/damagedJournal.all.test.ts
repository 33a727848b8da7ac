/**
 * A damaged entry of the journal hides no other upload, and the command names its file. A creation that was never sent
 * leaves no entry.
 */
import { Faults } from "@assembly-effect/emulator"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem } from "effect"
import * as Uploading from "./support/uploading.ts"

const interrupted = (cwd: string, file: string) =>
  Effect.map(Uploading.interrupted(cwd, ["--limit-rate", "20k", file]), ({ id }) => id)

const content = "meow".repeat(100_000)

/** The paths of the entries of jobs. */
const jobsIn = Effect.fnUntraced(function* (folder: string) {
  const names = yield* (yield* FileSystem.FileSystem).readDirectory(`${folder}/.state/assembly/uploads`)
  return names
    .filter((name) => name.startsWith("job") && name.endsWith(".json"))
    .map((name) => `${folder}/.state/assembly/uploads/${name}`)
})

const next =
  "Delete this file. The same command then uploads into a new Assembly; assembly list --type=uploading shows the Assemblies that still wait for files.\n"

layer(Uploading.live)("a damaged journal", (it) => {
  it.effect("is told by the upload whose entry it has, and hides no other upload", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith({ "a.bin": content, "b.bin": content })
    yield* interrupted(folder, "a.bin")
    const [entry = ""] = yield* jobsIn(folder)
    yield* fs.writeFileString(entry, "{")
    const other = yield* interrupted(folder, "b.bin")
    expect((yield* Uploading.assembly(folder, ["uploads"])).stdout).toContain(`Assembly  ${other}\n`)
    const again = yield* Uploading.assembly(folder, ["upload", "--limit-rate", "20k", "a.bin"])
    expect(again).toEqual({
      code: 1,
      stdout: "",
      stderr: `assembly: the entry of an unfinished upload is damaged: ${entry} (the 1 characters cannot be decoded)\n${next}`
    })
  })

  it.effect("has no entry of an Assembly that was never created, and says so if it is not known", function* () {
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
  })
})
