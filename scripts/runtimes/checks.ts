/**
 * The program that runs on every runtime. It has one check for each function of the packages that must work there, and
 * imports no module of a runtime.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Content from "./content.ts"

/**
 * The input of the program.
 *
 * - `cutUrl`: after a POST to this URL, the service cuts the connection of the next PATCH.
 * - `blocks`: the size of each upload, in blocks of 1 MiB.
 * - `sha256`: the SHA-256 of these blocks.
 */
export interface Config {
  readonly baseUrl: string
  readonly cutUrl: string
  readonly key: string
  readonly secret: string
  readonly blocks: number
  readonly sha256: string
}

/** The result of each check: null if it passed, else the problem. */
export type Report = Readonly<Record<string, string | null>>

class Wrong extends Data.TaggedError("Wrong")<{ readonly description: string }> {
  override get message() {
    return this.description
  }
}

const expect = (holds: boolean, problem: string): Effect.Effect<void, Wrong> =>
  holds ? Effect.void : Effect.fail(new Wrong({ description: problem }))

const steps = {
  ":original": { robot: "/upload/handle" },
  stored: { robot: "/transloadit/store", use: ":original" }
} as const

const create = Assemblies.create({ steps, numExpectedUploadFiles: 1 })

const hourAgo = Effect.map(DateTime.now, (now) =>
  DateTime.toUtc(DateTime.startOf(DateTime.subtract(now, { hours: 1 }), "second"))
)

/** Uploads a source to a new Assembly, and compares the SHA-256 that the service computed from the stored file. */
const upload = ({ sha256 }: Config, source: UploadSource.UploadSource, options: Partial<Upload.Options> = {}) =>
  Effect.gen(function* () {
    const created = yield* create
    const target = yield* UploadTarget.fromAssembly(created)
    const metadata = { filename: "content.bin", fieldname: "file" }
    const events = yield* Stream.runCollect(Upload.events(target, source, { metadata, maxRetries: 3, ...options }))
    const status = yield* Assemblies.awaitCompletion(created.assembly_id, { interval: "100 millis" })
    const stored = status.uploads?.[0]?.sha256
    yield* expect(stored === sha256, `the stored file has the SHA-256 ${stored ?? "(none)"}, not ${sha256}`)
    return { events, status }
  })

const streamed = ({ blocks }: Config) =>
  UploadSource.fromStream(Stream.map(Stream.range(0, blocks - 1), (index) => Content.block(index)))

const cut = ({ cutUrl }: Config) => Effect.promise(() => fetch(cutUrl, { method: "POST" }))

const decodeAssetId = Schema.decodeUnknownEffect(Identifier.AssetId)

type Check = Effect.Effect<unknown, Error, AssemblyClient.AssemblyClient | HttpClient.HttpClient | Upload.Upload>

const checks = (config: Config): Readonly<Record<string, Check>> => {
  const bytes = Content.whole(config.blocks)
  const fromBytes = UploadSource.fromBytes(bytes)
  return {
    statistics: Effect.gen(function* () {
      const { totalAssemblies } = yield* Assemblies.statistics({ region: "all", since: yield* hourAgo })
      yield* expect(Number.isInteger(totalAssemblies), "no number of Assemblies")
    }),
    create: Effect.gen(function* () {
      const { assembly_id } = yield* create
      yield* Assemblies.cancel(assembly_id)
    }),
    list: Effect.gen(function* () {
      const { assembly_id } = yield* create
      const { items } = yield* Assemblies.list({ fromDate: yield* hourAgo })
      yield* expect(
        items.some(({ id }) => id === assembly_id),
        "the new Assembly is not in the list"
      )
      yield* Assemblies.cancel(assembly_id)
    }),
    "upload: bytes": upload(config, fromBytes),
    "upload: stream": upload(config, streamed(config)),
    "upload: Blob": upload(config, UploadSource.fromBlob(new Blob([bytes]))),
    "upload: in parts": upload(config, fromBytes, { parallel: 4 }),
    "upload: with checksum": upload(config, fromBytes, { checksum: "sha256" }),
    "upload: cut and resumed": Effect.gen(function* () {
      yield* cut(config)
      const { events } = yield* upload(config, fromBytes)
      yield* expect(events.some(UploadEvent.$is("Resumed")), "the upload was not resumed")
    }),
    move: Effect.gen(function* () {
      const { status } = yield* upload(config, fromBytes)
      const assetId = yield* decodeAssetId(status.results?.["stored"]?.[0]?.asset_id)
      const { path } = yield* Dam.move(assetId, { filename: `${assetId}.bin` })
      yield* expect(path.endsWith(`${assetId}.bin`), "the asset has another name")
    })
  }
}

/** Performs all checks, one after another. A failed check does not end the program. */
export const run = (config: Config, http: Layer.Layer<HttpClient.HttpClient>): Promise<Report> => {
  const layer = Layer.merge(AssemblyClient.layer({ baseUrl: config.baseUrl }), Upload.layer).pipe(
    Layer.provide(Authenticator.layerSigned()),
    Layer.provide(Credentials.layer({ key: config.key, secret: Redacted.make(config.secret) })),
    Layer.provideMerge(http)
  )
  const report: Record<string, string | null> = {}
  return Effect.forEach(Object.entries(checks(config)), ([name, check]) =>
    Effect.map(Effect.exit(Effect.timeout(Effect.provide(check, layer), "5 minutes")), (exit) => {
      report[name] = Exit.isSuccess(exit) ? null : (Cause.pretty(exit.cause).split("\n")[0] ?? "failed")
    })
  ).pipe(Effect.as(report), Effect.runPromise)
}
