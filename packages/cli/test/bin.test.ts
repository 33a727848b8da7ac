import { expect, it } from "@effect/vitest"
import { live } from "@assembly-effect/testkit/flow"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem } from "effect"
import { closeSync, openSync, readFileSync } from "node:fs"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as InProcess from "./support/inProcess.ts"
import * as Spawned from "./support/spawned.ts"

const credentials = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }

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

const groups = "upload uploads stats list templates credentials keys assets emulator doctor".split(" ")

it("names every command in its help, and loads none for it", async () => {
  const { stdout } = await assembly("--help")
  for (const name of [...groups, "token"]) expect(stdout).toMatch(new RegExp(`^ +${name} +\\S`, "m"))
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

live("breaks the lines of an error between words in a narrow terminal, but not inside of a command", function* () {
  const { columns } = process.stderr
  Object.assign(process.stderr, { columns: 30 })
  const { stderr } = yield* Effect.ensuring(
    InProcess.assembly(import.meta.dirname, credentials, ["list"]),
    Effect.sync(() => Object.assign(process.stderr, { columns }))
  )
  expect(stderr.split("\n")).toEqual([
    "assembly: set the environment",
    "variable ASSEMBLY_BASE_URL",
    "Set it in the environment or",
    "in the file .env;",
    "assembly emulator prints it",
    "for a service on this machine.",
    ""
  ])
})

live("is 130 after Ctrl-C", function* () {
  let interrupt = () => {}
  // The service never answers. It interrupts the command when the request has arrived.
  const origin = yield* Loopback.serve(() => interrupt())
  const { code } = yield* Spawned.run(["list"], {
    env: { ...credentials, ASSEMBLY_BASE_URL: origin },
    started: (kill) => {
      interrupt = kill
    }
  })
  expect(code).toBe(130)
})

live("says in one line that Node is too old, and loads nothing that an old Node lacks", function* () {
  const node = [
    "--import",
    `data:text/javascript,${encodeURIComponent(`
    Object.defineProperty(process.versions, "node", { value: "20.20.2" })
    Object.defineProperty(process, "exit", { value: () => {} })
  `)}`
  ]
  expect(yield* Spawned.run(["list"], { node })).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "assembly: Node 22.19.0 or newer is required, but this is Node 20.20.2; install a newer Node from https://nodejs.org\n"
  })
})

it("shows the version without Effect", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    readonly version: string
  }
  const { code, stdout } = await Effect.runPromise(Spawned.run(["--version"]))
  expect({ code, stdout }).toEqual({ code: 0, stdout: `assembly v${version}\n` })
  expect(await modulesOf("--version")).toEqual(["bin", "internal/launch"])
})

/** Shows the help, with only these variables. Returns the exit code. */
const help = (env: Readonly<Record<string, string>>) =>
  Effect.map(Spawned.run(["--help"], { env: { NODE_COMPILE_CACHE: "", ...env } }), ({ code }) => code)

live(
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
