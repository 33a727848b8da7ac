import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Queues from "@assembly-effect/api/Queues"
import * as Queue from "@assembly-effect/schema/Queue"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Format from "../Format.ts"
import * as Cells from "../internal/cells.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as Moment from "../internal/moment.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Table from "../Table.ts"

interface Slot {
  readonly name: string
  readonly count: number
}

/** The numbers of slots, with the names of the levels joined by ` › `. */
const flatten = (slots: Queue.Slots, above: ReadonlyArray<string> = []): ReadonlyArray<Slot> =>
  Object.entries(slots).flatMap(([name, value]) =>
    typeof value === "number"
      ? [{ name: [...above, name].join(" › "), count: value }]
      : flatten(value, [...above, name])
  )

const slots = (count: number | null | undefined): string =>
  count === null || count === undefined ? Cells.unknown : String(Number(count.toFixed(2)))

const slotColumns: ReadonlyArray<Table.Column<Slot>> = [
  { title: "Jobs", value: ({ name }) => name },
  { title: "Slots", align: "right", value: ({ count }) => Format.count(count) }
]

const bucketColumns: ReadonlyArray<Table.Column<Queue.Bucket>> = [
  {
    title: "From (UTC)",
    value: (bucket) => Cells.minute(Option.getOrUndefined(DateTime.make(bucket.data_from_ts * 1000))),
    keep: true
  },
  { title: "Average", align: "right", value: (bucket) => slots(bucket.avg_slot_count) },
  { title: "Maximum", align: "right", value: (bucket) => slots(bucket.max_slot_count) }
]

/** Whether a job ran in the period of the bucket. */
const isUsed = ({ avg_slot_count, max_slot_count, slot_count }: Queue.Bucket): boolean =>
  [avg_slot_count, max_slot_count, slot_count].some((count) => typeof count === "number" && count !== 0)

const stats = Command.make(
  "stats",
  {
    region: Flag.String("region").pipe(
      Flag.withMetavar("region"),
      Flag.withDescription("A region, such as eu-west-1, or all")
    ),
    since: Moment.startFlag("since", "7d").pipe(
      Flag.withDescription("The start: an age (24h, 7d) or a date (default: 7d)")
    ),
    aggregation: Flag.Literals("aggregation", ["avg", "max"]).pipe(
      Flag.withDescription("The value of each period (default: the choice of the service)"),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ aggregation, json, region, since }) {
    const found = yield* Queues.statistics({ region, since, ...given({ aggregation }) })
    if (json) return yield* Output.json(Queue.Statistics)(found)
    const layout = yield* Output.layout
    const facts: ReadonlyArray<Facts.Fact> = [
      ["Average", slots(found.avgSlotCount)],
      ["Maximum", slots(found.maxSlotCount)]
    ]
    yield* Output.report([
      ...Facts.render(facts, layout),
      Style.blank,
      ...Table.render(bucketColumns, found.stats.filter(isUsed), {
        ...layout,
        empty: `no jobs in ${region} in this period`
      })
    ])
  })
).pipe(
  Command.validate(({ since }) => Moment.checkPeriod(since)),
  Command.withDescription("Show how many job slots were in use over time. Periods without jobs are left out"),
  Command.withExamples([
    { command: "assembly queues stats --region eu-west-1 --since 24h", description: "The last day" },
    { command: "assembly queues stats --region eu-west-1 --json", description: "The same for another program" }
  ])
)

const slotsInUse = Command.make(
  "queues",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const found = yield* Queues.jobSlots
    if (json) return yield* Output.json(Queue.JobSlots)(found)
    const { count, slots: used } = found.priority_job_slots
    const layout = yield* Output.layout
    yield* Output.report([
      ...Facts.render([["Job slots in use", Format.count(count)]], layout),
      Style.blank,
      ...Table.render(slotColumns, flatten(used), { ...layout, empty: "no jobs" })
    ])
  })
)

/** `assembly queues`: the priority job slots. */
export const queues = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  slotsInUse.pipe(
    Command.provide(service),
    Command.withSubcommands([Command.provide(stats, service)]),
    Command.withExamples([
      { command: "assembly queues", description: "The job slots in use now" },
      { command: "assembly queues stats --region eu-west-1 --since 24h", description: "The last day" }
    ])
  )
