import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import { expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Outcomes from "../src/internal/outcomes.ts"
import { statistics } from "./support/answers.ts"

const found = statistics as AssemblyStatistics.Statistics

const totals = (changes: Partial<AssemblyStatistics.StatsBucket>) => {
  const stats = found.stats.map((bucket) => ({ ...bucket, ...changes }))
  return Object.fromEntries(
    Outcomes.all.map((outcome) => [outcome.key, Outcomes.total({ ...found, stats }, outcome)] as const)
  )
}

it("an aborted request counts like a cancellation, and not as unfinished", () => {
  expect(totals({ num_assemblies: 9, num_cancelled_assemblies: 2, num_request_aborted_assemblies: 3 })).toEqual({
    completed: 2,
    failed: 1,
    canceled: 5,
    unfinished: 1
  })
})

it("no number of unfinished Assemblies is negative, although the service counts an Assembly twice", () => {
  expect(totals({ num_assemblies: 2 })).toMatchObject({ completed: 2, failed: 1, unfinished: 0 })
})

it("the window of a report is the time of its buckets, or the given time", () => {
  const [bucket] = found.stats
  const stats = [7200, 3600, 10_800].flatMap((time) =>
    bucket === undefined ? [] : [{ ...bucket, data_from_ts: time }]
  )
  expect(Outcomes.windowOf({ ...found, stats }, {})).toEqual({
    from: 3_600_000,
    to: 10_800_000,
    granularity: 3_600_000
  })
  const [from, to] = [DateTime.makeUnsafe(1000), DateTime.makeUnsafe(2000)]
  expect(Outcomes.windowOf({ ...found, stats }, { from, to })).toMatchObject({ from: 1000, to: 2000 })
})
