/** Walks over the Schema of every option, field by field, with values that a configuration file may contain. */
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as HandledNotifications from "@assembly-effect/http/HandledNotifications"
import * as PassThrough from "@assembly-effect/http/PassThrough"
import * as Signatures from "@assembly-effect/http/Signatures"
import * as Webhooks from "@assembly-effect/http/Webhooks"
import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import { layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { webhook } from "./receiving.ts"
import { unreachable } from "./support.ts"

const services = Layer.mergeAll(
  HandledNotifications.layerMemory(),
  SqliteClient.layer({ path: ":memory:" }),
  webhook,
  unreachable
)

const policy = () => Effect.never
const handle = () => Effect.void

const meaningOfLifetime = { timeToLive: [0.5] }

/** A number is a duration in milliseconds. */
const all: ReadonlyArray<HostileOptions.Entry<Layer.Success<typeof services>>> = [
  {
    name: "Tokens.layer",
    options: Object.keys(Tokens.Settings.fields),
    build: Tokens.make,
    meaning: {
      scopes: [[]],
      renewBefore: [0.5],
      requestTimeout: [0.5],
      maxWait: [0.5],
      audience: ["Infinity", "nonsense"]
    }
  },
  {
    name: "Authenticator.layerSigned",
    options: Object.keys({ ...Authenticator.SignedSettings.fields, ...Signer.Settings.fields }),
    build: (options) => Layer.build(Authenticator.layerSigned(options)),
    meaning: { window: [0.5] }
  },
  {
    name: "Webhook.layer",
    options: Object.keys(Webhook.Settings.fields),
    build: (options) => Layer.build(Webhook.layer(options))
  },
  {
    name: "Webhooks",
    options: Object.keys(Webhooks.Settings.fields),
    build: (options) => Webhooks.make({ ...options, handle }),
    meaning: { receiveTimeout: [0.5], handleTimeout: [0.5] }
  },
  {
    name: "Signatures",
    options: Object.keys(Signatures.Settings.fields),
    build: (options) => Signatures.make({ ...options, policy }),
    meaning: { origins: [[]], receiveTimeout: [0.5] }
  },
  {
    name: "PassThrough",
    options: Object.keys(PassThrough.Settings.fields),
    build: (options) => PassThrough.make({ ...options, policy }),
    meaning: { origins: [[]], receiveTimeout: [0.5], idleTimeout: [0.5], timeout: [0.5], progressInterval: [0, 0.5] }
  },
  {
    name: "UploadJournal.layerMemory",
    options: Object.keys(UploadJournal.Settings.fields),
    build: (options) => Layer.build(UploadJournal.layerMemory(options)),
    meaning: { expiry: [0.5], completedExpiry: [0.5, Infinity, "Infinity"], leaseDuration: [0.5] }
  },
  {
    name: "HandledNotifications.layerMemory",
    options: Object.keys(HandledNotifications.MemorySettings.fields),
    build: (options) => Layer.build(HandledNotifications.layerMemory(options)),
    meaning: meaningOfLifetime
  },
  {
    name: "HandledNotifications.layerSql",
    options: Object.keys(HandledNotifications.Settings.fields),
    build: (options) => Layer.build(HandledNotifications.layerSql(options)),
    meaning: meaningOfLifetime
  }
]

layer(services)("A hostile value of an option", (it) => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
