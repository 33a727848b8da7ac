import { expect, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

/** Runs the command line in a separate process, without any configuration. */
const assembly = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { env: { NO_COLOR: "1" } }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    )
  })

it("prints its version", async () => {
  expect(await assembly("--version")).toMatchObject({ code: 0, stdout: "assembly v0.1.0\n", stderr: "" })
})

it("prints in one line which variable to set", async () => {
  const missing = {
    code: 1,
    stdout: "",
    stderr: "assembly: set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET\n"
  }
  expect(await assembly("list")).toEqual(missing)
})

it("reports a wrong invocation in one line, and names the help command", async () => {
  expect(await assembly("move", "AAAAAAAAAAAAAAAAAAAAAA")).toEqual({
    code: 1,
    stdout: "",
    stderr: "assembly: give at least one of --filename, --folder and --root\nSee: assembly move --help\n"
  })
})

it("names a wrong flag once, and takes an id that starts with a dash after --", async () => {
  const id = `-${"A".repeat(21)}`
  expect((await assembly("move", id, "--filename", "a")).stderr).toBe(
    "assembly: Unrecognized flag: -A in command assembly move\nSee: assembly move --help\n"
  )
  expect((await assembly("move", "--filename", "a", "--", id)).stderr).toMatch(
    /^assembly: set the environment variable/
  )
})
