import * as Table from "../src/internal/table.ts"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as CliOutput from "effect/cli/CliOutput"
import { columns, control, text } from "./support/texts.ts"
import * as Text from "../src/internal/text.ts"

interface File {
  readonly name: string
  readonly size: string
}

const fileColumns: ReadonlyArray<Table.Column<File>> = [
  { title: "Name", value: ({ name }) => name },
  { title: "Size", align: "right", value: ({ size }) => size, keep: true }
]

const files: ReadonlyArray<File> = [
  { name: "cat.jpg", size: "12 B" },
  { name: "ファイル.mp4", size: "1,024 B" }
]

const wide = Number.POSITIVE_INFINITY

describe("Table.render", () => {
  it("aligns columns, counting wide characters as two cells", () => {
    expect(Table.render(fileColumns, files, { width: wide })).toEqual([
      "Name             Size",
      "─────────────────────",
      "cat.jpg          12 B",
      "ファイル.mp4  1,024 B"
    ])
  })

  it("cuts the widest column of a narrow terminal and keeps the others", () => {
    expect(Table.render(fileColumns, files, { width: 16 })).toEqual([
      "Name        Size",
      "────────────────",
      "cat.jpg     12 B",
      "ファイ…  1,024 B"
    ])
  })

  it("shows each row as its first cell and the others below it if the columns do not fit, and cuts nothing", () => {
    expect(Table.render(fileColumns, files, { width: 13 })).toEqual([
      "cat.jpg",
      "  Size 12 B",
      "ファイル.mp4",
      "  Size 1,024",
      "  B"
    ])
    const identified: ReadonlyArray<Table.Column<string>> = [
      { title: "Asset", value: (row) => row, keep: true },
      { title: "About", value: () => "a text of five words", keep: true },
      { title: "Size", value: () => "–", keep: true },
      { title: "Age", value: () => "3d", exact: () => "2026-01-01", keep: true }
    ]
    const id = "x".repeat(22)
    expect(Table.render(identified, [id], { width: 24 })).toEqual([id, "  About a text of five", "  words, Age 3d"])
    expect(Table.render(identified, [], { width: 3, empty: "no assets" })).toEqual(["no…"])
  })

  it("names the first cell of each row too, if there is room in every row", () => {
    const keys: ReadonlyArray<Table.Column<string>> = [
      { title: "ID", value: (row) => row, keep: true },
      { title: "Auth Key", value: () => "x".repeat(10), keep: true }
    ]
    expect(Table.render(keys, ["a", "b".repeat(9)], { width: 20 })).toEqual([
      "ID a",
      "  Auth Key",
      `  ${"x".repeat(10)}`,
      "ID bbbbbbbbb",
      "  Auth Key",
      `  ${"x".repeat(10)}`
    ])
  })

  it("leaves out the last optional columns that do not fit, and names them below the table", () => {
    const optional = fileColumns.map((column, index) => ({ ...column, optional: index === 0 }))
    expect(Table.render(optional, files, { width: 12 }).slice(0, 5)).toEqual([
      "   Size",
      "───────",
      "   12 B",
      "1,024 B",
      "not shown:"
    ])
    const three: ReadonlyArray<Table.Column<string>> = [
      { title: "First", value: (row) => row, keep: true },
      { title: "Second", value: (row) => row, keep: true, optional: true },
      { title: "Third", value: (row) => row, keep: true, optional: true }
    ]
    expect(Table.render(three, ["x"], { width: 13 })[0]).toBe("First  Second")
  })

  it("does not cut a title", () => {
    const described: ReadonlyArray<Table.Column<File>> = [
      { title: "ID", value: ({ name }) => name, keep: true },
      { title: "Description", value: () => "a long description of a file" }
    ]
    expect(Table.render(described, files.slice(0, 1), { width: 20 })[0]).toBe("ID       Description")
    expect(Table.render(described, files.slice(0, 1), { width: 19 })[0]).toBe("ID cat.jpg")
  })

  it("has the texts for another program in a list without a width, between tabs", () => {
    const dated: ReadonlyArray<Table.Column<File>> = [
      ...fileColumns,
      { title: "Age", value: () => "3d", exact: () => "2026-01-01", keep: true }
    ]
    expect(Table.render(dated, [{ name: "a\tb", size: "–" }], {})).toEqual(["a\\x09b\t\t2026-01-01"])
    expect(Table.render(dated, files.slice(0, 1), { width: 80 })[2]).toBe("cat.jpg  12 B  3d")
  })

  it("has a line below a row for a text that has no column", () => {
    const failed: ReadonlyArray<Table.Column<File>> = [
      ...fileColumns,
      { title: "Error", value: ({ size }) => (size === "12 B" ? "a long error" : ""), below: true }
    ]
    expect(Table.render(failed, [...files.slice(0, 1), { name: "b", size: "1 B" }], { width: wide })).toEqual([
      "Name     Size",
      "─────────────",
      "cat.jpg  12 B",
      "  a long error",
      "b         1 B"
    ])
    expect(Table.render(failed, files.slice(0, 1), { width: 13 }).slice(2)).toEqual([
      "cat.jpg  12 B",
      "  a long",
      "  error"
    ])
  })

  it("shows a line if there are no rows", () => {
    expect(Table.render(fileColumns, [], { width: wide, empty: "no files" })).toEqual([
      "Name  Size",
      "──────────",
      "no files"
    ])
  })

  it("shows a row without any text in a narrow terminal", () => {
    const rows = [
      { name: "", size: "" },
      { name: "", size: "" }
    ]
    expect(Table.render(fileColumns, rows, { width: 4 })).toEqual(["–", "–"])
  })

  it("renders no lines without columns", () => {
    expect(Table.render([], [], { width: wide, empty: "" })).toEqual(["", "", ""])
  })

  it("paints after cutting, so colours change no layout", () => {
    const painted = Table.render(
      [
        {
          title: "Name",
          value: ({ name }: File) => name,
          style: (cell, { name }, style) => (name === "cat.jpg" ? style.green(cell) : cell)
        }
      ],
      files,
      { style: Text.ansi, width: 6 }
    )
    expect(painted[2]).toBe("\u001b[32mcat.j…\u001b[39m")
    expect(painted[3]).toBe("ファ…")
  })

  it("shows escape sequences instead of obeying them", () => {
    const rows = [{ name: "\u001b[2Jevil\nname\u202egpj", size: "" }]
    expect(Table.render(fileColumns, rows, { width: wide })[2]).toBe("\\x1b[2Jevil\\x0aname\\u202egpj")
  })

  it.prop(
    "no line is longer than the terminal, whatever the cells hold",
    { rows: Arbitrary.array(Arbitrary.all([text, text, text]), { maxLength: 8 }), width: columns(1) },
    ({ rows, width }) => {
      const lines = Table.render(
        [
          { title: "First", value: (row) => row[0] },
          { title: "Second", align: "right", value: (row) => row[1], keep: true },
          { title: "第三", value: (row) => row[2] },
          { title: "Below", value: (row) => row[0], below: true }
        ],
        rows,
        { width }
      )
      for (const line of lines) {
        expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
        expect(line).not.toMatch(control)
      }
      expect(lines.length).toBeGreaterThanOrEqual(Math.max(1, rows.length))
    }
  )

  it.prop(
    "with room nothing is cut and right-aligned cells end at one edge",
    { values: Arbitrary.array(text) },
    ({ values }) => {
      const lines = Table.render([{ title: "Value", align: "right", value: (value: string) => `${value}|` }], values, {
        width: wide
      })
      const ends = lines.slice(2).map((line) => CliOutput.displayWidth(line))
      if (values.length > 0) expect(new Set(ends).size).toBe(1)
    }
  )
})
