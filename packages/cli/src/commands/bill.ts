import * as Billing from "@assembly-effect/api/Billing"
import * as Bill from "@assembly-effect/schema/Bill"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as BillReport from "../internal/billReport.ts"
import { jsonFlag } from "../internal/flags.ts"
import * as Output from "../Output.ts"

const thisMonth = Effect.map(DateTime.now, (now) => Bill.Month.make(DateTime.formatIsoDateUtc(now).slice(0, 7)))

/** `assembly bill`: the bill of a month. */
export const bill = Command.make(
  "bill",
  {
    month: Argument.String("month").pipe(
      Argument.withDescription("The month as YYYY-MM (default: the current month in UTC)"),
      Argument.withSchema(Bill.Month),
      Argument.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, month: asked }) {
    const month = Option.isSome(asked) ? asked.value : yield* thisMonth
    const found = yield* Billing.get(month)
    if (json) return yield* Output.json(Bill.Bill)(found)
    yield* Output.report(BillReport.render(found, month, yield* Output.layout))
  })
).pipe(
  Command.withExamples([
    { command: "assembly bill 2026-01", description: "The bill of January 2026" },
    { command: "assembly bill 2026-01 --json | jq .total", description: "Only its total" }
  ])
)
