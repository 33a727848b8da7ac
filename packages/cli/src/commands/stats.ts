import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Statistics from "../internal/statistics.ts"
import * as TemplateId from "../internal/templateId.ts"
import * as Failure from "../internal/failure.ts"
import * as Output from "../internal/output.ts"
import * as Cli from "../internal/cli.ts"

interface Query {
  readonly region: string
  readonly since: string | DateTime.Utc
  readonly template: string
}

const expected = "an age such as 24h or 7d, or a date of the last 91 days"

const read = ({ region, since, template }: Query) =>
  Effect.catchTag(
    Assemblies.statistics({ region, since, ...(template === "none" ? {} : { templateId: template }) }),
    "StatisticsInvalidTime",
    () => {
      const value = typeof since === "string" ? since : DateTime.formatIso(since)
      return Effect.fail(Failure.invalidFlag("--since", value, expected))
    }
  )

/**
 * Reads the statistics. If the statistics of a Template are empty, the Template is looked up: the service counts by id,
 * but a user may have given the name of the Template, or a name that does not exist. If the Template cannot be read for
 * another reason, for example because the Auth Key lacks the scope, the empty statistics stay.
 */
const readNamed = Effect.fnUntraced(function* (query: Query) {
  const statistics = yield* read(query)
  const { template } = query
  if (statistics.totalAssemblies > 0 || template === "all" || template === "none") return statistics
  const id = yield* TemplateId.find(template).pipe(
    Effect.catch((error) => (error._tag === "CommandError" ? Effect.fail(error) : Effect.succeed(template)))
  )
  return id === template ? statistics : yield* read({ ...query, template: id })
})

/** Says that a region has no Assemblies, because the service may count 0 for a region that does not exist. */
const sayRegion = Effect.fnUntraced(function* (region: string, fromDate: DateTime.Utc) {
  const latest = yield* Effect.option(Assemblies.list({ fromDate, pageSize: 200 }))
  const items = Option.isSome(latest) ? latest.value.items : []
  const known = [...new Set(items.flatMap((entry) => entry.region ?? []))].toSorted()
  const elsewhere = known.length === 0 ? "" : `; the latest Assemblies ran in ${known.join(", ")}`
  yield* Output.hint(`no Assemblies in the region ${region} in this period${elsewhere}`)
})

/** A date that this program cannot parse is sent unchanged, because the service may accept it. */
const since = Cli.parsed(Cli.text("since", "when").pipe(Flag.withDefault("7d")), "since", expected, (text) =>
  Effect.map(DateTime.now, (now) => {
    const moment = Cli.parse(text, now)
    return Option.exists(moment, (at) => Cli.isFuture(at, now)) || text.trim() === ""
      ? Option.none()
      : Option.some({ text, moment })
  })
)

/** `assembly stats`: shows totals and charts since a moment. */
export const stats = Cli.command(
  "stats",
  {
    region: Cli.region,
    since,
    template: Flag.withDefault(Cli.text("template", "template"), "all"),
    json: Cli.json(AssemblyStatistics.Statistics),
    csv: Cli.flag("csv"),
    svg: Cli.flag("svg"),
    html: Cli.flag("html")
  },
  Effect.fnUntraced(function* ({ csv, html, json, region, since: { moment, text }, svg, template }) {
    const now = yield* DateTime.now
    const query = { region, template, since: Option.getOrElse(moment, () => text) }
    const statistics = yield* readNamed(query)
    const isEmpty = statistics.totalAssemblies === 0 && region !== "all"
    if (isEmpty)
      yield* sayRegion(
        region,
        Option.getOrElse(moment, () => DateTime.subtract(now, { days: 91 }))
      )
    const window = { from: Option.getOrUndefined(moment), to: now, region, template }
    if (csv) return yield* Output.lines(Statistics.csv(statistics))
    if (svg) return yield* Output.lines(Statistics.svg(statistics, window).split("\n"))
    if (html) return yield* Output.lines(Statistics.html(statistics, window).split("\n"))
    yield* Output.show(json, AssemblyStatistics.Statistics, statistics, (layout) =>
      Statistics.report(statistics, window, layout)
    )
  }),
  ({ csv, html, json, svg }) =>
    [csv, html, json !== false, svg].filter(Boolean).length > 1
      ? "give at most one of --json, --csv, --svg and --html"
      : undefined
)
