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

const receivedOf = ({ bytes_received: bytes }: AssemblyList.Entry): string =>
  typeof bytes === "number" ? Format.bytes(bytes) : Cells.unknown

const durationOf = ({ execution_duration: seconds }: AssemblyList.Entry): string =>
  typeof seconds === "number" ? Format.duration(Duration.seconds(seconds)) : Cells.unknown

/** The maximum width of the names of all files, in cells. Wider names are shown as the first name and a number. */
const mostCells = 40

/**
 * The names of the files, or the first name and the number of the other files. The service joins the names with commas,
 * and names only the first files of an Assembly.
 */
const filesOf = ({ files, num_input_files: count }: AssemblyList.Entry): string => {
  if (!files) return Cells.unknown
  const names = files.split(", ")
  const others = Math.max(names.length, typeof count === "number" ? count : 0) - 1
  if (others === names.length - 1 && Text.width(files) <= mostCells) return files
  const first = Text.truncate(Printable.escape(names[0] ?? ""), mostCells)
  return others === 0 ? first : `${first} and ${Format.count(others)} more`
}

interface Shown {
  readonly hasErrors: boolean
  readonly stateOf: (entry: AssemblyList.Entry) => string
  readonly now: DateTime.DateTime | undefined
}

/**
 * The columns. The most important columns name the Assembly, its state, its time and its error. `Error` is only shown
 * if an Assembly has an error.
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
          rank: 4,
          value: (entry: AssemblyList.Entry) => Assembly.errorCode(entry) ?? "",
          style: (text: string, _: AssemblyList.Entry, style: Style.Style) => style.red(text),
          least: 20
        }
      ]
    : []),
  { title: "Received", rank: 5, align: "right", value: receivedOf, keep: true, optional: true },
  { title: "Duration", rank: 6, align: "right", value: durationOf, keep: true, optional: true },
  { title: "Files", rank: 7, value: filesOf, least: 16, optional: true }
]

/**
 * - `now`: the time that the ages in a narrow terminal refer to. Without it, the table has dates.
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
 * Renders one line for each Assembly, in the order of the list. If the terminal is too narrow for a line, each Assembly
 * is rendered as a block of lines.
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (entries: ReadonlyArray<AssemblyList.Entry>, options: Options = {}): ReadonlyArray<Style.Line> =>
  Table.render(columns({ hasErrors: entries.some(hasError), stateOf: AssemblyState.name, now: options.now }), entries, {
    ...options,
    empty: "no Assemblies"
  })

const common = { id: "0".repeat(32), created: "2026-01-01T00:00:00Z" }

/**
 * Entries whose cells have the usual widths. The columns fit these entries too, because later pages may have such
 * entries.
 */
const usual: ReadonlyArray<AssemblyList.Entry> = [
  { ...common, ok: "REQUEST_ABORTED", bytes_received: 1000 * 1024 * 1024, execution_duration: 59 * 60 + 59 },
  { ...common, error: "0".repeat(20) }
]

/**
 * Opens a table for a list whose pages arrive one after the other. The columns fit the first page and the usual values.
 *
 * @since 0.1.0
 * @category formatting
 */
export const open = (
  first: ReadonlyArray<AssemblyList.Entry>,
  options: Options = {}
): Table.Opened<AssemblyList.Entry> =>
  Table.open(columns({ hasErrors: true, stateOf: AssemblyState.known, now: options.now }), [...first, ...usual], {
    ...options,
    empty: "no Assemblies"
  })
