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
  const states = [
    { ok: "ASSEMBLY_COMPLETED", error: "X" },
    { ok: "ASSEMBLY_COMPLETED", error: "" },
    { ok: "ASSEMBLY_EXECUTING", error: null },
    { error: "" },
    {},
    { created: "someday" }
  ].map((standing) => Object.assign({}, entry, standing))

  const named = [
    { files: "a.png", num_input_files: 1 },
    { files: "a, b.png", num_input_files: 1 },
    { files: "a.png, b.png" },
    { files: "a.png, b.png", num_input_files: 1500 },
    { files: "", num_input_files: 3 },
    {}
  ].map((given) => Object.assign({}, entry, given))

  it("is that of the file in a pipe and in terminals: exact texts, short ones, fewer columns, lines", async () => {
    const tables = [
      ...[list, states, named].map((entries) => ["a pipe", render(entries)] as const),
      ...[200, 80, 60, 40].map((width) => [`${width} columns`, render(list, { width })] as const),
      ["200 columns", render(named, { width: 200 })] as const
    ]
    const shown = tables.map(([where, lines]) => `# ${where}\n${lines.join("\n")}\n`)
    await expect(shown.join("\n")).toMatchFileSnapshot("fixtures/list.txt")
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
    expect(lines[3]).toBe(`  ${red("X")}`)
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
