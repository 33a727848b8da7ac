/** Walks over the options of an emulator, over its limits and over its quotas. */
import { Emulator, Quotas } from "@assembly-effect/emulator"
import * as Limits from "@assembly-effect/emulator/Limits"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Layer } from "effect"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const time = [0.5]

/** A number is a duration in milliseconds. An upload or a token with a lifetime of 0 has expired. */
const all: ReadonlyArray<HostileOptions.Entry<never>> = [
  {
    name: "Emulator.layer",
    options: HostileOptions.names<Omit<Emulator.Options, "data" | "onRequest">>({
      port: 0,
      tls: 0,
      publicUrl: 0,
      allowedHosts: 0,
      credentials: 0,
      workspaces: 0,
      templates: 0,
      seed: 0,
      notificationPause: 0,
      allowPrivateNotifications: 0,
      uploadLifetime: 0,
      tokenLifetime: 0,
      limits: 0,
      quotas: 0
    }),
    build: (options) => Layer.build(Emulator.layer(options)),
    meaning: {
      port: [0],
      allowedHosts: [[]],
      workspaces: [[]],
      templates: [[]],
      seed: ["Infinity", "nonsense", ""],
      notificationPause: [0, 0.5],
      uploadLifetime: [0, 0.5],
      tokenLifetime: [0, 0.5],
      limits: [{}, { hour: 1 }],
      quotas: [{}, { hour: 1 }]
    }
  },
  {
    name: "Emulator.layer",
    options: ["data"],
    build: Effect.fnUntraced(function* ({ data = "" }: { readonly data?: string }) {
      const parent = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const named = typeof data === "string" && data !== "" ? `${parent}/${data}` : data
      return yield* Layer.build(Emulator.layer({ data: named }))
    }, Effect.provide(NodeFileSystem.layer)),
    meaning: { data: ["Infinity", "nonsense"] }
  },
  {
    name: "Emulator.layer limits",
    options: Object.keys(Limits.Settings.fields),
    build: (limits) => Layer.build(Emulator.layer({ tls: "self-signed", limits })),
    meaning: { headersTime: time, idleTime: time, formTime: time }
  },
  {
    name: "Emulator.layer quotas",
    options: Object.keys(Quotas.Settings.fields),
    build: (quotas) => Layer.build(Emulator.layer({ quotas })),
    meaning: { uploading: time, executing: time }
  }
]

describe("A hostile value of an option", () => {
  it.live.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})

it.live("null, and a null among the Templates of a Workspace, fail with InvalidRequest", function* () {
  for (const text of ["null", '{"workspaces":[{"slug":"a","keys":[],"templates":null}]}']) {
    const error = yield* Effect.flip(Layer.build(Emulator.layer(JSON.parse(text))))
    assert.strictEqual(error._tag, "InvalidRequest")
  }
})
