import { assert, describe, it } from "@effect/vitest"
import * as Compare from "./compare.ts"

const rounds = 20
const steady = (value: number) => Array.from({ length: rounds }, (_, index) => value * (1 + (index % 3) / 100))
const figure = (target: string, old: number, new_: number): Compare.Compared => ({
  id: "P0",
  peer: "a peer",
  target,
  old: steady(old),
  new: steady(new_).toReversed()
})
const meaning = (...figures: ReadonlyArray<Compare.Compared>) => Compare.lines(figures).map((line) => line.at(-1))

describe("Compare.lines", () => {
  it("tells a difference in the direction of the target", () => {
    assert.deepStrictEqual(meaning(figure("≥ 2 ×", 3, 2), figure("≥ 2 ×", 2, 3)), ["WORSE", "better"])
    assert.deepStrictEqual(meaning(figure("≤ 2 ×", 3, 2), figure("≤ 2 ×", 2, 3)), ["better", "WORSE"])
    assert.deepStrictEqual(meaning(figure("none", 3, 2), figure("none", 2, 3)), ["lower", "higher"])
    assert.deepStrictEqual(meaning(figure("≥ 2 ×", 3, 3)), ["no difference"])
  })
  it("tells none from too few rounds", () => {
    const { new: new_, old, ...few } = figure("≥ 2 ×", 3, 2)
    assert.deepStrictEqual(meaning({ ...few, old: old.slice(0, 5), new: new_.slice(0, 5) }), ["too few rounds"])
  })
  it("compares no figure that may be zero or negative", () => {
    const zero = { ...figure("≤ 1 MiB", 1, 1), new: steady(0) }
    const negative = { ...figure("≤ 1 MiB", 1, 1), old: steady(-1) }
    assert.deepStrictEqual(meaning(zero, negative), ["not comparable", "not comparable"])
  })
  it("shows the medians, their ratio and its interval", () => {
    const exact = {
      ...figure("≥ 2 ×", 1, 1),
      old: Array.from({ length: 9 }, () => 2),
      new: Array.from({ length: 9 }, () => 3)
    }
    assert.deepStrictEqual(Compare.lines([exact]), [["P0", "a peer", "2", "3", "1.5", "1.5–1.5", "better"]])
  })
})
