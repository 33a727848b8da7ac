/**
 * Compares the statistics of several regions, with three concurrent requests. If the statistics of a region cannot be
 * loaded, its line of the report shows the error, and the report continues.
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
