/** Walks over the options of the Layers for Node. */
import { AssemblyNode, UndiciClient } from "@assembly-effect/node"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted } from "effect"

const keys = { baseUrl: "http://127.0.0.1:1", key: "key", secret: Redacted.make("secret") }

/** A number is a duration in milliseconds. */
const all: ReadonlyArray<HostileOptions.Entry<never>> = [
  {
    name: "AssemblyNode.layer",
    options: [
      "algorithm",
      "authentication",
      "baseUrl",
      "deadline",
      "http",
      "maxClockSkew",
      "maxResponseBytes",
      "origins",
      "requestTimeout",
      "window"
    ],
    build: (options) => Layer.build(AssemblyNode.layer({ ...keys, ...options })),
    meaning: {
      deadline: [0.5],
      http: [{}, { hour: 1 }],
      maxClockSkew: [0.5],
      origins: [[]],
      requestTimeout: [0.5],
      window: [0.5]
    }
  },
  {
    name: "UndiciClient.layerWith",
    options: ["connections", "dispatcher", "proxy"],
    build: (options) => Layer.build(UndiciClient.layerWith(options))
  }
]

describe("A hostile value of an option", () => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)

  it.effect("is InvalidRequest for options that are null", function* () {
    for (const build of [AssemblyNode.layer, AssemblyNode.layerBearer]) {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(build(JSON.parse("null")))))
      assert.strictEqual(error._tag, "InvalidRequest")
    }
  })
})
