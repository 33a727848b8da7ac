import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Command from "effect/cli/Command"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { jsonFlag, switchFlag } from "../internal/flags.ts"
import * as FlagValue from "../internal/flagValue.ts"
import * as CommandError from "../CommandError.ts"
import * as Moment from "../internal/moment.ts"
import * as TemplateId from "../internal/templateId.ts"
import * as Output from "../Output.ts"
import * as StatisticsPage from "../StatisticsPage.ts"
import * as StatisticsReport from "../StatisticsReport.ts"

interface Query {
  readonly region: string
  readonly since: string | DateTime.Utc
  readonly template: string
}

const expected = "an age such as 24h or 7d, or a date of the last 91 days"

const read = ({ region, since, template }: Query) =>
  Assemblies.statistics({ region, since, ...(template === "none" ? {} : { templateId: template }) }).pipe(
    Effect.catchTag("StatisticsInvalidTime", () =>
      Effect.fail(
        new CommandError.InvalidFlag({
          flag: "--since",
          value: typeof since === "string" ? since : DateTime.formatIso(since),
          rule: expected
        })
      )
    )
  )

/**
 * The id of the Template with this id or name. Fails if no Template has this id or name. The result is `None` if the
 * Template cannot be read for another reason, for example because the Auth Key lacks the scope.
 */
const findTemplate = (template: string) =>
  Effect.asSome(TemplateId.find(template)).pipe(
    Effect.catch((error) => (error._tag === "UnknownTemplate" ? Effect.fail(error) : Effect.succeedNone))
  )

/**
 * Reads the statistics. If the statistics of a Template are empty, the Template is looked up: the service counts by id,
 * but a user may have given the name of the Template, or a name that does not exist.
 */
const readNamed = Effect.fnUntraced(function* (query: Query) {
  const statistics = yield* read(query)
  const { template } = query
  if (statistics.totalAssemblies > 0 || template === "all" || template === "none") return statistics
  const id = yield* findTemplate(template)
  return Option.isSome(id) && id.value !== template ? yield* read({ ...query, template: id.value }) : statistics
})

/** The regions of the latest Assemblies since a moment. The result is empty if the Assemblies cannot be listed. */
const regionsSince = (from: DateTime.Utc) =>
  Assemblies.list({ fromDate: from, pageSize: 200 }).pipe(
    Effect.map(({ items }) => [...new Set(items.flatMap(({ region }) => region ?? []))].toSorted()),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

/** Says that a region has no Assemblies, because the service may count 0 for a region that does not exist. */
const sayRegion = Effect.fnUntraced(function* (query: Query, from: DateTime.Utc) {
  if (query.region === "all") return
  const known = yield* regionsSince(from)
  const elsewhere = known.length === 0 ? "" : `; the latest Assemblies ran in ${known.join(", ")}`
  yield* Output.hint(`no Assemblies in the region ${query.region} in this period${elsewhere}`)
})

const formatFlag = (name: string, description: string) =>
  switchFlag(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const isOneFormat = (formats: ReadonlyArray<boolean>) =>
  formats.filter(Boolean).length > 1
    ? Effect.fail(new CliError.ValidationError({ message: "give at most one of --json, --csv, --svg and --html" }))
    : Effect.void

/** `assembly stats`: shows totals and charts since a moment. */
export const stats = Command.make(
  "stats",
  {
    region: Flag.String("region").pipe(
      Flag.withMetavar("region"),
      Flag.withDescription("A region, such as eu-west-1, or all (default: all)"),
      Flag.withDefault("all")
    ),
    since: Flag.String("since").pipe(
      Flag.withDescription(
        "The start: an age (24h, 7d) or any date that the service accepts; at most 91 days ago (default: 7d)"
      ),
      Flag.withMetavar("when"),
      Flag.withDefault("7d"),
      Flag.mapEffect((value) =>
        FlagValue.orInvalid(value.trim() === "" ? Option.none() : Option.some(value), {
          option: "since",
          value,
          expected
        })
      )
    ),
    template: Flag.String("template").pipe(
      Flag.withMetavar("template"),
      Flag.withDescription(
        "The id or the name of a Template, all, or none: only Assemblies without a Template (default: all)"
      ),
      Flag.withDefault("all")
    ),
    json: jsonFlag,
    csv: formatFlag("csv", "Print each bucket of the service as a line of CSV"),
    svg: formatFlag("svg", "Print the charts as a picture (SVG)"),
    html: formatFlag("html", "Print the report as a page without links to other files (HTML)")
  },
  Effect.fnUntraced(function* ({ csv, html, json, region, since, svg, template }) {
    const now = yield* DateTime.now
    const moment = Moment.parse(since, now)
    // A date that this program cannot parse is sent unchanged, because the service may accept it (spec.md, "Retrieve
    // Assembly statistics").
    const query = { region, template, since: Option.getOrElse(moment, () => since) }
    const statistics = yield* readNamed(query)
    const from = Option.getOrUndefined(moment)
    if (statistics.totalAssemblies === 0) yield* sayRegion(query, from ?? DateTime.subtract(now, { days: 91 }))
    const options = { from, to: now, region, template }
    if (json) return yield* Output.json(AssemblyStatistics.Statistics)(statistics)
    if (csv) return yield* Output.lines(StatisticsPage.csv(statistics))
    if (svg) return yield* Output.lines(StatisticsPage.svg(statistics, options).split("\n"))
    if (html) return yield* Output.lines(StatisticsPage.html(statistics, options).split("\n"))
    yield* Output.report(StatisticsReport.render(statistics, { ...(yield* Output.layout), from, to: now }))
  })
).pipe(
  Command.validate(({ csv, html, json, since, svg }) =>
    Effect.andThen(
      isOneFormat([csv, html, json, svg]),
      Effect.flatMap(DateTime.now, (now) =>
        Option.match(Moment.parse(since, now), {
          onNone: () => Effect.void,
          onSome: (from) => Moment.checkPeriod(from)
        })
      )
    )
  ),
  Command.withDescription("Show the statistics of Assemblies"),
  Command.withExamples([
    { command: "assembly stats --since 30d", description: "The last 30 days in the terminal" },
    { command: "assembly stats --since 30d --html > report.html", description: "The same as a page" }
  ])
)
