/**
 * Runs the command line, and compares its exit codes and error lines with their documentation.
 */
import { expect } from "@effect/vitest"
import { live } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as InProcess from "./support/inProcess.ts"
import * as Spawned from "./support/spawned.ts"

const credentials = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }

/** Runs the command line in this process, with these credentials. */
const assembly = (args: string, env: Readonly<Record<string, string>> = {}) =>
  InProcess.assembly(import.meta.dirname, { ...credentials, ...env }, args.split(" "))

const answering =
  (status: number, body: unknown): RequestListener =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" })
    response.end(JSON.stringify(body))
  }

live.each<readonly [code: number, args: string, answer: RequestListener, stderr: string]>([
  [0, "list", answering(200, { items: [], count: 0 }), ""],
  [
    1,
    "list",
    answering(400, { error: "ASSEMBLY_LIST_ERROR", message: "no" }),
    "assembly: Assemblies.list at <host> failed with ASSEMBLY_LIST_ERROR, status 400: no\n"
  ],
  [
    3,
    "list",
    answering(400, { error: "INVALID_SIGNATURE", message: "The signature does not match.", http_code: 400 }),
    "assembly: Assemblies.list at <host>: authentication failed (INVALID_SIGNATURE, status 400: The signature does not match.)\n" +
      "Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at <host>.\n"
  ],
  [
    3,
    "token",
    answering(401, {}),
    "assembly: The Auth Key or the Auth Secret is wrong (status 401)\n" +
      "Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to <host>.\n"
  ]
])("is %i after assembly %s", function* ([code, args, answer, stderr]) {
  const origin = yield* Loopback.serve(answer)
  const ran = yield* assembly(args, { ASSEMBLY_BASE_URL: origin })
  expect({ ...ran, stdout: "" }).toEqual({
    code,
    stdout: "",
    stderr: stderr.replaceAll("<host>", new URL(origin).host)
  })
})

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

live.each<readonly [args: string, line: string]>([
  ["move --root AAAAAAAAAAAAAAAAAAAAAA", "Dam.move: the connection was refused (<host>, ECONNREFUSED)"],
  ["token", "No token: the connection was refused (<host>)"]
])(
  "is 4 after assembly %s if nothing listens at ASSEMBLY_BASE_URL, and the lines name the host",
  function* ([args, line]) {
    const origin = yield* Effect.scoped(Loopback.serve(answering(500, {})))
    const { host } = new URL(origin)
    expect(yield* assembly(args, { ASSEMBLY_BASE_URL: origin })).toEqual({
      code: 4,
      stdout: "",
      stderr: `assembly: ${line.replace("<host>", host)}\nCheck ASSEMBLY_BASE_URL: no service listens at ${host}.\n`
    })
  }
)

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
