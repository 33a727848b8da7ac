import { Emulator } from "@assembly-effect/emulator"
import { assert } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import * as InProcess from "./inProcess.ts"
import * as Spawned from "./spawned.ts"

interface Options {
  readonly state?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly onOutput?: ((stdout: string) => void) | undefined
  readonly onError?: ((stderr: string, kill: (signal?: NodeJS.Signals) => void) => void) | undefined
}

const environmentOf = Effect.fnUntraced(function* (cwd: string, { env, state }: Options) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const all = {
    HOME: cwd,
    ASSEMBLY_BASE_URL: baseUrl,
    ASSEMBLY_AUTH_KEY: credentials.key,
    ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret),
    XDG_STATE_HOME: state ?? `${cwd}/.state`,
    ...env
  }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
})

/**
 * Runs the command line in the process of the test, in a folder, with the variables of the emulator and `env`. `kill`
 * presses Ctrl-C.
 */
export const assembly = Effect.fnUntraced(function* (
  cwd: string,
  args: ReadonlyArray<string>,
  { onError, onOutput, ...options }: Options = {}
) {
  const env = yield* environmentOf(cwd, options)
  return yield* InProcess.assembly(cwd, env, args, ({ stderr, stdout }, interrupt) => {
    onOutput?.(stdout)
    onError?.(stderr, interrupt)
  })
})

/** Runs the command line in a process of its own, as {@link assembly} does otherwise. */
export const spawned = (
  cwd: string,
  args: ReadonlyArray<string>,
  { env, ...options }: Omit<Spawned.Options, "env"> & Pick<Options, "env"> = {}
) => Effect.flatMap(environmentOf(cwd, { env }), (all) => Spawned.run(args, { cwd, env: all, ...options }))

/** The Status of an Assembly as the service sends it. The command `get --json` would show the URLs in it. */
export const statusOf = (id: string) =>
  Effect.flatMap(Emulator.Emulator, ({ baseUrl }) =>
    Effect.promise(async () => (await fetch(`${baseUrl}/assemblies/${id}`)).text())
  )

export const live = Layer.mergeAll(Emulator.layer(), NodeServices.layer)

/** Runs `assembly upload`. */
export const upload = (cwd: string, args: ReadonlyArray<string>, options?: Parameters<typeof assembly>[2]) =>
  assembly(cwd, ["upload", ...args], options)

/** A file that is too large to be sent with the creation of its upload. */
export const large = { "a.bin": "meow".repeat(100_000) }

/** The id in the line about an Assembly. */
export const created = /Assembly ([0-9a-f]{32})\n/

/** Presses Ctrl-C as soon as the pattern is on the standard error. */
export const quitAt = (pattern: RegExp, signal?: NodeJS.Signals) => ({
  onError: (text: string, kill: (signal?: NodeJS.Signals) => void) => {
    if (pattern.test(text)) kill(signal)
  }
})

/** The id of the Assembly that a command has created. */
export const idIn = (text: string): string => {
  const [, id] = /Assembly ([0-9a-f]{32})\b/.exec(text) ?? []
  assert(id !== undefined, `no id in ${JSON.stringify(text)}`)
  return id
}

/** Presses Ctrl-C in an upload, by default after the creation of its Assembly. */
export const interrupted = Effect.fnUntraced(function* (cwd: string, args: ReadonlyArray<string>, at = created) {
  const { code, stderr } = yield* upload(cwd, args, quitAt(at))
  assert.strictEqual(code, 130, stderr)
  return { id: idIn(stderr), last: stderr.trimEnd().split("\n").at(-1) ?? "" }
})

/** A folder with these files. */
export const folderWith = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  for (const [name, text] of Object.entries(files)) {
    yield* fs.makeDirectory(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true })
    yield* fs.writeFileString(`${folder}/${name}`, text)
  }
  return folder
})
