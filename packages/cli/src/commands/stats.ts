import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { jsonFlag } from "../internal/flags.ts"
import * as Moment from "../internal/moment.ts"
import * as Output from "../Output.ts"
import * as StatisticsReport from "../StatisticsReport.ts"

/** `assembly stats`: shows totals and charts since a moment. */
export const stats = Command.make(
  "stats",
  {
    region: Flag.String("region").pipe(Flag.withDescription("A region, or all (the default)"), Flag.withDefault("all")),
    since: Flag.String("since").pipe(
      Flag.withDescription("The start: an age (24h, 7d) or any date that the service accepts; at most 91 days ago"),
      Flag.withMetavar("when"),
      Flag.withDefault("7d")
    ),
    template: Flag.String("template").pipe(
      Flag.withDescription("A Template ID, or all (default: Assemblies without a Template)"),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, region, since, template }) {
    const now = yield* DateTime.now
    const moment = Moment.parse(since, now)
    const statistics = yield* Assemblies.statistics({
      region,
      // A date that this program cannot parse is sent unchanged, because the service may accept it (spec.md, "Retrieve
      // Assembly statistics").
      since: Option.getOrElse(moment, () => since),
      ...Option.match(template, { onNone: () => ({}), onSome: (templateId) => ({ templateId }) })
    })
    if (json) return yield* Output.json(AssemblyStatistics.Statistics)(statistics)
    const layout = yield* Output.layout
    yield* Output.report(
      StatisticsReport.render(statistics, { ...layout, from: Option.getOrUndefined(moment), to: now })
    )
  })
).pipe(Command.withDescription("Show the statistics of Assemblies"))
