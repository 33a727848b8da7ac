import { assert, it } from "@effect/vitest"
import { simulate } from "./simulation.ts"

const packing = { files: 100, bytes: 64 * 1024 * 1024, within: 2000 }
const batch = { files: 20_000, runners: 30, poison: 0.001, packing: undefined, seed: 1 }

it("the same seed simulates the same, another seed something else", () => {
  const seconds = [1, 1, 2].map((seed) => simulate({ ...batch, packing, seed }).seconds)
  assert.strictEqual(seconds[0], seconds[1])
  assert.notStrictEqual(seconds[0], seconds[2])
})

it("without packing an account uploads as many files as it may create Assemblies", () => {
  const { assemblies, failed, refusals, seconds, sent } = simulate(batch)
  assert.deepStrictEqual([assemblies, sent, refusals], [20_000, 20_000, 0])
  assert.closeTo(failed, 20, 15)
  assert.closeTo(assemblies / (seconds / 60), 237, 5)
})

it.each([
  [0.001, 20],
  [0.01, 6]
])("with packs and %d poison files it uploads at least %d times as many, and is not refused", (poison, least) => {
  const one = simulate({ ...batch, poison })
  const packs = simulate({ ...batch, poison, packing })
  assert.strictEqual(packs.failed, one.failed)
  assert.isAbove(one.seconds / packs.seconds, least)
  assert.isBelow(packs.refusals / packs.requests, 0.001)
  assert.isAbove(packs.waits.p99, packs.waits.p50)
})
