import * as Table from "../src/internal/table.ts"
import { describe, expect, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import { CliOutput } from "effect/cli"
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

const identified: ReadonlyArray<Table.Column<string>> = [
  { title: "Asset", value: (row) => row, keep: true },
  { title: "About", value: () => "a text of five words", keep: true },
  { title: "Size", value: () => "–", keep: true },
  { title: "Age", value: () => "3d", exact: () => "2026-01-01", keep: true }
]
const keys: ReadonlyArray<Table.Column<string>> = [
  { title: "ID", value: (row) => row, keep: true },
  { title: "Auth Key", value: () => "x".repeat(10), keep: true }
]
const optional = fileColumns.map((column, index) => ({ ...column, optional: index === 0 }))
const three: ReadonlyArray<Table.Column<string>> = [
  { title: "First", value: (row) => row, keep: true },
  { title: "Second", value: (row) => row, keep: true, optional: true },
  { title: "Third", value: (row) => row, keep: true, optional: true }
]
const described: ReadonlyArray<Table.Column<File>> = [
  { title: "ID", value: ({ name }) => name, keep: true },
  { title: "Description", value: () => "a long description of a file" }
]
const dated: ReadonlyArray<Table.Column<File>> = [
  ...fileColumns,
  { title: "Age", value: () => "3d", exact: () => "2026-01-01", keep: true }
]
const failed: ReadonlyArray<Table.Column<File>> = [
  ...fileColumns,
  { title: "Error", value: ({ size }) => (size === "12 B" ? "a long error" : ""), below: true }
]
const blank = { name: "", size: "" }
const one = files.slice(0, 1)
const { render } = Table

/** What the tables show, by what a table does. */
const shown: Readonly<Record<string, ReadonlyArray<string>>> = {
  "aligns columns, counting wide characters as two cells": render(fileColumns, files, { width: wide }),
  "cuts the widest column of a narrow terminal and keeps the others": render(fileColumns, files, { width: 16 }),
  "shows each row as its first cell and the others below it if the columns do not fit, and cuts nothing": render(
    fileColumns,
    files,
    { width: 13 }
  ),
  "has no unknown value in such a row": render(identified, ["x".repeat(22)], { width: 24 }),
  "cuts the word for no rows": render(identified, [], { width: 3, empty: "no assets" }),
  "names the first cell of each row too, if there is room in every row": render(keys, ["a", "b".repeat(9)], {
    width: 20
  }),
  "leaves out optional columns that do not fit, and names them": render(optional, files, { width: 12 }),
  "leaves out the last optional column first": render(three, ["x"], { width: 13 }),
  "cuts to the width of a title": render(described, one, { width: 20 }),
  "does not cut a title": render(described, one, { width: 19 }),
  "has exact texts between tabs for another program, and nothing for an unknown value": render(
    dated,
    [{ name: "a\tb", size: "–" }],
    {}
  ),
  "has the short text in a terminal": render(dated, one, { width: 80 }),
  "has a line below a row for a text that has no column": render(failed, [...one, { name: "b", size: "1 B" }], {
    width: wide
  }),
  "breaks this line": render(failed, one, { width: 13 }),
  "shows a line if there are no rows": render(fileColumns, [], { width: wide, empty: "no files" }),
  "shows a row without any text in a narrow terminal": render(fileColumns, [blank, blank], { width: 4 }),
  "renders no lines without columns": render([], [], { width: wide, empty: "" }),
  "shows escape sequences instead of obeying them": render(
    fileColumns,
    [{ name: "\u001b[2Jevil\nname\u202egpj", size: "" }],
    { width: wide }
  )
}

describe("Table.render", () => {
  it("shows what the file shows", async () => {
    const all = Object.entries(shown).map(([about, lines]) => `# ${about}\n${lines.join("\n")}\n`)
    await expect(all.join("\n")).toMatchFileSnapshot("fixtures/tables.txt")
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
