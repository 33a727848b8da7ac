/**
 * The table of `docs/runtimes.md`.
 */
import * as Checks from "./checks.ts"
import type { Measure } from "./measure.ts"
import type { Outcome } from "./rows.ts"

export interface Result {
  readonly name: string
  readonly outcome: Outcome
}

const problemsOf = (outcome: Outcome): ReadonlyArray<readonly [string, string]> => {
  switch (outcome._tag) {
    case "NotRun":
      return []
    case "Failed":
      return [["the program", outcome.problem]]
    case "Ran":
      return Checks.names.flatMap((name) => {
        const found = outcome.report[name]
        return found === null ? [] : [[name, found ?? "it did not report"] as const]
      })
  }
}

export const hasFailed = (outcome: Outcome): boolean => problemsOf(outcome).length > 0

/** A summary of a row in one line. */
export const summary = (outcome: Outcome): string =>
  outcome._tag === "NotRun"
    ? `not run: ${outcome.why}`
    : hasFailed(outcome)
      ? problemsOf(outcome)
          .map((both) => both.join(": "))
          .join("; ")
      : "all checks passed"

const cells = (outcome: Outcome): ReadonlyArray<string> =>
  Checks.names.map((name) => {
    if (outcome._tag === "NotRun") return "not run"
    return outcome._tag === "Ran" && outcome.report[name] === null ? "yes" : "**fails**"
  })

const line = (columns: ReadonlyArray<string>) => `| ${columns.join(" | ")} |`

/** Renders the table, and below it the reasons for the cells that are not `yes`. */
export const render = (results: ReadonlyArray<Result>, blocks: number): string => {
  const header = ["runtime", "version", ...Checks.names.map((name) => name.replace("upload: ", ""))]
  const table = [
    line(header),
    line(header.map(() => "---")),
    ...results.map(({ name, outcome }) =>
      line([name, outcome._tag === "NotRun" ? "–" : outcome.version, ...cells(outcome)])
    )
  ]
  const reasons = results.flatMap(({ name, outcome }) =>
    outcome._tag === "NotRun"
      ? [`- ${name}: not run, ${outcome.why}.`]
      : problemsOf(outcome).map(([check, problem]) => `- ${name}, ${check}: ${problem.split("\n").at(-1) ?? ""}`)
  )
  return [`Each upload has ${blocks} MiB.`, "", ...table, "", ...reasons].join("\n")
}

/** Renders the measured values as a table. */
export const renderMeasures = (measures: ReadonlyArray<Measure>): string =>
  [
    line(["measured", "value", "limit", ""]),
    line(["---", "---", "---", "---"]),
    ...measures.map(({ holds, limit, value, what }) =>
      line([what, value, limit, holds === undefined ? "not run" : holds ? "met" : "**missed**"])
    )
  ].join("\n")

const begin = "<!-- written by scripts/runtimes/main.ts -->"
const end = "<!-- end -->"

/** Replaces the table in the document. */
export const insert = (document: string, text: string): string => {
  const [before] = document.split(begin)
  const [, after] = document.split(end)
  return `${before ?? ""}${begin}\n\n${text}\n\n${end}${after ?? ""}`
}
