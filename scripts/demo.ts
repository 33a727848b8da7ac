/**
 * Demonstrates the main use case with the command line: uploads a file, breaks the connection during the upload, and
 * compares the stored file with the sent file.
 *
 *     pnpm demo [-- <path>]
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Faults from "@assembly-effect/emulator/Faults"
import type * as RequestLog from "@assembly-effect/emulator/RequestLog"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Stdio from "effect/Stdio"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import * as Main from "../packages/cli/src/internal/main.ts"
import { chapter, DemoFailed, next, run, say } from "./story.ts"
import * as Text from "../packages/cli/src/internal/text.ts"
import * as Output from "../packages/cli/src/internal/output.ts"

const requests: Array<RequestLog.Entry> = []

/** The given file, or else the Node executable that runs this demo, which exists on every machine. */
const chooseFile = Effect.gen(function* () {
  const args = yield* (yield* Stdio.Stdio).args
  const [path = process.execPath, ...others] = args[0] === "--" ? args.slice(1) : args
  if (others.length > 0) return yield* new DemoFailed({ description: "usage: pnpm demo [-- <path>]" })
  const fs = yield* FileSystem.FileSystem
  return { path: yield* fs.realPath(path), size: Number((yield* fs.stat(path)).size) }
})

/** Computes the SHA-256 of a file with Node alone, without code of this repository. */
const hashFile = (path: string) =>
  Effect.tryPromise({
    try: async () => {
      const hash = createHash("sha256")
      await pipeline(createReadStream(path), hash)
      return hash.digest("hex")
    },
    catch: () => new DemoFailed({ description: `${path}: cannot be read` })
  })

/** Runs a command of the command line, as `assembly` does in a shell. */
const assembly = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const env = {
    ASSEMBLY_BASE_URL: baseUrl,
    ASSEMBLY_AUTH_KEY: credentials.key,
    ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
  }
  const stdio = yield* Stdio.Stdio
  yield* say(`$ assembly ${args.join(" ")}`, { paint: (yield* Text.current).dim })
  yield* Main.run("").pipe(
    Effect.provideService(Stdio.Stdio, Stdio.make({ ...stdio, args: Effect.succeed(args) })),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
})

/** A smaller file is sent with the creation of its upload, so its connection cannot be broken halfway. */
const smallestToBreak = 1024 * 1024

const upload = Effect.fnUntraced(function* (path: string, size: number) {
  const breaks = size >= smallestToBreak
  yield* chapter(`Upload ${Text.bytes(size)}${breaks ? ", and lose the connection halfway" : ""}`)
  const faults = yield* Faults.Faults
  const half = Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: Math.floor(size / 2) })
  if (breaks) yield* faults.inject(half)
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  yield* assembly("upload", path, "--journal", folder)
  const isResumed = requests.some(({ method }) => method === "HEAD")
  if (breaks && !isResumed) return yield* new DemoFailed({ description: "the upload was never resumed" })
})

/** Compares the hash of the sent file with the hash that the service computed from its stored bytes. */
const compare = Effect.fnUntraced(function* (path: string) {
  const id = requests.find(({ assemblyId }) => assemblyId !== undefined)?.assemblyId ?? ""
  const { results } = yield* Assemblies.get(Assembly.AssemblyId.make(id))
  const stored = results?.["stored"]?.[0]
  const sent = yield* hashFile(path)
  const isSame = sent === stored?.sha256
  const style = yield* Text.current
  yield* chapter("Compare SHA-256")
  const verdict = isSame ? style.green("✓ identical") : style.red("✗ different")
  const lines = [`sent    ${sent}`, `stored  ${stored?.sha256 ?? "no digest"}`, `        ${verdict}`]
  yield* Output.report(lines.map(Text.toLine))
  if (!isSame) return yield* new DemoFailed({ description: "the stored file is not the file that was sent" })
  return stored.path ?? ""
})

const story = Effect.gen(function* () {
  const { path, size } = yield* chooseFile
  const { baseUrl, workspace } = yield* Emulator.Emulator
  yield* chapter("The emulator: the service on this machine")
  yield* say(`listens on ${baseUrl}, Workspace ${workspace}`)
  yield* upload(path, size)
  const stored = yield* compare(path)
  yield* chapter("List the Assemblies of the last hour")
  yield* assembly("list", "--since", "1h")
  yield* chapter("Count what happened in the last day")
  yield* assembly("stats", "--since", "1d")
  yield* chapter("Rename the stored asset")
  const { ext, name } = (yield* Path.Path).parse(stored)
  yield* assembly("assets", "move", stored, `${[...name].slice(0, 100).join("")}-renamed${ext}`)

  yield* chapter("What was shown")
  yield* say("The emulator answered as the service does, with signatures that it checked.")
  if (size >= smallestToBreak) yield* say("The upload went on at its last stored byte after the connection was lost.")
  yield* say("The stored bytes are the sent bytes.")
  yield* say("The same command would say now that the file is uploaded already.")
  yield* say("Lists, statistics and assets are of the same Workspace.")
  yield* Output.report([Text.blank])
  yield* next("npx -y pnpm@12 demo -- <path> uploads your own file")
  yield* next("docs/guides/getting-started.md shows how to write a program")
})

/** A client with the Auth Key of the emulator. */
const client = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials }))
)

const onRequest = (entry: RequestLog.Entry) => Effect.sync(() => void requests.push(entry))

run("demo", Effect.provide(story, Layer.provideMerge(client, Emulator.layer({ onRequest }))))
