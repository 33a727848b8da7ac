/** Every operation against the emulator, over HTTP, with success. */
import { assert, layer, test } from "@effect/vitest"
import type * as Effect from "effect/Effect"
import { calls, emulator } from "./utils/emulator.ts"
import { operations } from "./utils/operations.ts"

type Calls = (typeof calls)[keyof typeof calls]
type Call = Effect.Effect<unknown, Effect.Error<Calls>, Effect.Services<Calls>>

test("the calls contain every operation", () => {
  assert.deepStrictEqual(Object.keys(calls).toSorted(), operations.map(({ name }) => name).toSorted())
})

layer(emulator, { excludeTestServices: true })("the emulator", (it) => {
  for (const [name, call] of Object.entries<Call>(calls)) {
    it.effect(`${name} succeeds in the emulator`, () => call)
  }
})
