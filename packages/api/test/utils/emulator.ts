/**
 * An emulator, and the state that operations need.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import * as Bill from "@assembly-effect/schema/Bill"
import { AssetId } from "@assembly-effect/schema/Identifier"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const client = Client.signed().pipe(Layer.provide(RetryPolicy.layerNone))

/** A running emulator, a client of it without retries, and HTTP itself. Failed notifications are not repeated. */
export const emulator = Layer.merge(client, Upload.layer).pipe(
  Layer.provideMerge(Layer.merge(Emulator.layer({ notificationPause: "1 hour" }), NodeHttpClient.layerUndici))
)

/** A URL to notify that nobody answers. */
export const nobody = "http://127.0.0.1:9/"

const handle = { ":original": { robot: "/upload/handle" } }

let names = 0
/** A name that nothing else has. */
const newName = (): string => `name-${names++}`

const decodeAssetId = Schema.decodeUnknownSync(AssetId)

/** Uploads a file and stores it as an asset at this path. */
export const stored = Effect.fnUntraced(function* (path: string) {
  const assembly = yield* Assemblies.create({
    steps: { ...handle, stored: { use: ":original", robot: "/transloadit/store", path } },
    numExpectedUploadFiles: 1
  })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const source = UploadSource.fromBytes(new TextEncoder().encode(path))
  yield* Upload.run(target, source, { metadata: { filename: "a.txt", fieldname: "file" } })
  const { results } = yield* Assemblies.get(AssemblyId.make(assembly.assembly_id))
  return decodeAssetId(results?.["stored"]?.[0]?.asset_id)
})

const content = Redacted.make({ bucket: "photos", key: "k", secret: "s" })

/** The id of something that exists, for each variable of a path. */
export const existing = Effect.all({
  assemblyId: Effect.map(Assemblies.create({ steps: handle }), ({ assembly_id }) => assembly_id),
  assetId: Effect.suspend(() => stored(`files/${newName()}.txt`)),
  authKeyId: Effect.map(AuthKeys.create({ scope: ["assemblies:read"] }), ({ auth_key }) => auth_key.id),
  credentialId: Effect.flatMap(
    Effect.suspend(() => TemplateCredentials.create({ name: newName(), type: "s3", content })),
    ({ credential }) => Effect.orDie(Effect.fromNullishOr(credential?.id))
  ),
  templateIdOrName: Effect.map(
    Effect.suspend(() => Templates.create({ name: newName(), template: { steps: handle } })),
    ({ id }) => id
  ),
  month: Effect.map(DateTime.now, (now) => Bill.Month.make(DateTime.formatIso(now).slice(0, 7)))
})
