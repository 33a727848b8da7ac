/**
 * An emulator with state for every operation, and a call of every operation that succeeds on this state.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Billing from "@assembly-effect/api/Billing"
import * as Dam from "@assembly-effect/api/Dam"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Queues from "@assembly-effect/api/Queues"
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

const completed = Effect.map(Assemblies.create({ steps: handle }), ({ assembly_id }) => AssemblyId.make(assembly_id))

const waiting = Effect.map(Assemblies.create({ steps: handle, numExpectedUploadFiles: 1 }), ({ assembly_id }) =>
  AssemblyId.make(assembly_id)
)

const decodeAssetId = Schema.decodeUnknownSync(AssetId)

/** Uploads a file and stores it as an asset at a new path. */
const stored = Effect.gen(function* () {
  const path = `files/${newName()}.txt`
  const assembly = yield* Assemblies.create({
    steps: { ...handle, stored: { use: ":original", robot: "/transloadit/store", path } },
    numExpectedUploadFiles: 1
  })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const source = UploadSource.fromBytes(new TextEncoder().encode(path))
  yield* Upload.run(target, source, { metadata: { filename: "a.txt", fieldname: "file" } })
  const { results } = yield* Assemblies.get(AssemblyId.make(assembly.assembly_id))
  return { path: `/${path}`, assetId: decodeAssetId(results?.["stored"]?.[0]?.asset_id) }
})

const template = Effect.suspend(() => Templates.create({ name: newName(), template: { steps: handle } }))

const content = Redacted.make({ bucket: "photos", key: "k", secret: "s" })

const credential = Effect.suspend(() => TemplateCredentials.create({ name: newName(), type: "s3", content })).pipe(
  Effect.flatMap(({ credential: made }) => Effect.orDie(Effect.fromNullishOr(made)))
)

const authKey = Effect.map(
  AuthKeys.create({ scope: ["assemblies:read"], canShowAuthSecret: true }),
  ({ auth_key }) => auth_key
)

const thisMonth = Effect.map(DateTime.now, (now) => Bill.Month.make(DateTime.formatIso(now).slice(0, 7)))
const anHourAgo = Effect.map(DateTime.now, DateTime.subtract({ hours: 1 }))

/** A successful call of each operation. */
export const calls = {
  "Assemblies.create": Assemblies.create({ steps: handle }),
  "Assemblies.get": Effect.flatMap(completed, Assemblies.get),
  "Assemblies.cancel": Effect.flatMap(waiting, Assemblies.cancel),
  "Assemblies.list": Effect.flatMap(anHourAgo, (fromDate) => Assemblies.list({ fromDate })),
  "Assemblies.replace": Effect.flatMap(completed, (id) => Assemblies.replace(id, { steps: handle })),
  "Assemblies.replay": Effect.flatMap(completed, (id) => Assemblies.replay(id)),
  "Assemblies.statistics": Effect.flatMap(anHourAgo, (since) => Assemblies.statistics({ region: "all", since })),
  "Notifications.list": Effect.flatMap(completed, Notifications.list),
  "Notifications.replay": Effect.flatMap(completed, (id) => Notifications.replay(id, { notifyUrl: nobody })),
  "AuthKeys.create": authKey,
  "AuthKeys.delete": Effect.flatMap(authKey, ({ id }) => AuthKeys.delete(id)),
  "AuthKeys.list": AuthKeys.list,
  "AuthKeys.scopes": AuthKeys.scopes,
  "AuthKeys.secret": Effect.flatMap(authKey, ({ id }) => AuthKeys.secret(id)),
  "AuthKeys.update": Effect.flatMap(authKey, ({ id }) => AuthKeys.update(id, { description: "words" })),
  "Templates.create": template,
  "Templates.delete": Effect.flatMap(template, ({ id }) => Templates.delete(id)),
  "Templates.get": Effect.flatMap(template, ({ name }) => Templates.get(name)),
  "Templates.list": Templates.list(),
  "Templates.update": Effect.flatMap(template, ({ id }) => Templates.update(id, { requireSignatureAuth: true })),
  "TemplateCredentials.create": credential,
  "TemplateCredentials.delete": Effect.flatMap(credential, ({ id }) => TemplateCredentials.delete(id)),
  "TemplateCredentials.get": Effect.flatMap(credential, ({ id }) => TemplateCredentials.get(id)),
  "TemplateCredentials.list": TemplateCredentials.list,
  "TemplateCredentials.types": TemplateCredentials.types,
  "TemplateCredentials.update": Effect.flatMap(credential, ({ id, name, type }) =>
    TemplateCredentials.update(id, { name, type, content })
  ),
  "Billing.get": Effect.gen(function* () {
    const before = yield* thisMonth
    yield* completed
    // A new month may begin between the two.
    return yield* Effect.catchTag(Billing.get(before), "BillNotFound", () => Effect.flatMap(thisMonth, Billing.get))
  }),
  "Queues.jobSlots": Queues.jobSlots,
  "Queues.statistics": Effect.flatMap(anHourAgo, (since) => Queues.statistics({ region: "all", since })),
  "Dam.delete": Effect.flatMap(stored, ({ assetId }) => Dam.delete(assetId)),
  "Dam.deleteMany": Effect.flatMap(stored, ({ assetId }) => Dam.deleteMany({ assetIds: [assetId] })),
  "Dam.get": Effect.flatMap(stored, ({ assetId }) => Dam.get(assetId)),
  "Dam.list": Effect.flatMap(stored, ({ path }) => Dam.list({ prefix: path })),
  "Dam.move": Effect.flatMap(stored, ({ assetId }) => Dam.move(assetId, { destinationFolderId: null })),
  "Dam.moveEntry": Effect.flatMap(stored, ({ path }) => Dam.moveEntry({ source: path, destination: `${path}.old` })),
  "Dam.moveMany": Effect.flatMap(stored, ({ assetId }) =>
    Dam.moveMany({ assetIds: [assetId], destinationFolderId: null })
  )
}

/** The id of something that exists, for each variable of a path. */
export const existing = Effect.gen(function* () {
  return {
    assemblyId: yield* completed,
    assetId: (yield* stored).assetId,
    authKeyId: (yield* authKey).id,
    credentialId: (yield* credential).id,
    templateIdOrName: (yield* template).id,
    month: yield* thisMonth
  }
})
