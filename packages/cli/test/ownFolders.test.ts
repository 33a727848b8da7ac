/** What the program leaves in the folders of the machine. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

const { PATH = "" } = process.env

/** Shows the help, with only these variables. Returns the exit code. */
const help = (env: Readonly<Record<string, string>>) =>
  Effect.callback<number | null>((resume) => {
    const child = execFile(process.execPath, [bin, "--help"], { env: { PATH, ...env } }, () =>
      resume(Effect.succeed(child.exitCode))
    )
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

it.live(
  "keeps compiled modules only in a folder of the user, because whoever writes to it can change the program",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const [temporary, cache] = [yield* fs.makeTempDirectoryScoped(), yield* fs.makeTempDirectoryScoped()]
      expect(yield* help({ TMPDIR: temporary })).toBe(0)
      expect(yield* fs.readDirectory(temporary)).toEqual([])
      expect(yield* help({ TMPDIR: temporary, XDG_CACHE_HOME: cache })).toBe(0)
      expect(yield* fs.readDirectory(temporary)).toEqual([])
      expect((yield* fs.readDirectory(`${cache}/assembly/compiled`)).length).toBeGreaterThan(0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
