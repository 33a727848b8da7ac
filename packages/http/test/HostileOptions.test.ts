/** Walks over the Schema of every option, field by field, with values that a configuration file may contain. */
import { Authenticator, Tokens, Webhook } from "@assembly-effect/auth"
import { HandledNotifications, PassThrough, Signatures, Webhooks } from "@assembly-effect/http"
import { SqliteClient } from "@assembly-effect/sqlite"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import { UploadJournal } from "@assembly-effect/tus"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
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
    options: HostileOptions.names<Tokens.Options>({
      scopes: 0,
      renewBefore: 0,
      requestTimeout: 0,
      maxWait: 0,
      audience: 0
    }),
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
    options: HostileOptions.names<NonNullable<Parameters<typeof Authenticator.layerSigned>[0]>>({
      window: 0,
      algorithm: 0
    }),
    build: (options) => Layer.build(Authenticator.layerSigned(options)),
    meaning: { window: [0.5] }
  },
  {
    name: "Webhook.layer",
    options: HostileOptions.names<Webhook.Options>({ algorithms: 0 }),
    build: (options) => Layer.build(Webhook.layer(options))
  },
  {
    name: "Webhooks",
    options: HostileOptions.names<Omit<Webhooks.Options<never, never>, "handle">>({
      path: 0,
      maxBytes: 0,
      maxFields: 0,
      maxBufferedBytes: 0,
      receiveTimeout: 0,
      handleTimeout: 0
    }),
    build: (options) => Webhooks.make({ ...options, handle }),
    meaning: { receiveTimeout: [0.5], handleTimeout: [0.5] }
  },
  {
    name: "Signatures",
    options: HostileOptions.names<Omit<Signatures.Options<unknown, never>, "policy" | "body">>({
      path: 0,
      origins: 0,
      maxBytes: 0,
      receiveTimeout: 0,
      algorithm: 0
    }),
    build: (options) => Signatures.make({ ...options, policy }),
    meaning: { origins: [[]], receiveTimeout: [0.5] }
  },
  {
    name: "PassThrough",
    options: HostileOptions.names<Omit<PassThrough.Options<never>, "policy" | "fields">>({
      path: 0,
      origins: 0,
      maxUploads: 0,
      maxWatchers: 0,
      receiveTimeout: 0,
      idleTimeout: 0,
      timeout: 0,
      chunkSize: 0,
      progressInterval: 0
    }),
    build: (options) => PassThrough.make({ ...options, policy }),
    meaning: { origins: [[]], receiveTimeout: [0.5], idleTimeout: [0.5], timeout: [0.5], progressInterval: [0, 0.5] }
  },
  {
    name: "UploadJournal.layerMemory",
    options: HostileOptions.names<UploadJournal.Options>({ expiry: 0, completedExpiry: 0, leaseDuration: 0 }),
    build: (options) => Layer.build(UploadJournal.layerMemory(options)),
    meaning: { expiry: [0.5], completedExpiry: [0.5, Infinity, "Infinity"], leaseDuration: [0.5] }
  },
  {
    name: "HandledNotifications.layerMemory",
    options: HostileOptions.names<NonNullable<Parameters<typeof HandledNotifications.layerMemory>[0]>>({
      timeToLive: 0,
      capacity: 0
    }),
    build: (options) => Layer.build(HandledNotifications.layerMemory(options)),
    meaning: meaningOfLifetime
  },
  {
    name: "HandledNotifications.layerSql",
    options: HostileOptions.names<HandledNotifications.Options>({ timeToLive: 0 }),
    build: (options) => Layer.build(HandledNotifications.layerSql(options)),
    meaning: meaningOfLifetime
  }
]

layer(services)("A hostile value of an option", (it) => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
