import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Overview from "./overview.ts"

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8")

/** The lengths of the bars. The first rectangle is the background. */
const lengths = (svg: string) =>
  Array.from(svg.matchAll(/<rect [^>]*?width="(\d+)"/g), ([, value]) => Number(value)).slice(1)

const row = (ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>, unit = "MB/s"): Overview.Measured => ({
  figures: [{ peer: "tus-js-client", unit, samples: { ours, theirs } }]
})

describe("Overview.draw", () => {
  it("draws the medians in proportion, with their unit", () => {
    const svg = Overview.draw({ P1: row([900, 1000, 4000], [250, 200, 900]) })
    const [ours = 0, theirs = 0, ...others] = lengths(svg)
    assert.strictEqual(theirs / ours, 0.25)
    assert.deepStrictEqual(others, [])
    assert.include(svg, ">1,000 MB/s<")
    assert.include(svg, ">250 MB/s<")
  })
  it("says whether more or less is better", () => {
    assert.include(Overview.draw({ P1: row([1], [2]) }), "more is better")
    assert.include(Overview.draw({ P1: row([1], [2], "ms") }), "less is better")
  })
  it("leaves out a row that was not measured", () => {
    assert.deepStrictEqual(lengths(Overview.draw({ P1: row([1], []), P2: row([1], [2]) })), [])
  })
  it("drew docs/benchmarks/overview.svg from the figures in docs/benchmarks.json", () => {
    assert.strictEqual(read("benchmarks/overview.svg"), Overview.draw(JSON.parse(read("benchmarks.json"))))
  })
})
