/** What the program leaves in the folders of the machine. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem } from "effect"
import * as Spawned from "./support/spawned.ts"

/** Shows the help, with only these variables. Returns the exit code. */
const help = (env: Readonly<Record<string, string>>) =>
  Effect.map(Spawned.run(["--help"], { env: { NODE_COMPILE_CACHE: "", ...env } }), ({ code }) => code)

it.live(
  "keeps compiled modules only in a folder of the user, because whoever writes to it can change the program",
  NodeServices.layer,
  function* () {
    const fs = yield* FileSystem.FileSystem
    const [temporary, cache] = [yield* fs.makeTempDirectoryScoped(), yield* fs.makeTempDirectoryScoped()]
    expect(yield* help({ TMPDIR: temporary })).toBe(0)
    expect(yield* fs.readDirectory(temporary)).toEqual([])
    expect(yield* help({ TMPDIR: temporary, XDG_CACHE_HOME: cache })).toBe(0)
    expect(yield* fs.readDirectory(temporary)).toEqual([])
    expect((yield* fs.readDirectory(`${cache}/assembly/compiled`)).length).toBeGreaterThan(0)
  }
)
