import { changes, type Mutant } from "../Mutant.ts"

export const cliRead: ReadonlyArray<Mutant> = [
  ...changes(
    "packages/cli/src/Table.ts",
    ["Table", "AssemblyTable"],
    [
      {
        name: "a state is cut in a narrow terminal",
        find: `least: keep ? natural : Math.min(natural, least)`,
        replace: `least: Math.min(natural, least)`
      },
      {
        name: "the last columns are left out, not the least important ones",
        find: `columns.toSorted((one, other) => one.rank - other.rank)`,
        replace: `columns`
      },
      {
        name: "nobody says which columns are missing",
        find: `titles.length === 0 ? []`,
        replace: `titles.length >= 0 ? []`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/AssemblyTable.ts",
    ["AssemblyTable"],
    [
      {
        name: "a later page has a state that does not fit",
        find: `stateOf: AssemblyState.known`,
        replace: `stateOf: AssemblyState.name`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/TimeAxis.ts",
    ["TimeAxis"],
    [
      { name: "weeks start on Thursdays", find: `step % week === 0 ? monday : 0`, replace: `0` },
      {
        name: "a bar has a part of a bucket",
        find: `([millis]) => millis % bucket === 0`,
        replace: `([millis]) => millis >= bucket`
      },
      {
        name: "there are more bars than cells",
        find: `barsOf(start, end, base) / Math.max(1, maxBars)`,
        replace: `barsOf(start, end, base) / (maxBars + 1)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Chart.ts",
    ["Chart"],
    [
      {
        name: "the axis does not end now",
        find: `Text.pad(now, end - labels.length, "right")`,
        replace: `Text.pad("", end - labels.length, "right")`
      },
      {
        name: "the label of the largest value is cut",
        find: `while (found.labelCells > 0 && widest(found) > found.labelCells)`,
        replace: `if (found.labelCells > 0 && widest(found) > found.labelCells + 4)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/barSvg.ts",
    ["StatisticsPage"],
    [
      { name: "a report contains markup of the service", find: `.replaceAll("<", "&lt;")`, replace: `` },
      { name: "the parts of a bar overlap", find: `      below += value\n`, replace: `` }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/stats.ts",
    ["commands.test"],
    [
      {
        name: "statistics leave out Assemblies with a Template",
        find: `template === "none" ? {} : { templateId: template }`,
        replace: `template === "none" || template === "all" ? {} : { templateId: template }`
      },
      {
        name: "a region that does not exist is a report of zeros",
        find: `if (query.region === "all") return`,
        replace: `if (query.region !== "") return`
      }
    ]
  )
]
