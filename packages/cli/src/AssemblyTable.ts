/**
 * The list of Assemblies as a table.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Printable from "@assembly-effect/schema/Printable"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as AssemblyState from "./internal/assemblyState.ts"
import * as Cells from "./internal/cells.ts"
import * as Text from "./internal/text.ts"
import * as Format from "./Format.ts"
import type * as Style from "./Style.ts"
import * as Table from "./Table.ts"

/** The creation time without seconds, or the text that the service sent if that text is not a valid date. */
const createdAt = ({ created }: AssemblyList.Entry): string =>
  Option.match(DateTime.make(created), { onNone: () => created, onSome: Cells.minute })

const receivedWith =
  (format: (bytes: number) => string) =>
  ({ bytes_received: bytes }: AssemblyList.Entry): string =>
    typeof bytes === "number" ? format(bytes) : Cells.unknown

const durationWith =
  (format: (duration: Duration.Duration) => string) =>
  ({ execution_duration: seconds }: AssemblyList.Entry): string =>
    typeof seconds === "number" ? format(Duration.seconds(seconds)) : Cells.unknown

/**
 * The maximum width of the file names of one Assembly in the full form of the column `Files`, in terminal cells. If the
 * names are wider, the column shows the first name, cut to this width, and the number of the other files.
 */
const mostCells = 40

/**
 * The name of the first file, the number of files, and whether the entry names all files. The service may name only the
 * first files of an Assembly with many files.
 */
const namesOf = ({ files, num_input_files: count }: AssemblyList.Entry) => {
  const names = files?.split(", ") ?? []
  const number = Math.max(names.length, typeof count === "number" ? count : 0)
  return { first: Printable.escape(names[0] ?? ""), number, isComplete: number === names.length }
}

/**
 * The names of all files. If the entry does not name all files, or if the names are too wide, the result is the first
 * name and the number of the other files. The service sends the names as one text, joined with commas.
 */
const filesOf = (entry: AssemblyList.Entry): string => {
  if (!entry.files) return Cells.unknown
  const { first, isComplete, number } = namesOf(entry)
  if (isComplete && Text.width(entry.files) <= mostCells) return entry.files
  const shown = Text.truncate(first, mostCells)
  return number === 1 ? shown : `${shown} and ${Format.count(number - 1)} more`
}

/**
 * The name of the only file, or the number of files and the first name. The number comes first, so that it is visible
 * in a narrow column.
 */
const shortFilesOf = (entry: AssemblyList.Entry): string => {
  if (!entry.files) return Cells.unknown
  const { first, number } = namesOf(entry)
  return number === 1 ? first : `${Format.count(number)} files: ${first}`
}

interface Shown {
  readonly hasErrors: boolean
  readonly stateOf: (entry: AssemblyList.Entry) => string
  readonly now: DateTime.DateTime | undefined
}

/**
 * The columns. A terminal of 80 cells has room for the short form of every column if each Assembly is younger than 100
 * days. An error is then a line below its row. The column `Error` exists only if `hasErrors` is true.
 */
const columns = ({ hasErrors, now, stateOf }: Shown): ReadonlyArray<Table.Column<AssemblyList.Entry>> => [
  { title: "Assembly", rank: 1, value: ({ id }) => id, keep: true },
  {
    title: "State",
    rank: 2,
    value: stateOf,
    short: { title: "State", value: AssemblyState.short },
    style: AssemblyState.paint,
    keep: true
  },
  {
    title: "Created (UTC)",
    rank: 3,
    value: createdAt,
    short: now && {
      title: "Age",
      value: ({ created }) => Cells.age(Option.getOrUndefined(DateTime.make(created)), now)
    },
    keep: true
  },
  ...(hasErrors
    ? [
        {
          title: "Error",
          value: (entry: AssemblyList.Entry) => Assembly.errorCode(entry) ?? "",
          style: (text: string, _: AssemblyList.Entry, style: Style.Style) => style.red(text),
          least: 20,
          below: true
        }
      ]
    : []),
  {
    title: "Received",
    rank: 5,
    align: "right",
    value: receivedWith(Format.bytes),
    short: { title: "Received", value: receivedWith(Format.shortBytes) },
    keep: true,
    optional: true
  },
  {
    title: "Duration",
    rank: 6,
    align: "right",
    value: durationWith(Format.duration),
    short: { title: "Duration", value: durationWith(Format.shortDuration) },
    keep: true,
    optional: true
  },
  {
    title: "Files",
    rank: 4,
    value: filesOf,
    short: { title: "Files", value: shortFilesOf },
    least: 10,
    optional: true
  }
]

/**
 * - `now`: the time that the ages in a narrow terminal refer to. Without `now`, the table has dates in every terminal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly width?: number | undefined
  readonly style?: Style.Style | undefined
  readonly now?: DateTime.DateTime | undefined
}

const hasError = (entry: AssemblyList.Entry): boolean => Assembly.errorCode(entry) !== undefined

/**
 * Renders a table with one row for each Assembly, in the order of the list. If the terminal is too narrow for the id,
 * the state and the creation time, each Assembly is rendered as a block of lines.
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (entries: ReadonlyArray<AssemblyList.Entry>, options: Options = {}): ReadonlyArray<Style.Line> =>
  Table.render(columns({ hasErrors: entries.some(hasError), stateOf: AssemblyState.name, now: options.now }), entries, {
    ...options,
    empty: "no Assemblies"
  })

/**
 * Entries whose cells have the usual widths. The columns are wide enough for these entries, even if the first page has
 * narrower entries, because later pages may have entries of the usual widths.
 */
const usual = ({ now }: Options): ReadonlyArray<AssemblyList.Entry> => {
  // The widest usual age has two digits. As a date, each creation time has the same width.
  const created = DateTime.formatIso(DateTime.subtract(now ?? DateTime.makeUnsafe(0), { days: 99 }))
  const common = { id: "0".repeat(32), created }
  return [
    { ...common, ok: "REQUEST_ABORTED", bytes_received: 1000 * 1024 * 1024, execution_duration: 59 * 60 + 59 },
    // In the short form, no state is longer than `completed`.
    { ...common, ok: "ASSEMBLY_COMPLETED" },
    { ...common, error: "0".repeat(20) }
  ]
}

/**
 * Opens a table for a list whose pages arrive one after the other. The columns fit the first page and entries of the
 * usual widths.
 *
 * @since 0.1.0
 * @category formatting
 */
export const open = (
  first: ReadonlyArray<AssemblyList.Entry>,
  options: Options = {}
): Table.Opened<AssemblyList.Entry> =>
  Table.open(
    columns({ hasErrors: true, stateOf: AssemblyState.known, now: options.now }),
    [...first, ...usual(options)],
    {
      ...options,
      empty: "no Assemblies"
    }
  )
