/** Every operation against the embedded service, over HTTP, with success. */
import { assert, describe, layer, test } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, embedded, missing } from "./utils/embedded.ts"
import { cases, operations } from "./utils/operations.ts"

type Calls = (typeof calls)[keyof typeof calls]
type Call = Effect.Effect<unknown, Effect.Error<Calls>, Effect.Services<Calls>>

test("covers every operation", () => {
  const names = operations.map(({ name }) => name).toSorted()
  assert.deepStrictEqual(Object.keys(calls).toSorted(), names)
  assert.deepStrictEqual(cases.map(({ name }) => name).toSorted(), names)
  assert.isTrue([...missing].every((name) => names.includes(name)))
})

layer(embedded, { excludeTestServices: true })("the embedded service", (it) => {
  for (const [name, call] of Object.entries<Call>(calls)) {
    describe(name, () => {
      if (missing.has(name)) {
        it.effect("is missing in the embedded service", () =>
          Effect.gen(function* () {
            const { run } = cases.find((one) => one.name === name) ?? assert.fail()
            assert.deepInclude(yield* Effect.flip(run), { _tag: "ServiceFailure", code: "SERVER_404", status: 404 })
          })
        )
      } else {
        it.effect("succeeds in the embedded service", () => call)
      }
    })
  }
})
