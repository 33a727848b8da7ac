import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AssemblyTable from "../AssemblyTable.ts"
import { jsonFlag } from "../internal/flags.ts"
import * as Moment from "../internal/moment.ts"
import * as Output from "../Output.ts"

const pageFlag = Flag.Int("page").pipe(
  Flag.withDescription("The page number, from 1"),
  Flag.withSchema(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  Flag.withDefault(AssemblyList.defaults.page)
)

const pageSizeFlag = Flag.Int("page-size").pipe(
  Flag.withDescription("Assemblies per page, 1 to 5000"),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5000 }))),
  Flag.withDefault(AssemblyList.defaults.pageSize)
)

/** `assembly list`: lists the Assemblies that were created in a window of time, newest first. */
export const list = Command.make(
  "list",
  {
    from: Moment.startFlag("from", "7d").pipe(
      Flag.withDescription("Only Assemblies created after this date or age (default: 7d)")
    ),
    to: Moment.endFlag("to").pipe(
      Flag.withDescription("Only Assemblies created before this date or age"),
      Flag.optional
    ),
    type: Flag.Literals("type", AssemblyList.AssemblyType.literals).pipe(
      Flag.withDescription("Only Assemblies in this state"),
      Flag.withDefault(AssemblyList.defaults.type)
    ),
    keywords: Flag.String("keyword").pipe(
      Flag.withDescription("Only Assemblies with this text in id, URLs, fields, errors or file names; may be repeated"),
      Flag.atLeast(0)
    ),
    page: pageFlag,
    pageSize: pageSizeFlag,
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ from, json, keywords, page, pageSize, to, type }) {
    const found = yield* Assemblies.list({
      fromDate: from,
      ...Option.match(to, { onNone: () => ({}), onSome: (toDate) => ({ toDate }) }),
      type,
      keywords,
      page,
      pageSize
    })
    if (json) return yield* Output.json(AssemblyList.Page)(found)
    yield* Output.report(AssemblyTable.render(found.items, yield* Output.layout))
    if (found.count !== undefined && found.count > found.items.length) {
      yield* Output.lines(["", `page ${page}: ${found.items.length} of ${found.count} Assemblies`])
    }
  })
).pipe(Command.withDescription("List Assemblies, newest first"))
