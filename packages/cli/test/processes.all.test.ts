/**
 * Commands in separate processes: settings from `.env`, doctor, and an emulator that runs a program.
 */
import { Emulator } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer } from "effect"
import { assembly, environment, folderWith, spawned } from "./support/processes.ts"

layer(Layer.merge(Emulator.layer(), NodeServices.layer))("processes", (it) => {
  it.effect("the emulator runs a program with its environment, and ends with its exit code", function* () {
    const cwd = yield* folderWith({})
    const program = `fetch(process.env.ASSEMBLY_BASE_URL + "/foo?signature=1").then(({ status }) => {
        console.log(status, process.env.ASSEMBLY_AUTH_KEY.length > 0, process.env.OWN, process.argv.slice(1).join(" "))
        process.exitCode = 7
      })`
    const ran = yield* spawned(
      cwd,
      { OWN: "kept" },
      "emulator",
      "--log",
      "--",
      process.execPath,
      "-e",
      program,
      "one",
      "--two"
    )
    expect(ran).toMatchObject({ code: 7, stdout: "404 true kept one --two\n" })
    expect(ran.stderr).toMatch(
      /^\d\d:\d\d:\d\d {2}GET +\/foo +404 +\S+ m?s {2}SERVER_404: There is no such operation\.\n$/
    )
    const quiet = yield* spawned(cwd, {}, "emulator", "--", process.execPath, "-e", program)
    expect(quiet).toMatchObject({ code: 7, stderr: "" })
    const killed = yield* assembly(cwd, {}, "emulator", "--", process.execPath, "-e", "process.kill(process.pid, 9)")
    expect(killed).toMatchObject({ code: 137, stderr: `assembly: ${process.execPath}: it was ended by SIGKILL\n` })
    const missing = yield* assembly(cwd, {}, "emulator", "--", "no-such-command")
    expect(missing).toMatchObject({ code: 127, stderr: "assembly: no-such-command: there is no such command\n" })
  })

  it.effect("the emulator refuses a file that is no database in one sentence, and writes nothing", function* () {
    const fs = yield* FileSystem.FileSystem
    const cwd = yield* folderWith({
      "emulator.sqlite": "not a database, but longer than its header is. ".repeat(9),
      "t.json": "[{}]"
    })
    const said = (...args: ReadonlyArray<string>) =>
      Effect.map(assembly(cwd, {}, "emulator", ...args), ({ code, stderr }) => {
        assert.notStrictEqual(code, 0)
        return stderr
      })
    const before = yield* fs.readDirectory(cwd)
    expect(yield* said("--data", ".")).toMatch(
      /^assembly: cannot use emulator\.sqlite: the file is damaged, or another program has made it \(SQLITE_NOTADB\)\n$/
    )
    expect((yield* fs.readDirectory(cwd)).filter((name) => name !== "files")).toEqual(before)
  })

  it.effect("a warning of the client is not in the output of a command", function* () {
    const cwd = yield* folderWith({})
    // A clock that is half an hour behind. The client corrects the time of its signatures, and warns.
    const behind = encodeURIComponent("const { now } = Date; Date.now = () => now() - 1_800_000")
    const env = { ...(yield* environment), NODE_OPTIONS: `--import=data:text/javascript,${behind}` }
    const { code, stderr, stdout } = yield* spawned(cwd, env, "list", "--json")
    expect({ code, keys: Object.keys(JSON.parse(stdout) as object) }).toEqual({ code: 0, keys: ["items", "count"] })
    expect(stderr).toContain("signing with the corrected time")
  })
})
