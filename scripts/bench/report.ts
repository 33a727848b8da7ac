import type { Figure, Row } from "./harness.ts"
import { median } from "./harness.ts"

/** A row with its results. */
export interface Result {
  readonly row: Row
  readonly figures: ReadonlyArray<Figure>
}

export const number = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 4 })

const side = (figure: Figure, name: string): string => {
  const samples = figure.samples[name]
  return samples === undefined ? "" : `${number(median(samples))} ${figure.unit}`
}

const lines = ({ figures, row }: Result): ReadonlyArray<ReadonlyArray<string>> =>
  figures.map((figure) => [
    row.id,
    row.work,
    figure.peer,
    side(figure, "ours"),
    side(figure, "theirs"),
    number(figure.value),
    figure.target.text,
    figure.target.met(figure.value) ? "met" : "MISSED"
  ])

/** Formats lines as a Markdown table. The first line contains the headings. */
export const format = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const [head, ...body] = rows.map(line)
  return [head, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...body].join("\n")
}

/** Formats the results as a Markdown table, one line for each figure. */
export const table = (results: ReadonlyArray<Result>): string =>
  format([["#", "work", "beside", "ours", "theirs", "figure", "target", ""], ...results.flatMap(lines)])

/** Converts one result to plain data. */
export const toJson = ({ figures, row }: Result, machine: Readonly<Record<string, string | number>>) => ({
  work: row.work,
  machine,
  figures: figures.map(({ peer, samples, target: { met, text }, unit, value }) => {
    return { peer, target: text, met: met(value), value, unit, samples }
  })
})
