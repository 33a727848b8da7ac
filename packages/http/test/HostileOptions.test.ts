/** Walks over the Schema of every option, field by field, with values that a configuration file may contain. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as HandledNotifications from "@assembly-effect/http/HandledNotifications"
import * as PassThrough from "@assembly-effect/http/PassThrough"
import * as Signatures from "@assembly-effect/http/Signatures"
import * as Webhooks from "@assembly-effect/http/Webhooks"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import { assert, layer } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import type * as Scope from "effect/Scope"
import { credentials } from "./support.ts"

const hostile = [NaN, Infinity, -Infinity, "Infinity", 0, -1, 0.5, 1e300, "nonsense", "", null, {}, [], { hour: 1 }]

const services = Layer.mergeAll(
  HandledNotifications.layerMemory(),
  KeyValueStore.layerMemory,
  SqliteClient.layer({ path: ":memory:" }),
  Webhook.layer(),
  AssemblyUpload.layer.pipe(
    Layer.provideMerge(
      AssemblyClient.layer({ baseUrl: "http://127.0.0.1:9" }).pipe(Layer.provide(Authenticator.layerSigned()))
    )
  )
).pipe(Layer.provideMerge([Credentials.layer(credentials), FetchHttpClient.layer]))

type Build = (options: {}) => Effect.Effect<unknown, unknown, Layer.Success<typeof services> | Scope.Scope>

const policy = () => Effect.never
const handle = () => Effect.void

const all: ReadonlyArray<readonly [name: string, fields: {}, build: Build]> = [
  ["Tokens.layer", Tokens.Settings.fields, Tokens.make],
  [
    "Authenticator.layerSigned",
    { ...Authenticator.SignedSettings.fields, ...Signer.Settings.fields },
    (options) => Layer.build(Authenticator.layerSigned(options))
  ],
  ["Webhooks", Webhooks.Settings.fields, (options) => Webhooks.make({ ...options, handle })],
  ["Signatures", Signatures.Settings.fields, (options) => Signatures.make({ ...options, policy })],
  ["PassThrough", PassThrough.Settings.fields, (options) => PassThrough.make({ ...options, policy })],
  [
    "UploadJournal.layerMemory",
    UploadJournal.Settings.fields,
    (options) => Layer.build(UploadJournal.layerMemory(options))
  ],
  [
    "HandledNotifications.layerMemory",
    HandledNotifications.MemorySettings.fields,
    (options) => Layer.build(HandledNotifications.layerMemory(options))
  ],
  [
    "HandledNotifications.layerKeyValueStore",
    HandledNotifications.Settings.fields,
    (options) => Layer.build(HandledNotifications.layerKeyValueStore(options))
  ],
  [
    "HandledNotifications.layerSql",
    HandledNotifications.Settings.fields,
    (options) => Layer.build(HandledNotifications.layerSql(options))
  ]
]

/** The values that have a meaning: a number of milliseconds, no pause, no entry and any name. */
const permitted: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  "Tokens.layer.scopes": [[]],
  "Tokens.layer.renewBefore": [0.5],
  "Tokens.layer.requestTimeout": [0.5],
  "Tokens.layer.maxWait": [0.5],
  "Tokens.layer.audience": ["Infinity", "nonsense"],
  "Authenticator.layerSigned.window": [0.5],
  "Webhooks.receiveTimeout": [0.5],
  "Webhooks.handleTimeout": [0.5],
  "Signatures.origins": [[]],
  "Signatures.receiveTimeout": [0.5],
  "PassThrough.origins": [[]],
  "PassThrough.receiveTimeout": [0.5],
  "PassThrough.idleTimeout": [0.5],
  "PassThrough.timeout": [0.5],
  "PassThrough.progressInterval": [0, 0.5],
  "UploadJournal.layerMemory.expiry": [0.5],
  "UploadJournal.layerMemory.completedExpiry": [0.5, Infinity, "Infinity"],
  "UploadJournal.layerMemory.leaseDuration": [0.5],
  "HandledNotifications.layerMemory.timeToLive": [0.5],
  "HandledNotifications.layerKeyValueStore.timeToLive": [0.5],
  "HandledNotifications.layerSql.timeToLive": [0.5]
}

layer(services)("A hostile value of an option", (it) => {
  for (const [name, fields, build] of all) {
    for (const field of Object.keys(fields)) {
      it.effect(`${name}.${field} has a meaning or fails with InvalidRequest, which names the option`, () =>
        Effect.gen(function* () {
          for (const value of hostile) {
            const exit = yield* Effect.exit(Effect.scoped(build({ [field]: value })))
            const isPermitted = permitted[`${name}.${field}`]?.some(Equal.equals(value)) ?? false
            const shown = `${JSON.stringify(value)} (${String(value)})`
            if (isPermitted) assert.isTrue(Exit.isSuccess(exit), shown)
            else {
              assert(Exit.isFailure(exit), shown)
              const error = Cause.squash(exit.cause)
              assert(error instanceof InvalidRequest, `${shown}: ${String(error)}`)
              assert.deepStrictEqual(
                error.issues.map(({ path }) => path[0]),
                [field]
              )
            }
          }
        })
      )
    }
  }
})
