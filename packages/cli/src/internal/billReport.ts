/**
 * Renders the bill of a month: lines with a name and a value (`Facts`), and a table of robots. The service does not
 * document the fields of the plan and of the robots. So the name of each field is shown in words (`bytes_in` as `bytes
 * in`), and decides the unit of its number. All functions are pure.
 */
import type * as Bill from "@assembly-effect/schema/Bill"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Format from "../Format.ts"
import * as Style from "../Style.ts"
import * as Table from "../Table.ts"
import * as Cells from "./cells.ts"
import * as Facts from "./facts.ts"

/** An amount with two decimals, or more if the service reports parts of a cent. */
const decimals = { minimumFractionDigits: 2, maximumFractionDigits: 6 } as const

const money = (amount: number | null | undefined, currency: string | null | undefined): string | undefined =>
  amount === null || amount === undefined
    ? undefined
    : [amount.toLocaleString("en-US", decimals), currency ?? ""].join(" ").trim()

/**
 * Fields of the bill that other commands show too, with the names that those commands use. In the table of robots,
 * fields with the same names are other quantities: what the Steps of the robot have read and made.
 */
const quantities: Readonly<Record<string, string>> = { bytes_in: "Received", bytes_out: "Result bytes" }

/** The name of a field in words: `bytes_in` is `bytes in`. */
const words = (name: string): string => name.replaceAll("_", " ").trim() || name

const title = (name: string): string => words(name).replace(/^./u, (first) => first.toUpperCase())

/** A number with the unit that its name implies. */
const quantity = (name: string, value: number, currency: string | null | undefined): string => {
  if (/(?:^|_)bytes(?:_|$)/.test(name)) return Format.bytes(value)
  if (/(?:^|_)price(?:_|$)/.test(name)) return money(value, currency) ?? ""
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 })
}

/** A value as one line, such as `steps 2` or `emulator, price per gigabyte 1.00 USD`. */
const details = (value: unknown, currency: string | null | undefined): string =>
  Predicate.isObject(value)
    ? Object.entries(value)
        .map(([name, part]) => {
          if (name === "name") return Cells.json(part)
          return `${words(name)} ${typeof part === "number" ? quantity(name, part, currency) : Cells.json(part)}`
        })
        .join(", ")
    : Cells.json(value)

/** The use of each robot. The result is undefined if the service does not report the use as named numbers. */
const numbersOf = (robots: object): ReadonlyArray<readonly [string, Readonly<Record<string, number>>]> | undefined => {
  const rows = Object.entries(robots)
  const isNumbers = (use: unknown): use is Readonly<Record<string, number>> =>
    Predicate.isObject(use) && Object.values(use).every((value) => typeof value === "number")
  return rows.every((row): row is [string, Readonly<Record<string, number>>] => isNumbers(row[1])) ? rows : undefined
}

const table = (
  robots: Schema.Json | undefined,
  currency: string | null | undefined,
  layout: Table.Options
): ReadonlyArray<Style.Line> => {
  if (!Predicate.isObject(robots) || Object.keys(robots).length === 0) return []
  const rows = numbersOf(robots)
  if (rows === undefined) {
    const columns: ReadonlyArray<Table.Column<readonly [robot: string, use: unknown]>> = [
      { title: "Robot", value: ([robot]) => robot, keep: true },
      { title: "Use", value: ([, use]) => details(use, currency), least: 20, wrap: true }
    ]
    return Table.render(columns, Object.entries(robots), layout)
  }
  const names = [...new Set(rows.flatMap(([, use]) => Object.keys(use)))]
  const sums = Object.fromEntries(
    names.map((name) => [name, rows.reduce((sum, [, use]) => sum + (use[name] ?? 0), 0)] as const)
  )
  const columns: ReadonlyArray<Table.Column<(typeof rows)[number]>> = [
    { title: "Robot", value: ([robot]) => robot, keep: true },
    ...names.map((name): Table.Column<(typeof rows)[number]> => ({
      title: title(name),
      align: "right",
      value: ([, use]) => {
        const value = Object.hasOwn(use, name) ? use[name] : undefined
        return value === undefined ? Cells.unknown : quantity(name, value, currency)
      },
      keep: true
    }))
  ]
  return Table.render(columns, rows.length === 1 ? rows : [...rows, ["all robots", sums]], layout)
}

/** The fields that {@link further} leaves out, because {@link render} shows them. */
const named = new Set(["month", "total", "sub_total", "credit"])

/** Further numbers of the bill, such as the number of Assemblies. */
const further = (bill: Bill.Bill): ReadonlyArray<Facts.Fact> =>
  Object.entries(bill).flatMap(([name, value]): ReadonlyArray<Facts.Fact> =>
    typeof value !== "number" || named.has(name) || /(?:^|_)id$/.test(name)
      ? []
      : [
          [
            Object.hasOwn(quantities, name) ? (quantities[name] ?? "") : title(name),
            quantity(name, value, bill.currency)
          ]
        ]
  )

/** Renders a bill. `month` is the month that the user asked for. */
export const render = (bill: Bill.Bill, month: string, layout: Table.Options = {}): ReadonlyArray<Style.Line> => {
  const { credit, currency, plan, sub_total, total } = bill
  const facts: ReadonlyArray<Facts.Fact> = [
    ["Month", bill.month ?? month],
    ["Total", money(total, currency)],
    ["Subtotal", money(sub_total, currency)],
    ["Credit", money(credit, currency)],
    ["Plan", plan === undefined || plan === null ? undefined : details(plan, currency)],
    ["Invoice", bill.invoice_id],
    ...further(bill)
  ]
  const robots = table(bill.robots, currency, layout)
  return [...Facts.render(facts, layout), ...(robots.length === 0 ? [] : [Style.blank, ...robots])]
}
