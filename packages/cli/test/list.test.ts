import * as List from "../src/commands/list.ts"
import * as Table from "../src/internal/table.ts"
import { Assembly, type AssemblyList } from "@assembly-effect/schema"
import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, DateTime, Schema } from "effect"
import { CliOutput } from "effect/cli"
import { columns, text } from "./support/texts.ts"
import * as Text from "../src/internal/text.ts"

const now = DateTime.makeUnsafe("2026-01-04T10:00:00Z")
const entry = { id: Assembly.AssemblyId.make("a".repeat(32)), created: "2026/01/01 10:00:00 GMT" }

const list: ReadonlyArray<AssemblyList.Entry> = [
  { ...entry, ok: "ASSEMBLY_COMPLETED", bytes_received: 3 * 1024 ** 2, execution_duration: 65, files: "a.mp4, b.mp4" },
  { ...entry, created: "2026/01/04 09:59:10 GMT", ok: "ASSEMBLY_EXECUTING" },
  { ...entry, created: "2026/01/04 06:00:00 GMT", error: "TRANSLOADIT_FILE_META_DATA_ERROR" }
]

interface Options {
  readonly width?: number
  readonly now?: DateTime.Utc
  readonly style?: Text.Style
}

const layoutOf = (options: Options) => ({ width: undefined, style: Text.plain, now, ...options })

const render = (entries: ReadonlyArray<AssemblyList.Entry>, options: Options = {}) =>
  Table.render(List.columns(layoutOf(options)), entries, layoutOf(options))

describe("the table of Assemblies", () => {
  it("shows the error instead of ok, and nothing for an empty error", () => {
    const states = [
      { ok: "ASSEMBLY_COMPLETED", error: "X" },
      { ok: "ASSEMBLY_COMPLETED", error: "" },
      { ok: "ASSEMBLY_EXECUTING", error: null },
      { error: "" },
      {}
    ].map((standing) =>
      render([{ ...entry, ...standing }])[0]
        ?.split("\t")
        .slice(1, 4)
    )
    const created = "2026-01-01 10:00"
    expect(states).toEqual([
      ["failed", created, "X"],
      ["completed", created, ""],
      ["executing", created, ""],
      ["", created, ""],
      ["", created, ""]
    ])
  })

  it("shows a creation time that is no date as the service sent it", () => {
    expect(render([{ ...entry, created: "someday" }])[0]).toMatch(/^a{32}\t\tsomeday\t/)
  })

  it("paints what failed red, what completed green and what runs yellow", () => {
    const entries: ReadonlyArray<AssemblyList.Entry> = [
      { ...entry, error: "X" },
      { ...entry, ok: "ASSEMBLY_COMPLETED" },
      { ...entry, ok: "ASSEMBLY_EXECUTING" }
    ]
    const lines = render(entries, { style: Text.ansi, width: 80 })
    const { green, red, yellow } = Text.ansi
    const painted = [red("failed"), green("completed"), yellow("executing")]
    for (const [index, state] of painted.entries()) expect(lines[index + 2 + Math.min(index, 1)]).toContain(state)
  })

  it("has every column in 80 columns: short texts, and an error below its Assembly", () => {
    expect(render(list, { width: 80, now })).toEqual([
      "Assembly                          State      Age  Received  Duration  Files",
      "─".repeat(80),
      `${entry.id}  completed  3d    3.0 MiB     1m 5s  2 files: …`,
      `${entry.id}  executing  50s         –         –  –`,
      `${entry.id}  failed     4h          –         –  –`,
      "  TRANSLOADIT_FILE_META_DATA_ERROR"
    ])
    const [, , , , failed, error] = render(list, { width: 80, now, style: Text.ansi })
    expect(failed).toContain(Text.ansi.red("failed"))
    expect(error).toBe(`  ${Text.ansi.red("TRANSLOADIT_FILE_META_DATA_ERROR")}`)
  })

  it("leaves out details in 60 columns, and names them", () => {
    expect(render(list.slice(0, 1), { width: 60, now })).toEqual([
      "Assembly                          State      Age  Received",
      "─".repeat(58),
      `${entry.id}  completed  3d    3.0 MiB`,
      "not shown: Duration, Files (use a wider terminal or --json)"
    ])
  })

  it("has three lines for each Assembly in 40 columns, with whole ids", () => {
    expect(render(list, { width: 40, now })).toEqual([
      entry.id,
      "  State completed, Age 3d,",
      "  Received 3.0 MiB, Duration 1m 5s,",
      "  Files 2 files: a.mp4",
      entry.id,
      "  State executing, Age 50s",
      entry.id,
      "  State failed, Age 4h, Error",
      "  TRANSLOADIT_FILE_META_DATA_ERROR"
    ])
  })

  it.each([
    ["a.png", 1, "a.png"],
    ["a, b.png", 1, "a, b.png"],
    ["a.png, b.png", undefined, "2 files: a.png"],
    ["a.png, b.png", 1500, "1,500 files: a.png"],
    ["", 3, "–"],
    [undefined, undefined, "–"]
  ])(
    "has the number of files and the first name on a terminal, and the text of the service in a pipe: %s, %s",
    (files, num_input_files, shown) => {
      const item = { ...entry, ...(files === undefined ? {} : { files }), ...(num_input_files && { num_input_files }) }
      expect(render([item])[0]?.split("\t").at(-1)).toBe(files ?? "")
      expect(render([item], { width: 200 })[2]).toMatch(new RegExp(`  ${shown}$`.trimEnd()))
    }
  )

  it("has dates and the whole names of states in a pipe", () => {
    const lines = render(list, { now })
    expect(lines[0]).toMatch(/\tcompleted\t2026-01-01 10:00\t\t3\.0 MiB\t1 min 5 s\ta\.mp4, b\.mp4$/)
    expect(lines[2]).toContain("\tTRANSLOADIT_FILE_META_DATA_ERROR\t")
    expect(lines).toHaveLength(3)
  })

  const oks = ["UPLOADING", "EXECUTING", "REPLAYING", "COMPLETED", "CANCELED"].map((name) => `ASSEMBLY_${name}`)
  const entries = Arbitrary.array(
    Arbitrary.map(
      Arbitrary.all([
        Arbitrary.schema(Schema.Literals([...oks, "REQUEST_ABORTED", "STRANGE_AND_VERY_LONG_STATE", ""])),
        Arbitrary.schema(Schema.Literals(["", "", "FAILED_TO_DO_SOMETHING_WITH_A_LONG_NAME"])),
        text,
        Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 53 - 1 })))
      ]),
      ([ok, error, files, size]): AssemblyList.Entry => ({ ...entry, ok, error, files, bytes_received: size })
    ),
    { maxLength: 6 }
  )
  // In a narrow terminal, an id has its own line.
  const whole =
    /^a{32} {2}(?:completed|failed|uploading|executing|replaying|canceled|aborted|other|–|[a-z_]{4,})(?: |$)|^(?:Assembly )?a{32}$/

  it.prop(
    "no line is wider than the terminal, and no id and no state is cut",
    { entries, width: columns(40) },
    ({ entries: some, width }) => {
      const lines = render(some, { width, now })
      for (const line of lines) expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
      expect(lines.filter((line) => whole.test(line))).toHaveLength(some.length)
    }
  )

  it.prop(
    "no line of a further page is wider than the terminal, and no id is cut",
    { first: entries, later: entries, width: columns(40) },
    ({ first, later, width }) => {
      const layout = layoutOf({ width, now })
      const rendered = [first, later].map(Table.makeParts(List.columns(layout), layout))
      for (const { end, lines } of rendered) {
        for (const line of [...lines, ...end]) expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
      }
      expect(rendered[1]?.lines.filter((line) => whole.test(line))).toHaveLength(later.length)
    }
  )
})
