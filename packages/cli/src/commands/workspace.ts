/** The commands about the Workspace as a whole: its bill, its notifications and its job slots. */
import * as Billing from "@assembly-effect/api/Billing"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Queues from "@assembly-effect/api/Queues"
import * as Bill from "@assembly-effect/schema/Bill"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Queue from "@assembly-effect/schema/Queue"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { Argument, Command, Flag } from "effect/cli"
import { DateTime, Effect, Option, Predicate } from "../internal/effect.ts"
import { Cli, Output, Table, Text } from "../internal/index.ts"

/** The given month, or the current month in UTC. */
const monthOf = (month: Option.Option<Bill.Month>, now: DateTime.DateTime) =>
  Option.getOrElse(month, () => Bill.Month.make(DateTime.formatIsoDateUtc(now).slice(0, 7)))

/** `assembly bill`: the bill of a month. */
export const bill = Cli.query(
  "bill",
  { month: Argument.optional(Argument.withSchema(Cli.argument("month"), Bill.Month)) },
  Bill.Bill,
  ({ month }) => Effect.flatMap(DateTime.now, (now) => Billing.get(monthOf(month, now))),
  (found, layout, { month }) => render(found, monthOf(month, layout.now), layout)
)

const paintStatus = (text: string, { status }: Notification.Notification, style: Text.Style): string =>
  status === "successful" ? style.green(text) : status === "error" ? style.red(text) : style.yellow(text)

const notificationColumns = ({ now }: Output.Layout): ReadonlyArray<Table.Column<Notification.Notification>> => [
  Table.timeColumn("Sent", ({ start }) => start, now),
  { title: "Status", value: ({ status }) => Table.known(status), style: paintStatus, keep: true },
  { title: "Response", align: "right", value: ({ response_code: code }) => Table.known(code?.toString()), keep: true },
  { title: "URL", value: ({ url }) => Table.known(url) },
  { title: "Error", value: ({ error }) => Table.known(error) }
]

const list = Cli.query(
  "notifications list",
  { assemblyId: Cli.assemblyId },
  Notification.Listing,
  ({ assemblyId }) => Notifications.list(assemblyId),
  (found, layout) =>
    Table.render(notificationColumns(layout), found.notifications, { ...layout, empty: "no notifications" })
)

const replay = Cli.query(
  "notifications replay",
  { assemblyId: Cli.assemblyId, notifyUrl: Cli.optional("url", "url"), wait: Cli.choice("wait") },
  Notification.Replayed,
  ({ assemblyId, ...options }) => Notifications.replay(assemblyId, Cli.given(options)),
  (replayed) => Output.sentence(`sent notification ${replayed.notification_id}`)
)

/** `assembly notifications`: the requests of the service to the `notify_url` of an Assembly. */
export const notifications = Cli.group("notifications", [list, replay])

type Slot = readonly [name: string, count: number]

/** The numbers of slots, with the names of the levels joined by ` › `. */
const flatten = (slots: Queue.Slots, above: ReadonlyArray<string> = []): ReadonlyArray<Slot> =>
  Object.entries(slots).flatMap(([name, value]): ReadonlyArray<Slot> =>
    typeof value === "number" ? [[[...above, name].join(" › "), value]] : flatten(value, [...above, name])
  )

const slotsOf = (count: number | null | undefined): string =>
  Table.of(count, (found) => String(Number(found.toFixed(2))))

const slotColumns: ReadonlyArray<Table.Column<Slot>> = [
  { title: "Jobs", value: ([name]) => name },
  { title: "Slots", align: "right", value: ([, count]) => Text.count(count) }
]

const startOf = ({ data_from_ts: seconds }: Queue.Bucket) =>
  Table.minute(Option.getOrUndefined(DateTime.make(seconds * 1000)))

const bucketColumns: ReadonlyArray<Table.Column<Queue.Bucket>> = [
  { title: "From (UTC)", value: startOf, keep: true },
  { title: "Average", align: "right", value: (bucket) => slotsOf(bucket.avg_slot_count) },
  { title: "Maximum", align: "right", value: (bucket) => slotsOf(bucket.max_slot_count) }
]

/** Whether a job ran in the period of the bucket. */
const isUsed = ({ avg_slot_count, max_slot_count, slot_count }: Queue.Bucket): boolean =>
  [avg_slot_count, max_slot_count, slot_count].some((count) => typeof count === "number" && count !== 0)

const stats = Cli.query(
  "queues stats",
  {
    region: Cli.region,
    since: Cli.startFlag("since", "7d"),
    aggregation: Flag.optional(Flag.Literals("aggregation", ["avg", "max"]))
  },
  Queue.Statistics,
  ({ aggregation, region, since }) =>
    Effect.catchTag(
      Queues.statistics({ region, since, ...Cli.given({ aggregation }) }),
      "JobSlotStatisticsInvalidTime",
      () => Effect.fail(Cli.refusedStart(since))
    ),
  (found, layout, { region }) => [
    ...Table.facts(
      [
        ["Average", slotsOf(found.avgSlotCount)],
        ["Maximum", slotsOf(found.maxSlotCount)]
      ],
      layout
    ),
    Text.blank,
    ...Table.render(bucketColumns, found.stats.filter(isUsed), {
      ...layout,
      empty: `no jobs in ${region === "all" ? "any region" : region} in this period`
    })
  ]
)

const slotsInUse = Cli.query(
  "queues",
  {},
  Queue.JobSlots,
  () => Queues.jobSlots,
  ({ priority_job_slots: { count, slots } }, layout) => [
    ...Table.facts([["Job slots in use", Text.count(count)]], layout),
    Text.blank,
    ...Table.render(slotColumns, flatten(slots), { ...layout, empty: "no jobs" })
  ]
)

/** `assembly queues`: the priority job slots. */
export const queues = Command.withSubcommands(slotsInUse, [stats])

/** An amount with two decimals, or more if the service reports parts of a cent. */
const decimals = { minimumFractionDigits: 2, maximumFractionDigits: 6 } as const

/**
 * Fields of the bill with other names than their keys, such as those that other commands use. In the table of robots,
 * fields with the same keys are other quantities: what the Steps of the robot have read and made.
 */
const titles = new Map([
  ["sub_total", "Subtotal"],
  ["bytes_in", "Received"],
  ["bytes_out", "Result bytes"]
])

/** The name of a field in words: `bytes_in` is `bytes in`. */
const words = (name: string): string => Printable.escape(name.replaceAll("_", " ").trim() || name)

const title = (name: string): string => words(name).replace(/^./u, (first) => first.toUpperCase())

/** A value in one line. A number has the unit that its name implies. */
const quantity = (name: string, value: unknown, currency: string | null | undefined): string => {
  if (typeof value !== "number") return Table.json(value)
  if (/(?:^|_)bytes(?:_|$)/.test(name)) return Text.bytes(value)
  if (/(?:^|_)price(?:_|$)|^(?:sub_)?total$|^credit$/.test(name)) {
    return `${value.toLocaleString("en-US", decimals)} ${currency ?? ""}`.trim()
  }
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 })
}

/** The plan as one line, such as `emulator, price per gigabyte 1.00 USD`. */
const planOf = ({ currency, plan }: Bill.Bill): string | undefined => {
  if (!Predicate.isObject(plan)) return plan === undefined || plan === null ? undefined : Table.json(plan)
  return Object.entries(plan)
    .map(([name, part]) => (name === "name" ? "" : `${words(name)} `) + quantity(name, part, currency))
    .join(", ")
}

/** Robots with what each has used, and with the sums of the numbers, if there are several robots. */
const robotsOf = ({ currency, robots }: Bill.Bill, layout: Table.Options): ReadonlyArray<Text.Line> => {
  if (!Predicate.isObject(robots) || Object.keys(robots).length === 0) return []
  const rows = Object.entries(robots).map(([robot, use]) => ({
    robot,
    use: new Map(Object.entries(Predicate.isObject(use) ? use : { use }))
  }))
  const names = [...new Set(rows.flatMap(({ use }) => [...use.keys()]))]
  const sums = names.flatMap((name) => {
    const numbers = rows.map(({ use }) => use.get(name) ?? 0).filter(Predicate.isNumber)
    return numbers.length < rows.length ? [] : [[name, numbers.reduce((all, one) => all + one, 0)] as const]
  })
  const columns: ReadonlyArray<Table.Column<(typeof rows)[number]>> = [
    { title: "Robot", value: ({ robot }) => robot, keep: true },
    ...names.map((name) => ({
      title: title(name),
      align: "right" as const,
      value: ({ use }: (typeof rows)[number]) =>
        use.has(name) ? quantity(name, use.get(name), currency) : Table.unknown,
      keep: true
    }))
  ]
  const all = rows.length === 1 ? rows : [...rows, { robot: "all robots", use: new Map(sums) }]
  // The columns are not the same in each bill, so another program needs the heading too.
  return [Text.blank, ...Table.render(columns, all, { ...layout, width: layout.width ?? Number.POSITIVE_INFINITY })]
}

/** Renders a bill. `month` is the month that the user asked for. */
export const render = (whole: Bill.Bill, month: string, layout: Table.Options = {}): ReadonlyArray<Text.Line> => {
  const numbers = Object.entries(whole)
    .filter(([name, value]) => typeof value === "number" && !/(?:^|_)id$/.test(name))
    .map(([name, value]): Table.Fact => [titles.get(name) ?? title(name), quantity(name, value, whole.currency)])
  const facts: ReadonlyArray<Table.Fact> = [
    ["Month", whole.month ?? month],
    ...numbers,
    ["Plan", planOf(whole)],
    ["Invoice", whole.invoice_id]
  ]
  return [...Table.facts(facts, layout), ...robotsOf(whole, layout)]
}
