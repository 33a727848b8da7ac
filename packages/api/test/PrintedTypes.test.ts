import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { printedIn } from "../../../test/printed/PrintedTypes.ts"

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

describe("an editor shows", () => {
  it.live("each public function with the name of its result and the list of its errors", () =>
    Effect.gen(function* () {
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
        `Effect<Moved, ${moving}, never>`
      ])
    })
  )
})
