import { mapPieces } from "@assembly-effect/auth/unstable/Pieces"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Stream } from "effect"

const piece = (...bytes: ReadonlyArray<number>) => Uint8Array.from(bytes)

const twice = (given: Uint8Array) => Effect.succeed([given, given])

describe("mapPieces", () => {
  it.effect("emits each output piece in an array of its own, in order", function* () {
    const source = Stream.fromArray([piece(1), piece(2)])
    const arrays: Array<ReadonlyArray<Uint8Array>> = []
    yield* Stream.runForEachArray(mapPieces(source, twice), (pieces) => Effect.sync(() => arrays.push(pieces)))
    assert.deepStrictEqual(arrays, [[piece(1)], [piece(1)], [piece(2)], [piece(2)]])
  })

  it.effect("calls the function only for the pieces that are pulled", function* () {
    const seen: Array<number> = []
    const watched = mapPieces(Stream.fromArray([piece(1), piece(2), piece(3)]), (given) => {
      seen.push(given[0] ?? 0)
      return Effect.succeed([given])
    })
    yield* Stream.runCollect(Stream.take(watched, 2))
    assert.deepStrictEqual(seen, [1, 2])
  })

  it.effect("emits nothing if the function drops 50,000 pieces in a row", function* () {
    const source = Stream.fromArray(Array.from({ length: 50_000 }, () => piece(0)))
    assert.deepStrictEqual(yield* Stream.runCollect(mapPieces(source, () => Effect.succeed([]))), [])
  })

  it.effect("fails with the error of the function, after the pieces before it are emitted", function* () {
    const got: Array<Uint8Array> = []
    const refused = mapPieces(Stream.fromArray([piece(1), piece(2)]), (given) =>
      given[0] === 2 ? Effect.fail("two" as const) : Effect.succeed([given])
    )
    const error = yield* Effect.flip(Stream.runForEach(refused, (one) => Effect.sync(() => got.push(one))))
    assert.deepStrictEqual({ error, got }, { error: "two", got: [piece(1)] })
  })

  it.effect("runs the end effect once after the last piece, not if the stream fails", function* () {
    let ends = 0
    const end = Effect.sync(() => {
      ends++
    })
    yield* Stream.runDrain(mapPieces(Stream.make(piece(1)), twice, end))
    assert.strictEqual(ends, 1)
    yield* Effect.flip(Stream.runDrain(mapPieces(Stream.fail("broken" as const), twice, end)))
    assert.strictEqual(ends, 1)
    const short = mapPieces(Stream.make(piece(1)), twice, Effect.fail("too short" as const))
    assert.strictEqual(yield* Effect.flip(Stream.runDrain(short)), "too short")
  })
})
