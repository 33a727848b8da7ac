/**
 * The list of Assemblies as a table.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Format from "./Format.ts"
import type * as Style from "./Style.ts"
import * as Table from "./Table.ts"

const unknown = "–"

/** The creation time without seconds, or the text that the service sent if that text is not a valid date. */
const createdAt = ({ created }: AssemblyList.Entry): string =>
  Option.match(DateTime.make(created), {
    onNone: () => created,
    onSome: (moment) => Format.date(moment).slice(0, 16)
  })

/** The error code, or else the name of the state, as in the filter of the list. */
const state = (entry: AssemblyList.Entry): string =>
  Assembly.errorCode(entry) ?? (entry.ok?.replace(/^ASSEMBLY_/, "").toLowerCase() || unknown)

const paintState = (text: string, entry: AssemblyList.Entry, style: Style.Style): string => {
  switch (Assembly.state(entry)) {
    case "Failed":
      return style.red(text)
    case "Completed":
      return style.green(text)
    default:
      return style.yellow(text)
  }
}

const columns: ReadonlyArray<Table.Column<AssemblyList.Entry>> = [
  { title: "Assembly", value: ({ id }) => id, keep: true },
  { title: "Created (UTC)", value: createdAt, keep: true },
  { title: "State", value: state, style: paintState },
  { title: "Files", value: ({ files }) => files ?? unknown },
  {
    title: "Received",
    align: "right",
    value: ({ bytes_received: bytes }) => (typeof bytes === "number" ? Format.bytes(bytes) : unknown)
  },
  {
    title: "Duration",
    align: "right",
    value: ({ execution_duration: seconds }) =>
      typeof seconds === "number" ? Format.duration(Duration.seconds(seconds)) : unknown
  }
]

/**
 * Renders one line for each Assembly, in the order of the list.
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (
  entries: ReadonlyArray<AssemblyList.Entry>,
  options?: { readonly width?: number | undefined; readonly style?: Style.Style | undefined }
): ReadonlyArray<Style.Line> => Table.render(columns, entries, { ...options, empty: "no Assemblies" })
