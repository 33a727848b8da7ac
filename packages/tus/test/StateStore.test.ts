/**
 * How the state of an upload is kept while several parts change it at once.
 */
import * as UploadState from "../src/internal/uploadState.ts"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as StateStore from "../src/internal/stateStore.ts"

const size = 3n * 1024n * 1024n
const creating = (index: number) => UploadState.part(index)({ _tag: "Creating", marker: `m${index}` })

/** The markers that a state knows. */
const markers = (state: UploadState.UploadState) =>
  state._tag === "Parts" ? state.parts.map(({ piece }) => ("marker" in piece ? piece.marker : "")) : []

describe("a store that writes", () => {
  it.effect("writes one state after the other, each with the changes before it", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const written: Array<ReadonlyArray<string>> = []
      const store = StateStore.written(UploadState.inParts(size, 3), (state) =>
        Effect.andThen(
          written.length === 0 ? Deferred.await(gate) : Effect.void,
          Effect.sync(() => void written.push(markers(state)))
        )
      )
      const updates: Array<Fiber.Fiber<void>> = []
      for (const index of [0, 1, 2]) updates.push(yield* Effect.forkChild(store.update(creating(index))))
      yield* Effect.yieldNow
      assert.deepStrictEqual(written, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll(updates)
      assert.deepStrictEqual(written, [
        ["m0", "", ""],
        ["m0", "m1", ""],
        ["m0", "m1", "m2"]
      ])
    })
  )

  it.effect("writes again what could not be written, and not what is written", () =>
    Effect.gen(function* () {
      let failures = 1
      let writes = 0
      const store = StateStore.written(UploadState.planned, () =>
        Effect.suspend(() => {
          writes++
          return failures-- > 0 ? Effect.fail("no space") : Effect.void
        })
      )
      const same: UploadState.Change = (state) => state
      assert.strictEqual(
        yield* Effect.flip(store.update(UploadState.whole({ _tag: "Creating", marker: "m" }))),
        "no space"
      )
      yield* store.update(same)
      yield* store.update(same)
      assert.strictEqual(writes, 2)
    })
  )

  it("does not write what is only noted", () => {
    let writes = 0
    const store = StateStore.written(UploadState.planned, () => Effect.sync(() => void writes++))
    store.note(UploadState.whole({ _tag: "Creating", marker: "m" }))
    assert.strictEqual(store.state()._tag, "Creating")
    assert.strictEqual(writes, 0)
    assert.isTrue(store.isKept)
    assert.isFalse(StateStore.forgetful(UploadState.planned).isKept)
  })
})
