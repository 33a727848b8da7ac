/** The rules of `Instructions.make` in the operations that send Steps. */
import { Assemblies, RetryPolicy } from "@assembly-effect/api"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Templates from "@assembly-effect/api/Templates"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, status } from "./utils/operations.ts"

const robot = "/image/resize"
const steps = { ":original": { robot }, a: { robot, use: ["b", "nowhere"] }, b: { robot, use: { steps: ["a"] } } }

const service = Service.make(Service.json(200, status))

const run = <A, E>(effect: Effect.Effect<A, E, AssemblyClient>) =>
  Effect.provide(effect, Service.client(service).pipe(Layer.provide(RetryPolicy.layerNone)))

const create = (options: Assemblies.CreateOptions) => Effect.asVoid(Assemblies.create(options))

const sending = {
  "Assemblies.create": [create({ steps }), ["steps"]],
  "Assemblies.replace": [Effect.asVoid(Assemblies.replace(assemblyId, { steps })), ["steps"]],
  "Templates.create": [Effect.asVoid(Templates.create({ name: "a", template: { steps } })), ["template", "steps"]],
  "Templates.update": [Effect.asVoid(Templates.update("a", { template: { steps } })), ["template", "steps"]]
} as const

describe("invalid Steps", () => {
  it.effect.each(Object.keys(sending) as ReadonlyArray<keyof typeof sending>)(
    "%s fails with InvalidRequest and every issue of invalid Steps, and sends nothing",
    function* (name) {
      const [operation, below] = sending[name]
      const before = service.requests.length
      const error = yield* Effect.flip(run(operation))
      assert(error._tag === "InvalidRequest")
      const seen = error.issues.map(({ path }) => path.slice(below.length).join("."))
      assert.deepStrictEqual(seen, [":original.robot", "a.use.1", "a.use", "b.use"])
      for (const { path } of error.issues) assert.deepStrictEqual(path.slice(0, below.length), [...below])
      assert.strictEqual(service.requests.length, before)
    }
  )

  it.effect("create with a templateId accepts a Step that uses an unknown one, and refuses a circle", function* () {
    const templateId = "t"
    yield* run(create({ assemblyId, templateId, steps: { a: { robot, use: "of the Template" } } }))
    const error = yield* Effect.flip(run(create({ templateId, steps: { a: { robot, use: "a" } } })))
    assert(error._tag === "InvalidRequest")
    assert.deepStrictEqual(error.issues[0]?.path, ["steps", "a", "use"])
  })
})
