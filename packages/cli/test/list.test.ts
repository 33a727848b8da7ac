import * as List from "../src/commands/list.ts"
import * as Table from "../src/internal/table.ts"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as CliOutput from "effect/cli/CliOutput"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
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
  Table.render(List.columns(layoutOf(options), entries, false), entries, layoutOf(options))

describe("the table of Assemblies", () => {
  it("shows the error instead of ok, and nothing for an empty error", () => {
    const states = [
      { ok: "ASSEMBLY_COMPLETED", error: "X" },
      { ok: "ASSEMBLY_COMPLETED", error: "" },
      { ok: "ASSEMBLY_EXECUTING", error: null },
      { error: "" },
      {}
    ].map((standing) =>
      render([{ ...entry, ...standing }])[2]
        ?.split(/ {2,}/)
        .slice(1, 4)
    )
    const created = "2026-01-01 10:00"
    expect(states).toEqual([
      ["failed", created, "X"],
      ["completed", created, "–"],
      ["executing", created, "–"],
      ["–", created, "–"],
      ["–", created, "–"]
    ])
  })

  it("shows a creation time that is no date as the service sent it", () => {
    expect(render([{ ...entry, created: "someday" }])[2]).toMatch(/^a{32} {2}– +someday /)
  })

  it("paints what failed red, what completed green and what runs yellow", () => {
    const entries: ReadonlyArray<AssemblyList.Entry> = [
      { ...entry, error: "X" },
      { ...entry, ok: "ASSEMBLY_COMPLETED" },
      { ...entry, ok: "ASSEMBLY_EXECUTING" }
    ]
    const lines = render(entries, { style: Text.ansi })
    const { green, red, yellow } = Text.ansi
    const painted = [red("failed"), green("completed"), yellow("executing")]
    for (const [index, state] of painted.entries()) expect(lines[index + 2]).toContain(state)
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
      "Assembly                          State      Age  Files",
      "─".repeat(60),
      `${entry.id}  completed  3d   2 files: …`,
      "not shown: Received, Duration (use a wider terminal or",
      "--json)"
    ])
  })

  it("has three lines for each Assembly in 40 columns, with whole ids", () => {
    expect(render(list, { width: 40, now })).toEqual([
      entry.id,
      "  State completed, Age 3d, Received 3.0",
      "  MiB, Duration 1m 5s, Files 2 files:",
      "  a.mp4",
      entry.id,
      "  State executing, Age 50s",
      entry.id,
      "  State failed, Age 4h, Error",
      "  TRANSLOADIT_FILE_META_DATA_ERROR"
    ])
  })

  it.each([
    ["a.png", 1, "a.png"],
    ["a.png, b.png", undefined, "a.png, b.png"],
    ["a.png, b.png", 200, "a.png and 199 more"],
    [Array.from({ length: 100 }, (_, index) => `${index}.png`).join(", "), 1500, "0.png and 1,499 more"],
    [Array.from({ length: 100 }, (_, index) => `${index}.png`).join(", "), undefined, "0.png and 99 more"],
    ["x".repeat(255), 1, `${"x".repeat(39)}…`],
    ["", 3, "–"],
    [undefined, undefined, "–"]
  ])("bounds the files of an Assembly, also in a pipe (%#)", (files, num_input_files, shown) => {
    const item = { ...entry, ...(files === undefined ? {} : { files }), ...(num_input_files && { num_input_files }) }
    expect(render([item])[2]?.split(/ {2,}/).at(-1)).toBe(shown)
  })

  it("has dates and the whole names of states in a pipe", () => {
    const lines = render(list, { now })
    expect(lines[2]).toMatch(/ {2}completed {2}2026-01-01 10:00 +3\.0 MiB {2}1 min 5 s {2}a\.mp4, b\.mp4$/)
    expect(lines[4]).toContain("TRANSLOADIT_FILE_META_DATA_ERROR")
    expect(lines).toHaveLength(5)
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
    /^a{32} {2}(?:completed|failed|uploading|executing|replaying|canceled|aborted|other|–|[a-z_]{4,})(?: |$)|^a{32}$/

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
      const part = Table.makeParts(layout)
      const rendered = [first, later].map((page) => part(List.columns(layout, page, true), page))
      for (const { end, lines } of rendered) {
        for (const line of [...lines, ...end]) expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
      }
      expect(rendered[1]?.lines.filter((line) => whole.test(line))).toHaveLength(later.length)
    }
  )
})
