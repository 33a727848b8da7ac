import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Table from "../internal/table.ts"
import * as Text from "../internal/text.ts"
import type * as Output from "../internal/output.ts"
import * as Cli from "../internal/cli.ts"
import * as Shown from "../internal/assembly.ts"
import * as Resource from "../internal/resource.ts"

type Entry = AssemblyList.Entry

/**
 * The names of all files, or the first name and the number of the other files, if the names have more than 40 cells. The
 * service sends the names as one text, joined with commas, and may name only the first files.
 */
const filesOf = ({ files, num_input_files: count }: Entry, isShort = false): string => {
  if (!files) return Table.unknown
  const names = files.split(", ")
  const first = Printable.escape(names[0] ?? "")
  const number = Math.max(names.length, typeof count === "number" ? count : 0)
  // In the short form the number comes first, so that it is visible in a narrow column.
  if (isShort) return number === 1 ? first : `${Text.count(number)} files: ${first}`
  if (number === names.length && Text.width(files) <= 40) return files
  return Text.truncate(first, 40) + (number === 1 ? "" : ` and ${Text.count(number - 1)} more`)
}

const bytesWith =
  (format: (bytes: number) => string) =>
  ({ bytes_received: bytes }: Entry): string =>
    typeof bytes === "number" ? format(bytes) : Table.unknown

const durationWith =
  (format: (duration: Duration.Duration) => string) =>
  ({ execution_duration: seconds }: Entry): string =>
    typeof seconds === "number" ? format(Duration.seconds(seconds)) : Table.unknown

/** A column of numbers that a narrow terminal may lack. */
const detail = { align: "right", keep: true, optional: true } as const

const hasError = (entry: Entry): boolean => Assembly.errorCode(entry) !== undefined

/**
 * The columns. A terminal of 80 cells has room for the short form of every column if each Assembly is younger than 100
 * days. An error is then a line below its row. Without errors, a list that is complete has no column for them.
 */
export const columns = (
  { now }: Output.Layout,
  entries: ReadonlyArray<Entry>,
  isOpen: boolean
): ReadonlyArray<Table.Column<Entry>> => {
  const error: Table.Column<Entry> = {
    title: "Error",
    value: (entry) => Assembly.errorCode(entry) ?? "",
    style: (text, _, style) => style.red(text),
    least: 20,
    below: true
  }
  return [
    { title: "Assembly", rank: 1, value: ({ id }) => id, keep: true },
    { title: "State", rank: 2, value: Shown.state, short: Shown.shortState, style: Shown.paint, keep: true },
    {
      title: "Created (UTC)",
      shortTitle: "Age",
      rank: 3,
      value: ({ created }) => Shown.createdAt(created) ?? "",
      short: ({ created }) => Shown.age(created, now),
      keep: true
    },
    ...(isOpen || entries.some(hasError) ? [error] : []),
    { ...detail, title: "Received", rank: 5, value: bytesWith(Text.bytes), short: bytesWith(Text.shortBytes) },
    {
      ...detail,
      title: "Duration",
      rank: 6,
      value: durationWith(Text.duration),
      short: durationWith(Text.shortDuration)
    },
    { title: "Files", rank: 4, value: filesOf, short: (entry) => filesOf(entry, true), least: 10, optional: true }
  ]
}

/** `assembly list`: lists the Assemblies that were created in a window of time, newest first. */
export const list = Cli.command(
  "list",
  {
    since: Flag.withAlias(Cli.startFlag("since", "7d"), "from"),
    until: Flag.optional(Flag.withAlias(Cli.endFlag("until"), "to")),
    type: Flag.Literals("type", AssemblyList.AssemblyType.literals).pipe(Flag.withDefault(AssemblyList.defaults.type)),
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
