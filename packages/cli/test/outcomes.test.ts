import type * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import { expect, it } from "@effect/vitest"
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
