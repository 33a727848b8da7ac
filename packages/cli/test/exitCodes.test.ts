/**
 * Runs the command line, and compares its exit codes and error lines with their documentation.
 */
import { expect } from "@effect/vitest"
import { live } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as InProcess from "./support/inProcess.ts"
import * as Spawned from "./support/spawned.ts"

const credentials = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }

/** Runs the command line in this process, with these credentials. */
const assembly = (args: string, env: Readonly<Record<string, string>> = {}) =>
  InProcess.assembly(import.meta.dirname, { ...credentials, ...env }, args.split(" "))

live("breaks the lines of an error between words in a narrow terminal, but not inside of a command", function* () {
  const { columns } = process.stderr
  Object.assign(process.stderr, { columns: 30 })
  const { stderr } = yield* Effect.ensuring(
    assembly("list"),
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

/** Replaces the version of Node, and reports each module that is loaded. */
const preload = (body: string) => ["--import", `data:text/javascript,${encodeURIComponent(body)}`]

live("says in one line that Node is too old, and loads nothing that an old Node lacks", function* () {
  const node = preload(`
    Object.defineProperty(process.versions, "node", { value: "20.20.2" })
    Object.defineProperty(process, "exit", { value: () => {} })
  `)
  expect(yield* Spawned.run(["list"], { node })).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "assembly: Node 22.19.0 or newer is required, but this is Node 20.20.2; install a newer Node from https://nodejs.org\n"
  })
})

live("shows the version without Effect", function* () {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  const node = preload(`
    import { registerHooks } from "node:module"
    registerHooks({ load: (url, context, next) => { process.stderr.write(url + "\\n"); return next(url, context) } })
  `)
  const { code, stderr, stdout } = yield* Spawned.run(["--version"], { node })
  expect({ code, stdout }).toEqual({ code: 0, stdout: `assembly v${version}\n` })
  expect(stderr).toContain("launch.ts")
  expect(stderr).not.toContain("effect/")
})
