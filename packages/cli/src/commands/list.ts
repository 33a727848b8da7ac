import { Assemblies } from "@assembly-effect/api"
import { Assembly, AssemblyList } from "@assembly-effect/schema"
import { Flag } from "effect/cli"
import { Duration, Option } from "../internal/effect.ts"
import { Cli, type Output, Table, Text } from "../internal/index.ts"
import * as Shown from "../internal/assembly.ts"
import * as Resource from "../internal/resource.ts"

type Entry = AssemblyList.Entry

/** The number of files and the first name. The service sends the names as one text, and may name only the first files. */
const filesOf = ({ files, num_input_files: count }: Entry): string => {
  const names = files?.split(", ") ?? []
  // A name may contain a comma.
  const number = typeof count === "number" && count > 0 ? count : names.length
  return !files || number <= 1 ? Table.known(files) : `${Text.count(number)} files: ${names[0] ?? ""}`
}

const durationOf = ({ execution_duration: seconds }: Entry, format: typeof Text.duration): string =>
  Table.of(seconds, (found) => format(Duration.seconds(found)))

/** A column of numbers that a narrow terminal may lack. */
const detail = { align: "right", keep: true, optional: true } as const

/** The columns. A terminal of 80 cells has room for each of them if each Assembly is younger than 100 days. */
export const columns = ({ now }: Output.Layout): ReadonlyArray<Table.Column<Entry>> => [
  { title: "Assembly", value: ({ id }) => id, keep: true },
  { title: "State", value: Shown.shortState, exact: Shown.state, style: Shown.paint, keep: true },
  {
    title: "Age",
    value: ({ created }) => Shown.age(created, now),
    exact: ({ created }) => Shown.createdAt(created) ?? "",
    keep: true
  },
  {
    title: "Error",
    value: (entry) => Assembly.errorCode(entry) ?? "",
    style: (text, _, style) => style.red(text),
    below: true
  },
  {
    ...detail,
    title: "Received",
    value: (entry) => Table.of(entry.bytes_received, Text.shortBytes),
    exact: (entry) => Table.bytes(entry.bytes_received)
  },
  {
    ...detail,
    title: "Duration",
    value: (entry) => durationOf(entry, Text.shortDuration),
    exact: (entry) => durationOf(entry, Text.duration)
  },
  { title: "Files", value: filesOf, exact: ({ files }) => Table.known(files), least: 10, optional: true }
]

/** `assembly list`: lists the Assemblies that were created in a window of time, newest first. */
export const list = Cli.command(
  "list",
  {
    since: Flag.withAlias(Cli.startFlag("since", "7d"), "from"),
    until: Flag.optional(Flag.withAlias(Cli.endFlag("until"), "to")),
    type: Flag.Literals("type", AssemblyList.AssemblyType.literals).pipe(
      Flag.withAlias("state"),
      Flag.withDefault(AssemblyList.defaults.type)
    ),
    keywords: Cli.repeated(Cli.text("keyword", "text")),
    ...Resource.numberedFlags(AssemblyList.Entry)
  },
  ({ keywords, since, type, until, ...asked }) => {
    const query = { fromDate: since, ...Cli.given({ toDate: until }), type, keywords }
    const listing = { what: "Assemblies", page: AssemblyList.Page, item: AssemblyList.Entry, columns }
    return Resource.numbered(listing, asked, Assemblies, query)
  },
  ({ since, until }) => Option.getOrUndefined(Option.map(until, (end) => Cli.problemOf(since, end)))
)
