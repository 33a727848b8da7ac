import * as Operations from "@assembly-effect/api/Assemblies"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Region from "../assembly/region.ts"
import * as Since from "../data/since.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as StatisticsStore from "./statisticsStore.ts"

const invalidRegion = (message: string) => Refusal.named("ASSEMBLY_STATS_MISSING_REGION", message)
const invalidTime = (message: string) => Refusal.named("ASSEMBLY_STATS_INVALID_TIME", message)

/**
 * Reports a missing or invalid region first. A form or `params` that cannot be read has the error code of a missing
 * region. All other issues have the error code of an invalid time, because the specification defines no further code
 * for invalid params.
 */
const invalid = (issues: ReadonlyArray<Issue>): Refusal.Refusal => {
  const [first] = issues
  const missing = issues.some(({ path: [key] }) => key === undefined || key === "params" || key === "region")
  return missing
    ? invalidRegion("Set region to a region or all.")
    : invalidTime(`${first?.path.join(".")}: ${first?.message}`)
}

const routes = Effect.gen(function* () {
  const statistics = yield* StatisticsStore.make

  return yield* Effect.all([
    Route.signed(Operations.Statistics, {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const problem = Region.problemOf(params.region)
        if (problem !== undefined) return yield* invalidRegion(problem)
        const since = yield* Since.read(params.since, yield* DateTime.now, invalidTime)
        return yield* statistics.count({ ...params, workspace: authKey.workspace, since })
      })
    })
  ])
})

/** The route `/assembly_stats`. */
export const layer = HttpRouter.addAll(routes)
