/**
 * Demonstrates the main use case: uploads a file, breaks the connection during the upload, and compares the stored file
 * with the sent file.
 *
 *     pnpm demo [-- <path>]
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as AssemblyTable from "@assembly-effect/cli/AssemblyTable"
import * as ErrorLine from "@assembly-effect/cli/ErrorLine"
import * as Format from "@assembly-effect/cli/Format"
import * as LocalFile from "@assembly-effect/cli/LocalFile"
import * as Output from "@assembly-effect/cli/Output"
import * as StatisticsReport from "@assembly-effect/cli/StatisticsReport"
import * as Style from "@assembly-effect/cli/Style"
import * as UploadProgress from "@assembly-effect/cli/UploadProgress"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Faults from "@assembly-effect/emulator/Faults"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { chapter, next, say } from "./story.ts"

/** A failure that ends the demo. */
class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { description: Schema.String }) {
  override get message() {
    return this.description
  }
}

/** The given file, or else the Node executable that runs this demo, which exists on every machine. */
const chooseFile = Effect.gen(function* () {
  const args = yield* (yield* Stdio.Stdio).args
  const paths = args[0] === "--" ? args.slice(1) : args
  if (paths.length > 1) return yield* new DemoFailed({ description: "usage: pnpm demo [-- <path>]" })
  const fs = yield* FileSystem.FileSystem
  return yield* LocalFile.open(paths[0] ?? (yield* fs.realPath(process.execPath)))
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

const introduceService = Effect.gen(function* () {
  const { baseUrl, workspace } = yield* Emulator.Emulator
  yield* chapter("The emulator: the service on this machine")
  yield* say(`listens on ${baseUrl}, Workspace ${workspace}`)
})

const createAssembly = Effect.gen(function* () {
  yield* chapter("Create an Assembly that stores one file")
  const created = yield* Assemblies.create({
    steps: {
      ":original": { robot: "/upload/handle" },
      stored: { robot: "/transloadit/store", use: ":original" }
    },
    numExpectedUploadFiles: 1
  })
  yield* say(`${created.assembly_id} ${created.ok ?? ""}`)
  return created
})

/** The minimum size of a file whose upload can be broken. A smaller file is sent with the creation. */
const smallestToBreak = 1024n * 1024n

/** Breaks the connection of the next PATCH in the middle of the file. */
const breakHalfway = Effect.fnUntraced(function* (size: bigint) {
  const faults = yield* Faults.Faults
  const breaks = size >= smallestToBreak
  if (breaks) yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: Number(size / 2n) }))
  return breaks
})

const upload = Effect.fnUntraced(function* (created: Assembly.Status, { name, source }: LocalFile.LocalFile) {
  const breaks = yield* breakHalfway(source.size)
  yield* chapter(`Upload ${Format.bytes(source.size)}${breaks ? ", and lose the connection halfway" : ""}`)
  const resumed = yield* Ref.make(false)

  const target = yield* UploadTarget.fromAssembly(created)
  // The service is on this machine, so a failure that three retries do not fix is permanent.
  const events = Upload.events(target, source, { metadata: { filename: name, fieldname: "file" }, maxRetries: 3 }).pipe(
    Stream.tap((event) => (UploadEvent.$is("Resumed")(event) ? Ref.set(resumed, true) : Effect.void))
  )
  yield* UploadProgress.follow(events, UploadProgress.view(name))
  if (breaks && !(yield* Ref.get(resumed)))
    return yield* new DemoFailed({ description: "the upload was never resumed" })
})

/** Compares the hash of the sent file with the hash that the service computed from its stored bytes. */
const compare = Effect.fnUntraced(function* (sent: string, status: Assembly.Status) {
  const style = yield* Style.current
  const stored = status.uploads?.[0]?.sha256 ?? "no digest"
  const verdict = sent === stored ? style.green("✓ identical") : style.red("✗ different")
  yield* chapter("Compare SHA-256")
  yield* Output.report([`sent    ${sent}`, `stored  ${stored}`, `        ${verdict}`].map(Style.toLine))
  if (sent !== stored) return yield* new DemoFailed({ description: "the stored file is not the file that was sent" })
})

const showList = Effect.gen(function* () {
  yield* chapter("List the Assemblies of the last hour")
  const now = yield* DateTime.now
  const { items } = yield* Assemblies.list({
    fromDate: DateTime.toUtc(DateTime.startOf(DateTime.subtract(now, { hours: 1 }), "second"))
  })
  yield* Output.report(AssemblyTable.render(items, { ...(yield* Output.layout), now }))
})

const showStatistics = Effect.gen(function* () {
  yield* chapter("Count what happened in the last day")
  const now = yield* DateTime.now
  const since = DateTime.subtract(now, { days: 1 })
  const statistics = yield* Assemblies.statistics({ region: "all", since })
  yield* Output.report(StatisticsReport.render(statistics, { ...(yield* Output.layout), from: since, to: now }))
})

const decodeAssetId = Schema.decodeUnknownEffect(Identifier.AssetId)

const renameStored = Effect.fnUntraced(function* (status: Assembly.Status) {
  yield* chapter("Rename the stored asset")
  const stored = status.results?.["stored"]?.[0]
  const assetId = yield* decodeAssetId(stored?.asset_id)
  const { parse } = yield* Path.Path
  const { ext, name } = parse(stored?.path ?? "")
  const moved = yield* Dam.move(assetId, { filename: `${[...name].slice(0, 100).join("")}-renamed${ext}` })
  yield* say(`${stored?.path ?? ""} is now ${moved.path}`)
})

const sayWhatNext = Effect.gen(function* () {
  yield* Output.report([Style.blank])
  yield* next("npx -y pnpm@12 demo -- <path> uploads your own file")
  yield* next("docs/guides/getting-started.md shows how to write a program")
})

const story = Effect.gen(function* () {
  const file = yield* chooseFile
  yield* introduceService
  const created = yield* createAssembly
  yield* upload(created, file)
  const status = yield* Assemblies.awaitCompletion(created.assembly_id, { interval: "100 millis" })
  yield* compare(yield* hashFile(file.path), status)
  yield* showList
  yield* showStatistics
  yield* renameStored(status)
  yield* sayWhatNext
})

/** A client with the Auth Key of the emulator. */
const client = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
    AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide(Authenticator.layerSigned()),
      Layer.provide(Credentials.layer(credentials))
    )
  )
)

const services = Layer.merge(client, Upload.layer).pipe(
  Layer.provideMerge([Emulator.layer(), NodeHttpClient.layerUndici]),
  Layer.provideMerge(NodeServices.layer)
)

story.pipe(
  Effect.provide(services),
  Effect.tapCause((cause) => {
    const line = ErrorLine.fromCause(cause)
    return line === undefined ? Effect.void : Console.error(`demo: ${line}`)
  }),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
