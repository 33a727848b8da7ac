/**
 * The statistics of several regions side by side: three requests at a time, and a region whose statistics cannot be
 * loaded is a line of the report, not the end of it.
 */
import { Assemblies } from "@assembly-effect/api"
import { DateTime, Effect } from "effect"

export const report = (regions: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const since = DateTime.subtract(yield* DateTime.now, { days: 30 })
    return yield* Effect.forEach(
      regions,
      (region) =>
        Assemblies.statistics({ region, since, templateId: "all" }).pipe(
          Effect.map(({ totalAssemblies }) => `${region}: ${totalAssemblies} Assemblies`),
          Effect.catchTags({
            StatisticsUnavailable: () => Effect.succeed(`${region}: not available`),
            StatisticsMissingRegion: () => Effect.succeed(`${region}: no such region`)
          })
        ),
      { concurrency: 3 }
    )
  })
