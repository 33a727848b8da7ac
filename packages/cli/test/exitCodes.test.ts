/**
 * Runs the command line, and compares its exit codes and error lines with their documentation.
 */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as InProcess from "./support/inProcess.ts"
import * as Spawned from "./support/spawned.ts"

const credentials = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }

/** Runs the command line in this process. */
const assembly = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Promise<Spawned.Ran> =>
  Effect.runPromise(InProcess.assembly(import.meta.dirname, env, args))

const spawned = (args: ReadonlyArray<string>, options: Spawned.Options) => Effect.runPromise(Spawned.run(args, options))

/** Serves until `use` has ended. */
const serving = <A>(listener: RequestListener, use: (origin: string, host: string) => Promise<A>): Promise<A> =>
  Loopback.serve(listener).pipe(
    Effect.flatMap((origin) => Effect.promise(() => use(origin, new URL(origin).host))),
    Effect.scoped,
    Effect.runPromise
  )

const answering =
  (status: number, body: unknown): RequestListener =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" })
    response.end(JSON.stringify(body))
  }

/** An address at which nothing listens. */
const unused = () => serving(answering(500, {}), (origin, host) => Promise.resolve({ origin, host }))

it("is 0 after the work is done", async () => {
  const { code, stderr } = await serving(answering(200, { items: [], count: 0 }), (origin) =>
    assembly(["list"], { ...credentials, ASSEMBLY_BASE_URL: origin })
  )
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
})

it("is 1 if the service fails, and the line names the host", async () => {
  await serving(answering(400, { error: "ASSEMBLY_LIST_ERROR", message: "no" }), async (origin, host) => {
    expect(await assembly(["list"], { ...credentials, ASSEMBLY_BASE_URL: origin })).toEqual({
      code: 1,
      stdout: "",
      stderr: `assembly: Assemblies.list at ${host} failed with ASSEMBLY_LIST_ERROR, status 400: no\n`
    })
  })
})

it.each<[ReadonlyArray<string>, Readonly<Record<string, string>>, string]>([
  [["nonsense"], {}, 'assembly: Unknown subcommand "nonsense" for "assembly"\nSee: assembly --help\n'],
  [
    ["move", "A".repeat(22)],
    {},
    "assembly: give at least one of --filename, --folder and --root\nSee: assembly move --help\n"
  ],
  [["move", "--root"], {}, "assembly: Missing required argument: assetId\nSee: assembly move --help\n"],
  [
    ["list"],
    { ASSEMBLY_AUTH_KEY: "k" },
    "assembly: set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_SECRET\nSet them in the environment or in the file .env; assembly emulator prints them for a service on this machine.\n"
  ],
  [
    ["token"],
    {},
    "assembly: set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET\nSet them in the environment or in the file .env; assembly emulator prints them for a service on this machine.\n"
  ],
  [
    ["list"],
    { ...credentials, ASSEMBLY_BASE_URL: "ftp://example.com" },
    "assembly: ASSEMBLY_BASE_URL: Expected an absolute http or https URL\n"
  ],
  [
    ["upload", "/nowhere/a.txt"],
    { ...credentials, ASSEMBLY_BASE_URL: "http://127.0.0.1:9" },
    "assembly: /nowhere/a.txt: no such file\n"
  ],
  [
    ["templates", "create", "a", "/nowhere/a.json"],
    { ...credentials, ASSEMBLY_BASE_URL: "http://127.0.0.1:9" },
    "assembly: /nowhere/a.json: no such file\n"
  ],
  [
    ["emulator", "--key", "k"],
    {},
    "assembly: give --key and --secret together, or ASSEMBLY_EMULATOR_KEY and ASSEMBLY_EMULATOR_SECRET\n"
  ]
])("is 2 for %j with %j, and each problem is said once", async (args, env, stderr) => {
  expect(await assembly(args, env)).toEqual({ code: 2, stdout: "", stderr })
})

it("breaks the lines of an error between words in a narrow terminal, but not inside of a command", async () => {
  const { columns } = process.stderr
  Object.assign(process.stderr, { columns: 30 })
  try {
    const { stderr } = await assembly(["list"], { ...credentials })
    expect(stderr.split("\n")).toEqual([
      "assembly: set the environment",
      "variable ASSEMBLY_BASE_URL",
      "Set it in the environment or",
      "in the file .env;",
      "assembly emulator prints it",
      "for a service on this machine.",
      ""
    ])
  } finally {
    Object.assign(process.stderr, { columns })
  }
})

it("is 3 if the service refuses the credentials, and the next step names the variable", async () => {
  const refusal = { error: "INVALID_SIGNATURE", message: "The signature does not match.", http_code: 400 }
  await serving(answering(400, refusal), async (origin, host) => {
    expect(await assembly(["list"], { ...credentials, ASSEMBLY_BASE_URL: origin })).toEqual({
      code: 3,
      stdout: "",
      stderr:
        `assembly: Assemblies.list at ${host}: authentication failed (INVALID_SIGNATURE, status 400: The signature does not match.)\n` +
        `Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.\n`
    })
  })
  await serving(answering(401, {}), async (origin, host) => {
    expect(await assembly(["token"], { ...credentials, ASSEMBLY_BASE_URL: origin })).toEqual({
      code: 3,
      stdout: "",
      stderr:
        "assembly: The Auth Key or the Auth Secret is wrong (status 401)\n" +
        `Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to ${host}.\n`
    })
  })
})

it("is 4 if nothing listens at ASSEMBLY_BASE_URL, and the lines name the host", async () => {
  const { host, origin } = await unused()
  const next = `Check ASSEMBLY_BASE_URL: no service listens at ${host}.\n`
  const env = { ...credentials, ASSEMBLY_BASE_URL: origin }
  expect(await assembly(["move", "--root", "A".repeat(22)], env)).toEqual({
    code: 4,
    stdout: "",
    stderr: `assembly: Dam.move: the connection was refused (${host}, ECONNREFUSED)\n${next}`
  })
  expect(await assembly(["token"], env)).toEqual({
    code: 4,
    stdout: "",
    stderr: `assembly: No token: the connection was refused (${host})\n${next}`
  })
})

it("is 130 after Ctrl-C", async () => {
  let interrupt = () => {}
  // The service never answers. It interrupts the command when the request has arrived.
  const { code } = await serving(
    () => interrupt(),
    (origin) =>
      spawned(["list"], {
        env: { ...credentials, ASSEMBLY_BASE_URL: origin },
        started: (kill) => {
          interrupt = kill
        }
      })
  )
  expect(code).toBe(130)
})

/** Replaces the version of Node, and reports each module that is loaded. */
const preload = (body: string) => ["--import", `data:text/javascript,${encodeURIComponent(body)}`]

it("says in one line that Node is too old, and loads nothing that an old Node lacks", async () => {
  const node = preload(`
    Object.defineProperty(process.versions, "node", { value: "20.20.2" })
    Object.defineProperty(process, "exit", { value: () => {} })
  `)
  expect(await spawned(["list"], { node })).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "assembly: Node 22.19.0 or newer is required, but this is Node 20.20.2; install a newer Node from https://nodejs.org\n"
  })
})

it("shows the version without Effect", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  const node = preload(`
    import { registerHooks } from "node:module"
    registerHooks({ load: (url, context, next) => { process.stderr.write(url + "\\n"); return next(url, context) } })
  `)
  const { code, stderr, stdout } = await spawned(["--version"], { node })
  expect({ code, stdout }).toEqual({ code: 0, stdout: `assembly v${version}\n` })
  expect(stderr).toContain("launch.ts")
  expect(stderr).not.toContain("effect/")
})
