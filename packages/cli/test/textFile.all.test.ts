/**
 * The files that a command reads as text, and which of them it refuses.
 */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Uploading from "./support/uploading.ts"

const steps = JSON.stringify({ hashed: { robot: "/file/hash", use: ":original" } })

const folder = Uploading.folderWith({ "a.txt": "meow", "steps.json": steps })

const upload = (cwd: string, path: string, options?: Parameters<typeof Uploading.spawned>[2]) =>
  Uploading.spawned(cwd, ["upload", "a.txt", `--steps=${path}`], options)

layer(Uploading.live)("a file of Steps", (it) => {
  it.effect("may be the standard input, which has the same limit", function* () {
    const cwd = yield* folder
    for (const path of ["-", "/dev/stdin"]) {
      const { code, stderr, stdout } = yield* upload(cwd, path, {
        input: steps,
        env: { XDG_STATE_HOME: `${cwd}/${path.length}` }
      })
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/\nhashed\ta\.txt\t4 B\t/)
    }
    const endless = yield* upload(cwd, "-", { redirection: "< /dev/zero" })
    expect(endless).toMatchObject({ code: 2, stderr: expect.stringMatching(/^assembly: the standard input: has more/) })
  })

  it.effect("may be a file or a pipe that the shell has opened", function* () {
    const cwd = yield* folder
    const file = yield* upload(cwd, "/dev/fd/3", { redirection: "3< steps.json", env: { XDG_STATE_HOME: `${cwd}/1` } })
    expect(file.stdout, file.stderr).toMatch(/\nhashed\ta\.txt\t4 B\t/)
    const pipe = yield* upload(cwd, "/dev/fd/3", {
      redirection: `3<<END\n${steps}\nEND`,
      env: { XDG_STATE_HOME: `${cwd}/2` }
    })
    expect(pipe.stdout, pipe.stderr).toMatch(/\nhashed\ta\.txt\t4 B\t/)
  })
})
