/**
 * How the state of an upload is kept: while several parts change it at once, in a journal, and when its caller is
 * interrupted.
 */
import { UploadUntrusted } from "@assembly-effect/tus/TusError"
import { UploadTarget } from "@assembly-effect/tus"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Fiber, Result } from "effect"
import * as Journaled from "../src/internal/journaled.ts"
import * as UploadState from "../src/internal/uploadState.ts"

const size = 3n * 1024n * 1024n
const creating = (index: number) => UploadState.part(index)({ _tag: "Creating", marker: `m${index}` })

/** The markers that a state knows. */
const markers = (state: UploadState.UploadState) =>
  state._tag === "Parts" ? state.parts.map(({ piece }) => ("marker" in piece ? piece.marker : "")) : []

describe("a store that writes", () => {
  it.effect("writes one state after the other, each with the changes before it", function* () {
    const gate = yield* Deferred.make<void>()
    const written: Array<ReadonlyArray<string>> = []
    const store = UploadState.written(UploadState.inParts(size, 3), Journaled.settle, (state) =>
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

  it.effect("writes again what could not be written, and not what is written", function* () {
    let failures = 1
    let writes = 0
    const store = UploadState.written(UploadState.planned, Journaled.settle, () =>
      Effect.suspend(() => {
        writes++
        return failures-- > 0 ? Effect.fail("no space") : Effect.void
      })
    )
    const change = UploadState.whole({ _tag: "Creating", marker: "m" })
    assert.strictEqual(yield* Effect.flip(store.update(change)), "no space")
    for (const _ of [1, 2]) yield* store.update((state) => state)
    assert.strictEqual(writes, 2)
  })

  it.effect("an interruption while the request is recorded sends nothing, and records this", function* () {
    const recorded: Array<string> = []
    const writing = yield* Deferred.make<void>()
    const note = (what: string) => Effect.sync(() => void recorded.push(what))
    const fiber = yield* Effect.forkChild(
      Journaled.settle({
        sending: Effect.andThen(Deferred.succeed(writing, undefined), Effect.never),
        answered: note("answered"),
        refused: note("refused")
      })
    )
    yield* Deferred.await(writing)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(recorded, ["refused"])
  })
})

const target = Effect.runSync(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" })
)

test("a state that is untrusted stays untrusted after every later change", () => {
  const url = Result.getOrThrow(UploadTarget.resolve(target, "/resumable/files/1"))
  const wrong = UploadState.untrusted(new UploadUntrusted({ description: "upload-offset is 17", mayBeWhole: true }))
  const untrusted = wrong(creating(0)(UploadState.inParts(size, 3)))
  for (const change of [
    UploadState.whole({ _tag: "Planned" }),
    UploadState.part(0)({ _tag: "Planned" }),
    UploadState.concatenating("f", [], 3n),
    UploadState.concatenated(url),
    UploadState.replaced(UploadState.inParts(size, 3)),
    UploadState.completed(url, 3n),
    UploadState.replaced(UploadState.planned)
  ]) {
    assert.strictEqual(change(untrusted), untrusted)
  }
})
