import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Spread from "./spread.ts"

const reports = 400

/** Makes the random numbers of a run reproducible. */
const seeded = (seed: string) => Random.withSeed(seed)

/** One round: the time of each version relative to the true time. */
type Noise = Effect.Effect<readonly [old: number, new_: number]>

const pair = (draw: Effect.Effect<number>): Noise => Effect.all([draw, draw])

const normal = Effect.map(
  Effect.all([Random.next, Random.next]),
  ([a, b]) => Math.sqrt(-2 * Math.log(1 - a)) * Math.cos(2 * Math.PI * b)
)

const noises: Readonly<Record<string, Noise>> = {
  "a quiet machine": pair(Effect.map(normal, (z) => 1 + 0.02 * z)),
  "times that are never faster, but often much slower": pair(Effect.map(normal, (z) => 1 + Math.exp(1.5 * z) / 4)),
  "whole rounds that are slow": Effect.map(Effect.all([Random.next, normal, normal]), ([busy, a, b]) => {
    const speed = busy < 0.5 ? 1 : 4
    return [speed * (1 + 0.05 * a), speed * (1 + 0.05 * b)] as const
  })
}

const measured = (noise: Noise, effect: number, rounds: number) =>
  Effect.map(Effect.replicateEffect(noise, rounds), (all) => all.map(([old, new_]) => ({ old, new: effect * new_ })))

/** The fraction of the reports in which at least one figure differs. */
const alarms = (noise: Noise, effect: number, figures: number) =>
  Effect.gen(function* () {
    const rounds = Spread.roundsFor(figures)
    let count = 0
    for (let report = 0; report < reports; report++) {
      const all = yield* Effect.replicateEffect(measured(noise, effect, rounds), figures)
      if (all.some((one) => ["Lower", "Higher"].includes(Spread.compare(one, figures)._tag))) count++
    }
    return count / reports
  })

it.effect.each(Object.entries(noises).flatMap(([name, noise]) => [1, 10].map((figures) => ({ name, noise, figures }))))(
  "two versions that are the same raise at most one false alarm in twenty reports of $figures: $name",
  ({ figures, name, noise }) =>
    Effect.gen(function* () {
      // Four standard deviations of the count are allowed above the true probability.
      const most = Spread.falseAlarms + 4 * Math.sqrt((Spread.falseAlarms * (1 - Spread.falseAlarms)) / reports)
      assert.isAtMost(yield* alarms(noise, 1, figures), most)
    }).pipe(seeded(name))
)

describe("the spread of two versions that differ", () => {
  it.effect("is found where the difference is larger than the noise", () =>
    Effect.gen(function* () {
      assert.isAtLeast(yield* alarms(noises["a quiet machine"]!, 1.1, 1), 0.99)
      assert.isAtLeast(yield* alarms(noises["a quiet machine"]!, 0.9, 10), 0.99)
      assert.isAtLeast(yield* alarms(noises["whole rounds that are slow"]!, 1.5, 1), 0.99)
    }).pipe(seeded("differ"))
  )
  it.each([1, 5, 40])("is found among %d figures although one round is arbitrarily wrong", (figures) => {
    for (const wrong of [0.001, 1, 1000]) {
      const ratios = Array.from({ length: Spread.roundsFor(figures) - 1 }, () => ({ old: 1, new: 1.01 }))
      assert.strictEqual(Spread.compare([{ old: 1, new: wrong }, ...ratios], figures)._tag, "Higher")
    }
  })
})

describe("Spread.compare", () => {
  it("decides nothing from rounds whose agreement may be chance", () => {
    const agreeing = (count: number) => Array.from({ length: count }, () => ({ old: 1, new: 2 }))
    // All rounds agree by chance with probability 2 / 2^rounds.
    assert.strictEqual(Spread.compare(agreeing(5), 1)._tag, "Undecided")
    assert.strictEqual(Spread.compare(agreeing(6), 1)._tag, "Higher")
    assert.strictEqual(Spread.compare(agreeing(8), 10)._tag, "Undecided")
    assert.strictEqual(Spread.compare(agreeing(9), 10)._tag, "Higher")
    assert.strictEqual(Spread.compare([], 1)._tag, "Undecided")
  })
  it("needs some more rounds for many figures", () => {
    assert.deepStrictEqual([1, 10, 40].map(Spread.roundsFor), [9, 13, 15])
  })
})
