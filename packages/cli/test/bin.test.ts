import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { closeSync, openSync } from "node:fs"
import * as InProcess from "./support/inProcess.ts"
import * as Spawned from "./support/spawned.ts"

/** Runs the command line without any configuration. */
const assembly = (...args: ReadonlyArray<string>) =>
  Effect.runPromise(InProcess.assembly(import.meta.dirname, {}, args))

/** Prints the name of each module of the package that is loaded. */
const hook = `import { registerHooks } from "node:module"
registerHooks({
  load: (url, context, next) => {
    const [, name] = /\\/cli\\/src\\/(.*)\\.ts$/.exec(url) ?? []
    if (name !== undefined) process.stderr.write("loaded " + name + "\\n")
    return next(url, context)
  }
})`

/** The modules that the command line loads. */
const modulesOf = async (...args: ReadonlyArray<string>) => {
  const node = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`]
  const { stderr } = await Effect.runPromise(Spawned.run(args, { node }))
  return Array.from(stderr.matchAll(/^loaded (.*)$/gm), ([, name = ""]) => name)
}

it("prints commands as the user has typed them", async () => {
  const stderrOf = async (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
    (await Effect.runPromise(Spawned.run(args, { env }))).stderr
  const dlx = { npm_command: "dlx" }
  expect(await stderrOf(dlx, "get")).toMatch(/\nSee: npx @assembly-effect\/cli get --help\n$/)
  expect(await stderrOf({}, "get")).toMatch(/\nSee: assembly get --help\n$/)
})

/** Runs the command line with a standard output that cannot be written. */
const withOutput = async (stdout: number | "closed", ...args: ReadonlyArray<string>) => {
  const { code, stderr } = await Effect.runPromise(Spawned.run(args, { stdout }))
  return { code, stderr }
}

it("fails if its output cannot be written, because the output may be a secret that is never shown again", async () => {
  // A write to a file that is open only for reading fails, as a write to a full disk does.
  const unwritable = openSync(Spawned.bin, "r")
  try {
    for (const args of [["--version"], ["keys", "--help"]]) {
      const { code, stderr } = await withOutput(unwritable, ...args)
      expect(stderr).toMatch(/^assembly: the output cannot be written: EBADF[^\n]*\n$/)
      expect(code).toBe(1)
    }
  } finally {
    closeSync(unwritable)
  }
})

it("is silent if the reader of its output has ended, as in assembly list | head", async () => {
  expect(await withOutput("closed", "--help")).toEqual({ stderr: "", code: 141 })
})

const groups = [
  "upload",
  "uploads",
  "stats",
  "list",
  "templates",
  "credentials",
  "keys",
  "assets",
  "token",
  "emulator",
  "doctor"
]

it("names every command in its help, and loads none for it", async () => {
  const { stdout } = await assembly("--help")
  for (const name of groups) expect(stdout).toMatch(new RegExp(`^ +${name} +\\S`, "m"))
  const loaded = await modulesOf("--help")
  expect(loaded).toContain("commands/root")
  for (const name of groups) expect(loaded).not.toContain(`commands/${name}`)
})

it.each(["keys", "upload"])("loads %s if the arguments name it, and no other command", async (name) => {
  const loaded = await modulesOf(name, "--help")
  expect(groups.filter((other) => loaded.includes(`commands/${other}`))).toEqual([name])
})

it("loads every command for completions", async () => {
  const { stdout } = await assembly("completions", "bash")
  expect(stdout).toContain("move-many")
  const loaded = await modulesOf("completions", "bash")
  for (const name of groups) expect(loaded).toContain(`commands/${name}`)
})
