/** Where files are saved and kept, in separate processes. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { assembly, environment, folderWith } from "./support/processes.ts"

layer(Layer.merge(Emulator.layer(), NodeServices.layer))("places of files", (it) => {
  const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, "50 seconds")

  it.effect("results download keeps the folders of an upload", function* () {
    const fs = yield* FileSystem.FileSystem
    const env = yield* environment
    const cwd = yield* folderWith({})
    for (const folder of ["d1", "d2"]) {
      yield* fs.makeDirectory(`${cwd}/${folder}`)
      yield* fs.writeFileString(`${cwd}/${folder}/report.csv`, folder)
    }
    const here = (...args: ReadonlyArray<string>) => assembly(cwd, { ...env, HOME: cwd }, ...args)
    const { stdout } = yield* here("upload", "-r", "d1", "d2")
    const [, id = ""] = /Assembly (\w{32})/.exec(stdout) ?? []
    expect(yield* here("results", "download", id, "-o", "out")).toMatchObject({ code: 0 })
    for (const folder of ["d1", "d2"]) {
      expect(yield* fs.readFileString(`${cwd}/out/${folder}/report.csv`)).toBe(folder)
    }
    const unset = yield* here("results", "download", id, "-o", "")
    expect(unset).toMatchObject({ code: 2, stdout: "" })
    expect(unset.stderr).toMatch(/^assembly: --output needs a value\n/)
    yield* fs.writeFileString(`${cwd}/afile`, "")
    expect(yield* here("results", "download", id, "-o", "afile/x")).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^assembly: afile\/x\/d[12]\/report\.csv: a part of the path is a file, not a folder; --output /
      )
    })
    if (process.platform !== "linux") return
    expect(yield* soon(here("results", "download", id, "-o", "/proc/nope"))).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        new RegExp(`^assembly: /proc/nope/d[12]: the folder cannot be created here; --output `)
      )
    })
  })
})
