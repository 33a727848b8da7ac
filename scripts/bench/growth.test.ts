import { assert, describe, it } from "@effect/vitest"
import * as Growth from "./growth.ts"

describe("Growth.worstStep", () => {
  const sizes = [1, 10, 100, 1000]
  const of = (cost: (size: number) => number) => Growth.worstStep(sizes.map((size) => ({ size, cost: cost(size) })))
  it("is 1 for linear growth, less for less and more for more", () => {
    assert.closeTo(
      of((size) => 7 * size),
      1,
      1e-9
    )
    assert.closeTo(
      of(() => 7),
      0.1,
      1e-9
    )
    assert.closeTo(
      of((size) => size * size),
      10,
      1e-9
    )
    assert.isBelow(
      of((size) => 100 + size),
      1
    )
  })
  it("finds growth that one step hides", () => {
    assert.closeTo(
      of((size) => (size < 100 ? size : 5 * size)),
      5,
      1e-9
    )
  })
  it("leaves out steps that are small", () => {
    assert.closeTo(
      Growth.worstStep([
        { size: 10, cost: 1 },
        { size: 11, cost: 100 },
        { size: 100, cost: 10 }
      ]),
      10 / 100 / (100 / 11),
      1e-9
    )
  })
})
