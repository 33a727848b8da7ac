import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { join } from "node:path"
import { printedIn } from "@assembly-effect/testkit/printed/PrintedTypes"

const common = "InvalidRequest | RateLimited | ServiceFailure | TimedOut | TransportFailure | UnexpectedResponse".split(
  " | "
)
const union = (...more: ReadonlyArray<string>) => [...common, ...more].toSorted().join(" | ")

const signed = union("AuthenticationFailed")
const listing = union("AuthenticationFailed", "AssemblyListFailed")
const statistics = union(
  "AuthenticationFailed",
  "StatisticsInvalidTime",
  "StatisticsMissingRegion",
  "StatisticsUnavailable"
)
const moving = union(
  "AuthenticationFailed",
  "DamInvalidRequest",
  "DamResourceNotFound",
  "DamMutationConflict",
  "DamMutationFailed"
)
const ending = union("AssemblyFailed", "AssemblyCanceled", "AssemblyAborted")

describe("the printed types", () => {
  it.live("a public operation has the name of its result and the flat list of its errors", function* () {
    const printed = yield* Effect.promise(() => printedIn(join(import.meta.dirname, "printed", "functions.ts")))
    const results = printed.map((type) => type.replace(/^\(.*\) => /, ""))
    assert.deepStrictEqual(results, [
      `Effect<Statistics, ${statistics}, AssemblyClient>`,
      `Effect<Page, ${listing}, AssemblyClient>`,
      `Stream<Page, ${listing}, AssemblyClient>`,
      `Stream<Entry, ${listing}, AssemblyClient>`,
      `Effect<Status, ${signed}, AssemblyClient>`,
      `Effect<Status, ${union()}, AssemblyClient>`,
      `Effect<Status, ${union()}, AssemblyClient>`,
      `Effect<Status, ${ending}, AssemblyClient>`,
      `Stream<Status, ${union()}, AssemblyClient>`,
      `Effect<Moved, ${moving}, AssemblyClient>`,
      `Effect<Page, ${listing}, never>`,
      `Effect<Moved, ${moving}, never>`,
      `Effect<Replayed, ${union("AuthenticationFailed")}, AssemblyClient>`,
      `Effect<Created, ${union("AuthKeyNotCreated", "AuthenticationFailed")}, AssemblyClient>`,
      `Effect<Statistics, ${union("JobSlotStatisticsInvalidAggregation", "JobSlotStatisticsInvalidTime", "JobSlotStatisticsMissingRegion", "JobSlotStatisticsUnavailable", "AuthenticationFailed")}, AssemblyClient>`,
      `Effect<DeletedMany, ${union("DamInvalidRequest", "DamResourceNotFound", "DamMutationConflict", "DamMutationFailed", "AuthenticationFailed")}, AssemblyClient>`,
      `Effect<Page, ${union("TemplateListFailed", "AuthenticationFailed")}, AssemblyClient>`,
      `Stream<Page, ${union("TemplateListFailed", "AuthenticationFailed")}, AssemblyClient>`,
      `Stream<Item, ${union("TemplateListFailed", "AuthenticationFailed")}, AssemblyClient>`,
      `Effect<Page, ${union("DamInvalidRequest", "DamResourceNotFound", "AuthenticationFailed")}, AssemblyClient>`,
      `Stream<Page, ${union("DamInvalidRequest", "DamResourceNotFound", "AuthenticationFailed")}, AssemblyClient>`,
      `Stream<Asset, ${union("DamInvalidRequest", "DamResourceNotFound", "AuthenticationFailed")}, AssemblyClient>`
    ])
  })
})
