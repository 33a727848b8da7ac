/** Every operation against the emulator, over HTTP, with success; and what several operations say of the same things. */
import { Assemblies } from "@assembly-effect/api"
import * as Templates from "@assembly-effect/api/Templates"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { assert, layer, test } from "@assembly-effect/testkit/flow"
import { DateTime, Effect, Stream } from "effect"
import { calls, emulator } from "./utils/emulator.ts"
import { operations } from "./utils/operations.ts"

type Calls = (typeof calls)[keyof typeof calls]
type Call = Effect.Effect<unknown, Effect.Error<Calls>, Effect.Services<Calls>>

const steps = { ":original": { robot: "/upload/handle" } }

test("the calls contain every operation", () => {
  assert.deepStrictEqual(Object.keys(calls).toSorted(), operations.map(({ name }) => name).toSorted())
})

layer(emulator)("the emulator", (it) => {
  for (const [name, call] of Object.entries<Call>(calls)) {
    it.effect(`${name} succeeds in the emulator`, () => call)
  }

  it.effect("listAll yields the entries that list returns, in the same order", function* () {
    yield* Effect.replicateEffect(Assemblies.create({ steps }), 5)
    const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
    const whole = yield* Assemblies.list({ fromDate, pageSize: 5000 })
    const entries = yield* Stream.runCollect(Assemblies.listAll({ fromDate, pageSize: 2 }))
    assert.deepStrictEqual(entries, [...whole.items])
  })

  it.effect("watch ends with the Status that awaitCompletion returns", function* () {
    const id = AssemblyId.make((yield* Assemblies.create({ steps })).assembly_id)
    const statuses = yield* Stream.runCollect(Assemblies.watch(id, { interval: "10 millis" }))
    assert.deepStrictEqual(statuses.at(-1), yield* Assemblies.awaitCompletion(id))
  })

  it.effect("a created Template is returned by get, by its id and its name, and by listAll", function* () {
    const name = "a name/with ä"
    const { id } = yield* Templates.create({ name, template: { steps } })
    for (const idOrName of [id, name]) assert.deepInclude(yield* Templates.get(idOrName), { id, name })
    const items = yield* Stream.runCollect(Templates.listAll({ sort: "name", order: "asc", pageSize: 1 }))
    assert.deepStrictEqual(items.find((item) => item.id === id)?.content?.steps as object, steps)
  })
})
