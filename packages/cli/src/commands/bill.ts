import * as Billing from "@assembly-effect/api/Billing"
import * as Bill from "@assembly-effect/schema/Bill"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Cells from "../internal/cells.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag } from "../internal/flags.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Table from "../Table.ts"

const thisMonth = Effect.map(DateTime.now, (now) => Bill.Month.make(DateTime.formatIsoDateUtc(now).slice(0, 7)))

/** A value of a form that the service does not document, such as `{ steps: 2, bytes: 5 }`, as one line. */
const details = (value: unknown): string =>
  Predicate.isObject(value)
    ? Object.entries(value)
        .map(([name, part]) => `${name}: ${Cells.json(part)}`)
        .join(", ")
    : Cells.json(value)

interface RobotRow {
  readonly robot: string
  readonly use: string
}

const columns: ReadonlyArray<Table.Column<RobotRow>> = [
  { title: "Robot", value: ({ robot }) => robot, keep: true },
  { title: "Use", value: ({ use }) => use, least: 20, wrap: true }
]

const rowsOf = (robots: Schema.Json | undefined): ReadonlyArray<RobotRow> =>
  Predicate.isObject(robots) ? Object.entries(robots).map(([robot, use]) => ({ robot, use: details(use) })) : []

/** An amount with two decimals, or more if the service reports parts of a cent. */
const decimals = { minimumFractionDigits: 2, maximumFractionDigits: 6 } as const

const money = (amount: number | null | undefined, currency: string | null | undefined): string | undefined =>
  amount === null || amount === undefined
    ? undefined
    : [amount.toLocaleString("en-US", decimals), currency ?? ""].join(" ").trim()

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
    const { credit, currency, sub_total, total } = found
    const facts: ReadonlyArray<Facts.Fact> = [
      ["Month", found.month ?? month],
      ["Total", money(total, currency)],
      ["Subtotal", money(sub_total, currency)],
      ["Credit", money(credit, currency)],
      ["Plan", found.plan === undefined || found.plan === null ? undefined : details(found.plan)],
      ["Invoice", found.invoice_id]
    ]
    const layout = yield* Output.layout
    const robots = rowsOf(found.robots)
    yield* Output.report([
      ...Facts.render(facts, layout),
      ...(robots.length === 0 ? [] : [Style.blank, ...Table.render(columns, robots, layout)])
    ])
  })
).pipe(
  Command.withExamples([
    { command: "assembly bill 2026-01", description: "The bill of January 2026" },
    { command: "assembly bill 2026-01 --json | jq .total", description: "Only its total" }
  ])
)
