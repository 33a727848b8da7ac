import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as AssemblyTable from "../AssemblyTable.ts"
import { jsonFlag, repeated, switchFlag } from "../internal/flags.ts"
import * as Moment from "../internal/moment.ts"
import * as Pages from "../internal/pages.ts"
import * as WholeNumber from "../internal/wholeNumber.ts"
import * as Output from "../Output.ts"
import type * as Table from "../Table.ts"

const pageFlag = WholeNumber.flag("page", { minimum: 1 }).pipe(
  Flag.withDescription("The page number, from 1 (default: 1)"),
  Flag.withDefault(AssemblyList.defaults.page)
)

const pageSizeFlag = WholeNumber.flag("page-size", { minimum: 1, maximum: 5000 }).pipe(
  Flag.withDescription("Assemblies per page, 1 to 5000 (default: 50; 500 with --all)")
)

const rangeFlags = {
  from: Moment.startFlag("since", "7d").pipe(
    Flag.withAlias("from"),
    Flag.withDescription("Only Assemblies created after this age (24h, 7d) or date (default: 7d)")
  ),
  to: Moment.endFlag("until").pipe(
    Flag.withAlias("to"),
    Flag.withDescription("Only Assemblies created before this age or date (default: now)"),
    Flag.optional
  )
}

/** Prints each page of a stream when it arrives: as JSON with one Assembly on each line, or as a table. */
const printAll = <E, R>(pages: Stream.Stream<AssemblyList.Page, E, R>, json: boolean) =>
  Effect.gen(function* () {
    if (json) {
      return yield* Stream.runDrain(Output.whileRead(pages, ({ items }) => Output.jsonLines(AssemblyList.Entry)(items)))
    }
    const layout = { ...(yield* Output.layout), now: yield* DateTime.now }
    let table: Table.Opened<AssemblyList.Entry> | undefined
    yield* Stream.runDrain(
      Output.whileRead(pages, ({ items }) => {
        const isFirst = table === undefined
        const shown = (table ??= AssemblyTable.open(items, layout))
        const lines = [...(isFirst ? shown.head : []), ...shown.rows(items)]
        return lines.length > 0 ? Output.report(lines) : Effect.void
      })
    )
    if (table === undefined) return yield* Output.report(AssemblyTable.render([], layout))
    if (table.end.length > 0) yield* Output.report(table.end)
  })

/** `assembly list`: lists the Assemblies that were created in a window of time, newest first. */
export const list = Command.make(
  "list",
  {
    ...rangeFlags,
    type: Flag.Literals("type", AssemblyList.AssemblyType.literals).pipe(
      Flag.withDescription("Only Assemblies in this state (default: all)"),
      Flag.withDefault(AssemblyList.defaults.type)
    ),
    keywords: repeated(
      Flag.String("keyword").pipe(
        Flag.withMetavar("text"),
        Flag.withDescription(
          "Only Assemblies with this text in id, URLs, fields, errors or file names; may be repeated"
        )
      )
    ),
    page: pageFlag,
    pageSize: Flag.optional(pageSizeFlag),
    all: switchFlag("all").pipe(
      Flag.withDescription("All pages from --page on, printed as they arrive; with --json one Assembly a line"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ all, from, json, keywords, page, pageSize, to, type }) {
    const query = {
      fromDate: from,
      ...Option.match(to, { onNone: () => ({}), onSome: (toDate) => ({ toDate }) }),
      type,
      keywords,
      page,
      // A whole list is faster with more Assemblies in each response.
      pageSize: Option.getOrElse(pageSize, () => (all ? 500 : AssemblyList.defaults.pageSize))
    }
    const asked = { page, pageSize: query.pageSize, what: "Assemblies" }
    if (all) {
      const pages = Stream.mapEffect(Assemblies.listPages(query), (found, index) =>
        index === 0 ? Effect.as(Pages.check(found, asked), found) : Effect.succeed(found)
      )
      return yield* printAll(pages, json)
    }
    const found = yield* Assemblies.list(query)
    yield* Pages.check(found, asked)
    if (json) return yield* Output.json(AssemblyList.Page)(found)
    yield* Output.report(AssemblyTable.render(found.items, { ...(yield* Output.layout), now: yield* DateTime.now }))
    if (found.count !== undefined && found.count > found.items.length) {
      yield* Output.lines(["", `page ${page}: ${found.items.length} of ${found.count}; --all lists all`])
    }
  })
).pipe(
  Command.validate(({ from, to }) => Moment.checkPeriod(from, Option.getOrUndefined(to))),
  Command.withDescription("List Assemblies, newest first"),
  Command.withExamples([
    { command: "assembly list --since 24h --type failed", description: "What failed in the last day" },
    { command: "assembly list --all --json --since 30d | jq -r .id", description: "All ids of 30 days" }
  ])
)
