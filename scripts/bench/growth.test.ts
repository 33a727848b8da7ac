import { assert, describe, it } from "@effect/vitest"
import * as Growth from "./growth.ts"

/** The costs of sizes, as pairs. */
const worst = (...costs: ReadonlyArray<readonly [size: number, cost: number]>) =>
  Growth.worstStep(costs.map(([size, cost]) => ({ size, cost })))

describe("Growth.worstStep", () => {
  it("is 1 for linear growth, less for less and more for more", () => {
    assert.closeTo(worst([1, 7], [10, 70], [100, 700]), 1, 1e-9)
    assert.closeTo(worst([1, 7], [10, 7], [100, 7]), 0.1, 1e-9)
    assert.closeTo(worst([1, 1], [10, 100], [100, 10_000]), 10, 1e-9)
  })
  it("finds growth that one step hides", () => {
    assert.closeTo(worst([1, 1], [10, 10], [100, 500], [1000, 5000]), 5, 1e-9)
  })
  it("leaves out steps that are small", () => {
    assert.closeTo(worst([10, 1], [11, 100], [100, 10]), 10 / 100 / (100 / 11), 1e-9)
  })
})
