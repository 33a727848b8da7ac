/**
 * `pnpm test:live`: what the service does, clause by clause of docs/conformance.md, and where the emulator differs. It
 * needs `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`, and is skipped without them. It creates 3
 * Assemblies, which store nothing, and sends 2 files of 1 KiB. It moves the asset in `ASSEMBLY_ASSET_ID`, if there is
 * one, to the name that it has. It prints codes, and names and types of fields, but no id, no URL and no secret.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Dam from "@assembly-effect/api/Dam"
import type * as Credentials from "@assembly-effect/auth/Credentials"
import * as Variables from "@assembly-effect/auth/unstable/Variables"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** What one step has shown: the responses, and the fields of the result with their types, or a code. */
interface Seen {
  readonly step: string
  readonly responses: ReadonlyArray<string>
  readonly fields: ReadonlyArray<string>
}

/** Fields whose values are codes, and not data of an account. */
const codes = new Set(["ok", "error", "_tag", "code", "status"])

/** The fields of a value. The items of a list and the Steps of an Assembly are one field, `*`. */
const fieldsOf = (value: unknown, path = ""): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((item) => fieldsOf(item, `${path}.*`))
  if (typeof value !== "object" || value === null || DateTime.isDateTime(value)) {
    const name = path.slice(path.lastIndexOf(".") + 1)
    return [`${path}: ${codes.has(name) ? String(value) : value === null ? "null" : typeof value}`]
  }
  return Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : fieldsOf(inner, path === "" ? key : `${path}.${key}`)
  )
}

/** Runs every step, and returns what each has shown. A step that fails does not end the others. */
const walk = (asset: Identifier.AssetId | undefined, responses: Array<string>) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const step = <A, E extends { readonly _tag: string }, R>(name: string, run: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        responses.length = 0
        const result = yield* Effect.result(run)
        const shown = Result.isSuccess(result) ? result.success : { ...result.failure, _tag: result.failure._tag }
        seen.push({ step: name, responses: [...new Set(responses)], fields: fieldsOf(shown).toSorted() })
        return Result.getSuccess(result)
      })
    const steps = { ":original": { robot: "/upload/handle" } }
    const files = [{ source: UploadSource.fromBytes(new Uint8Array(1024)), filename: "live.bin" }]
    const yesterday = DateTime.subtract(yield* DateTime.now, { days: 1 })
    const since = DateTime.formatIso(yesterday)

    const upload = yield* step("O-33 O-49 T-2: upload by tus", AssemblyUpload.run({ params: { steps }, files }))
    const assemblyId = yield* Assemblies.newId
    const form = AssemblyUpload.run({ params: { steps, assemblyId }, files, transport: "form" })
    const formed = yield* step("a form with the file, under a chosen id", form)
    const created = yield* step(
      "O-34: create and wait for a file",
      Assemblies.create({ steps, numExpectedUploadFiles: 1 })
    )
    const id = Option.map(created, (status) => Assembly.AssemblyId.make(status.assembly_id))
    if (Option.isSome(id)) yield* step("cancel", Assemblies.cancel(id.value))
    yield* step("R-1 O-2: statistics", Assemblies.statistics({ region: "all", since, templateId: "all" }))
    yield* step("E-9: statistics of an unknown region", Assemblies.statistics({ region: "nowhere", since }))
    yield* step("R-10 O-9 O-19: list", Assemblies.list({ fromDate: yesterday, pageSize: 1 }))
    if (asset !== undefined) {
      const found = yield* step("R-16: the asset", Dam.get(asset))
      const path = Option.match(found, { onNone: () => "", onSome: (one) => one.asset.path })
      const filename = path.slice(path.lastIndexOf("/") + 1)
      yield* step("R-23 T-3 O-20: move", Dam.move(asset, { filename }))
    }
    const hasId = Option.exists(formed, ({ assembly_id }) => assembly_id === assemblyId)
    return { seen, isDone: Option.isSome(upload) && hasId && Option.isSome(id) }
  })

/** A client that notes the status and the content type of each response. */
const recording = (responses: Array<string>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.tap(({ headers, request, status }) =>
        Effect.sync(() => responses.push(`${request.method} ${status} ${headers["content-type"] ?? "no content"}`))
      )
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))

const look = (
  service: Credentials.Credentials["Service"] & { readonly baseUrl: string },
  asset: Identifier.AssetId | undefined
) => {
  const responses: Array<string> = []
  return Effect.provide(walk(asset, responses), AssemblyNode.layerWith(recording(responses), service))
}

/** The same steps in an emulator, which has an asset if the service has one. */
const emulated = Effect.fnUntraced(function* (hasAsset: boolean) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const service = { baseUrl, ...credentials }
  const steps = { kept: { robot: "/transloadit/store", use: ":original" }, ":original": { robot: "/upload/handle" } }
  const files = [{ source: UploadSource.fromBytes(new Uint8Array(1024)), filename: "live.bin" }]
  const stored = AssemblyUpload.run({ params: { steps }, files }).pipe(
    Effect.map(({ results }) => Identifier.AssetId.make(results?.["kept"]?.[0]?.asset_id ?? "")),
    Effect.provide(AssemblyNode.layer(service))
  )
  return yield* look(service, hasAsset ? yield* stored : undefined)
}, Effect.provide(Emulator.layer()))

const only = (who: string, mine: ReadonlyArray<string>, theirs: ReadonlyArray<string>): ReadonlyArray<string> => {
  const others = mine.filter((one) => !theirs.includes(one))
  return others.length === 0 ? [] : [`    only ${who}: ${others.join(", ")}`]
}

const compare = (service: ReadonlyArray<Seen>, emulator: ReadonlyArray<Seen>): ReadonlyArray<string> =>
  service.flatMap(({ fields, responses, step }) => {
    const same = emulator.find((one) => one.step === step) ?? { fields: [], responses: [] }
    const said = fields.filter((field) => /^(?:ok|error|_tag|code): /.test(field))
    return [
      `${step}: ${[...responses, ...said, `${fields.length} fields`].join(", ")}`,
      ...only("the service", [...responses, ...fields], [...same.responses, ...same.fields]),
      ...only("the emulator", [...same.responses, ...same.fields], [...responses, ...fields])
    ]
  })

const main = Effect.gen(function* () {
  const service = yield* Effect.result(Variables.service)
  if (Result.isFailure(service)) {
    return yield* Console.log(`skipped, because this needs an account: ${service.failure.message}`)
  }
  const given = yield* Config.option(Config.String("ASSEMBLY_ASSET_ID"))
  const asset = Option.getOrUndefined(Option.map(given, (id) => Identifier.AssetId.make(id)))
  const isLoopback = /^https?:\/\/(?:127\.|localhost|\[::1\])/.test(service.success.baseUrl)
  yield* Console.log(
    isLoopback ? "This is an emulator, not the service: it should not differ." : "This is the service."
  )
  const { isDone, seen } = yield* look(service.success, asset)
  const lines = compare(seen, (yield* emulated(asset !== undefined)).seen)
  for (const line of lines) yield* Console.log(line)
  const differences = lines.filter((line) => line.startsWith(" ")).length
  yield* Console.log(
    `${seen.length} steps, ${differences} differences, ${isDone ? "all uploads done" : "an upload FAILED"}`
  )
  if (!isDone) process.exitCode = 1
})

NodeRuntime.runMain(main)
