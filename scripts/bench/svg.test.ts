import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Growth from "./growth.ts"
import * as Svg from "./svg.ts"

const Positive = Schema.Number.check(Schema.isBetween({ minimum: 1e-6, maximum: 1e9 }))
const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const Points = Schema.Array(Schema.Struct({ x: Size, y: Positive })).check(Schema.isMinLength(1), Schema.isMaxLength(8))
const Lines = Schema.Array(Schema.Struct({ name: Schema.String, points: Points })).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(5)
)

const toChart = (lines: typeof Lines.Type): Svg.Chart => ({
  title: "a title",
  x: "size",
  y: "cost (ms)",
  lines: lines.map(({ name, points }) => ({
    name,
    points: points.map(({ x, y }) => ({ x, y, low: y / 2, high: y * 2 }))
  }))
})

const charts = Arbitrary.sampleEffect(Arbitrary.schema(Lines), { count: 300, seed: 1 })

/** The values of an attribute. */
const values = (text: string, attribute: string) =>
  Array.from(text.matchAll(new RegExp(` ${attribute}="([^"]*)"`, "g")), ([, value = ""]) => value)

describe("Svg.draw", () => {
  it.effect("places everything inside the picture", () =>
    Effect.gen(function* () {
      for (const lines of yield* charts) {
        const svg = Svg.draw(toChart(lines))
        assert.notMatch(svg, /NaN|Infinity|undefined/)
        for (const x of ["x", "x1", "x2", "cx"].flatMap((name) => values(svg, name)).map(Number)) {
          assert.isTrue(x >= 0 && x <= 760, `${x}`)
        }
        for (const y of ["y", "y1", "y2", "cy"].flatMap((name) => values(svg, name)).map(Number)) {
          assert.isTrue(y >= 0 && y <= 460, `${y}`)
        }
      }
    })
  )
  it.effect("places a larger value further right and higher", () =>
    Effect.gen(function* () {
      for (const [{ points = [] } = {}] of yield* charts) {
        const svg = Svg.draw(toChart([{ name: "one", points }]))
        const places = (values(svg, "points")[0] ?? "").split(" ").map((place) => place.split(",").map(Number))
        for (const [i, [xi = 0, yi = 0]] of places.entries()) {
          for (const [j, [xj = 0, yj = 0]] of places.entries()) {
            const [a, b] = [points[i], points[j]]
            if (a === undefined || b === undefined) continue
            if (a.x < b.x) assert.isAtMost(xi, xj)
            if (a.y < b.y) assert.isAtLeast(yi, yj)
          }
        }
      }
    })
  )
  it("shows names as text", () => {
    const svg = Svg.draw(toChart([{ name: `<a href="x">&`, points: [{ x: 1, y: 1 }] }]))
    assert.include(svg, "&lt;a href=&quot;x&quot;&gt;&amp;")
    assert.notInclude(svg, "<a ")
  })
  it("draws linear growth along a dashed line", () => {
    const points = [1, 10, 100].map((x) => ({ x, y: 5 * x }))
    const svg = Svg.draw(toChart([{ name: "one", points }]))
    const [guide = ""] = svg.match(/<line class="guide" x1[^>]*y1="402"[^>]*>/) ?? []
    const slope = (x1: number, y1: number, x2: number, y2: number) => (y2 - y1) / (x2 - x1)
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = ["x1", "y1", "x2", "y2"].map((name) => Number(values(guide, name)[0]))
    const [a = [], b = []] = (values(svg, "points")[0] ?? "").split(" ").map((place) => place.split(",").map(Number))
    assert.closeTo(slope(a[0] ?? 0, a[1] ?? 0, b[0] ?? 0, b[1] ?? 0), slope(x1, y1, x2, y2), 1e-3)
  })
})

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
