import { changes, type Mutant } from "../Mutant.ts"

export const cliRead: ReadonlyArray<Mutant> = [
  ...changes(
    "packages/cli/src/Table.ts",
    ["Table", "AssemblyTable"],
    [
      {
        name: "a state is cut in a narrow terminal",
        find: `least: keep ? natural : readable`,
        replace: `least: readable`
      },
      {
        name: "the last columns are left out, not the least important ones",
        find: `columns.toSorted((one, other) => one.rank - other.rank)`,
        replace: `columns`
      },
      {
        name: "a column that matters is left out",
        find: `byRank.filter(({ column }) => column.optional !== true)`,
        replace: `byRank.slice(0, 1)`
      },
      {
        name: "an error is not shown in a narrow terminal",
        find: `...linesBelow(row)`,
        replace: ``
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
      },
      {
        name: "an Assembly of many files has a line of thousands of cells",
        find: `&& Text.width(entry.files) <= mostCells) return entry.files`,
        replace: `|| Text.width(entry.files) > 0) return entry.files`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/TimeAxis.ts",
    ["TimeAxis"],
    [
      { name: "weeks start on Thursdays", find: `step % week === 0 ? monday : 0`, replace: `0` },
      {
        name: "a bar ends within a bucket",
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
        name: "the end of the axis has no label",
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
  ),
  ...changes(
    "packages/cli/src/internal/resultFiles.ts",
    ["resultFiles"],
    [
      {
        name: "a result leaves the output folder",
        find: `part.trim() !== "" && part !== "." && part !== ".."`,
        replace: `part !== ""`
      },
      { name: "results of two folders are in one folder", find: `folder: above.join("/")`, replace: `folder: ""` },
      { name: "a result is a device of Windows", find: `.replace(device, "_$&")`, replace: `` },
      { name: "a result is a hidden file", find: `.replace(/^\\.+/, "_")`, replace: `` },
      {
        name: "uploads count as results",
        find: `step === input || files.length === 0`,
        replace: `files.length === 0`
      },
      {
        name: "results have the order in which they were finished",
        find: `.toSorted((one, other) => compare(nameOf(one), nameOf(other)))`,
        replace: ``
      },
      { name: "one result replaces another", find: `taken.has(keyOf([...above, name]))`, replace: `taken.has("")` }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/templateId.ts",
    ["templateId"],
    [
      {
        name: "an Auth Key that may not read Templates may not use them",
        find: `error.code === "INSUFFICIENT_AUTH_SCOPE" ?`,
        replace: `error.code === "" ?`
      },
      {
        name: "the name of a Template is sent as its id",
        find: `usualId.test(template)\n`,
        replace: `template !== ""\n`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/billReport.ts",
    ["billReport"],
    [
      { name: "the bill has no sums", find: `rows.length === 1 ? rows`, replace: `rows.length > 0 ? rows` },
      { name: "a size in the bill has no unit", find: `return Format.bytes(value)`, replace: `return String(value)` }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/results.ts",
    ["assemblies.test"],
    [
      {
        name: "a download replaces another file",
        find: `if (state === "other" && !overwrite)`,
        replace: `if (state === "other" && overwrite)`
      },
      {
        name: "a download gets files that are there again",
        find: `isThere: state === "same"`,
        replace: `isThere: false`
      },
      {
        name: "a mistyped Step is an empty list",
        find: `steps.filter((step) => ResultFiles.of(status, [step]).length === 0)`,
        replace: `steps.filter((step) => step === "")`
      },
      {
        name: "results of a running Assembly are downloaded",
        find: `if (!Assembly.isOver(status))`,
        replace: `if (false)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/DotEnv.ts",
    ["processes"],
    [
      {
        name: "a foreign .env sends the credentials of the environment to its own address",
        find: `if (given.length > 0) {`,
        replace: `if (given.length > 2) {`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/DotEnv.ts",
    ["settings"],
    [{ name: "a broken line of .env is skipped without a word", find: `, ...problems]`, replace: `]` }]
  ),
  ...changes(
    "packages/cli/src/commands/doctor.ts",
    ["settings"],
    [
      {
        name: "doctor fails with 1, whatever does not work",
        find: `exitCode: problem.exitCode ?? failed`,
        replace: `exitCode: failed`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/pages.ts",
    ["unknownValues"],
    [
      {
        name: "a page behind the last page is an empty list",
        find: `items.length > 0 || asked.page === 1`,
        replace: `items.length >= 0`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/fields.ts",
    ["unknownValues"],
    [{ name: "the last value of a repeated field wins", find: `if (fields.has(key))`, replace: `if (fields.has(""))` }]
  ),
  ...changes(
    "packages/cli/src/commands/completions.ts",
    ["completions"],
    [
      {
        name: "no shell completes the files of an upload",
        find: `withPaths(Completions.fromCommand(yield* root))`,
        replace: `Completions.fromCommand(yield* root)`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/region.ts",
    ["Assemblies", "JobSlots"],
    [
      {
        name: "a region that does not exist has statistics",
        find: `asked === region || asked === "all" ? undefined`,
        replace: `asked !== "" ? undefined`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/emulator.ts",
    ["processes"],
    [
      {
        name: "an empty --data is the current folder",
        find: `if (Option.isSome(flags.data)) yield* checkFolder(flags.data.value)`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/assembly/assemblyStatus.ts",
    ["Results"],
    [
      {
        name: "a Status has upload URLs of an earlier run",
        find: `made.uploads.map(located)`,
        replace: `made.uploads`
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/data/database.ts",
    ["Database"],
    [
      {
        name: "the emulator adds tables to the database of another program",
        find: `  yield* checkOwner(sql, path)\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/emulator/src/internal/http/requestLog.ts",
    ["RequestLog"],
    [
      { name: "the log does not say which Assembly", find: `note.assemblyId ?? assemblyOf(url)`, replace: `undefined` },
      { name: "the log contains signatures", find: `url.split("?", 1)[0] ?? ""`, replace: `url` },
      { name: "the log does not say why", find: `reason: reasonOf(response)`, replace: `reason: undefined` }
    ]
  ),
  ...changes(
    "packages/cli/src/TimeAxis.ts",
    ["TimeAxis"],
    [
      {
        name: "a bar counts what is before the axis",
        find: `const index = Math.floor((at.epochMilliseconds - axis.start) / axis.step)`,
        replace: `const index = Math.trunc((at.epochMilliseconds - axis.start) / axis.step)`
      },
      { name: "bars that just fit are larger", find: `if (bars <= maxBars)`, replace: `if (bars < maxBars)` }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/outcomes.ts",
    ["outcomes"],
    [
      {
        name: "aborted requests are unfinished Assemblies",
        find: `bucket.num_cancelled_assemblies + bucket.num_request_aborted_assemblies`,
        replace: `bucket.num_cancelled_assemblies`
      },
      { name: "the number of unfinished Assemblies is negative", find: `        0,\n`, replace: `        -Infinity,\n` }
    ]
  ),
  ...changes(
    "packages/cli/src/StatisticsPage.ts",
    ["StatisticsPage"],
    [
      {
        name: "the heading of a report contains markup",
        find: `<p>\${BarSvg.escape(headline(statistics, options))}</p>`,
        replace: `<p>\${headline(statistics, options)}</p>`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Chart.ts",
    ["Chart"],
    [
      {
        name: "a negative value makes a bar lower",
        find: `Number.isFinite(value) && value >= 0`,
        replace: `Number.isFinite(value)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/stats.ts",
    ["commands.test"],
    [
      {
        name: "a Template that the Auth Key may not read does not exist",
        find: `error._tag === "UnknownTemplate" ? Effect`,
        replace: `error._tag !== "RateLimited" ? Effect`
      },
      {
        name: "statistics need the right to list Assemblies",
        find: `Effect.orElseSucceed((): ReadonlyArray<string> => [])`,
        replace: `Effect.orDie`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/AssemblyTable.ts",
    ["AssemblyTable"],
    [
      {
        name: "a creation time that is no date is lost",
        find: `onNone: () => created, onSome`,
        replace: `onNone: () => "", onSome`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/assemblyState.ts",
    ["AssemblyTable"],
    [{ name: "what failed is green", find: `return style.red(text)`, replace: `return style.green(text)` }]
  ),
  ...changes(
    "packages/cli/src/internal/moment.ts",
    ["commands.test"],
    [
      {
        name: "a timeout of 0 is valid",
        find: `Option.filter(parseAgo(value), Duration.isPositive)`,
        replace: `parseAgo(value)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/dotEnvProblems.ts",
    ["dotEnvProblems"],
    [{ name: "a .env of an old Mac is one line", find: String.raw`/\r\n?|\n/`, replace: String.raw`/\r\n|\n/` }]
  ),
  ...changes(
    "packages/cli/src/internal/resultFiles.ts",
    ["resultFiles"],
    [{ name: "a result has a name that no file system stores", find: `    .toWellFormed()\n`, replace: `` }]
  ),
  ...changes(
    "packages/cli/src/ExitCode.ts",
    ["test/ExitCode.test"],
    [
      {
        name: "files that failed for several reasons have the exit code of the first one",
        find: `others.length === 0 ? first : codes.failed`,
        replace: `first`
      },
      { name: "a stalled upload has the exit code 1", find: `Stalled: "network",`, replace: `` },
      {
        name: "a refused token has the exit code 1",
        find: `"TokenRefused") && status !== 404`,
        replace: `"TokenRefused") && false`
      },
      { name: "a gateway has the exit code 1", find: `if (gatewayStatuses.has(status)) return "network"`, replace: `` },
      { name: "a lost response has the exit code 1", find: `  CreationUnknown: "network",`, replace: `` },
      { name: "a refused audience has the exit code 1", find: `AudienceRefused: "authentication",`, replace: `` },
      {
        name: "a deletion without network has the exit code 1",
        find: `Predicate.isTagged(error, "NotDeleted") || `,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/invocation.ts",
    ["invocation"],
    [
      {
        name: "a program of npx is taken for a program in the path",
        find: `if (npm.test(manager)) return ofNpm(started)`,
        replace: `if (npm.test(manager)) return installed`
      },
      {
        name: "a script that runs another program is taken for assembly",
        find: `if (isScript && !runsByName.test(script)) return installed`,
        replace: `if (isScript && runsByName.test("")) return installed`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/fields.ts",
    ["assemblies"],
    [
      {
        name: "a field of --fields replaces the field of the file",
        find: `Object.hasOwn(ofFile.value, key)`,
        replace: `Object.hasOwn(ofFile.value, "")`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/NextStep.ts",
    ["NextStep"],
    [
      {
        name: "a wrong clock is taken for a wrong secret",
        find: `if (clockSkew !== undefined) return "Set`,
        replace: `if (clockSkew === 0) return "Set`
      },
      {
        name: "an upload that fails does not say why .env is not used",
        find: `new Set(["UploadFailed", `,
        replace: `new Set([`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/address.ts",
    ["NextStep"],
    [
      { name: "a lost name server is a lost network", find: `code === "EAI_AGAIN" || `, replace: `` },
      {
        name: "the host of a result is taken for ASSEMBLY_BASE_URL",
        find: `!operation.startsWith("Results.") && `,
        replace: ``
      },
      {
        name: "a proxy that is down is taken for the service",
        find: `throughProxy(failure, host, route) ?? `,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/proxy.ts",
    ["proxy"],
    [
      { name: "an error shows the password of a proxy", find: `new URL(value).origin`, replace: `value` },
      {
        name: "the port in NO_PROXY does not count",
        find: `if (only !== "" && Number(only) !== Number(port)) return false`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/doctor.ts",
    ["Silence"],
    [
      {
        name: "doctor waits for uploads as long as an upload does",
        find: `Effect.provideService(Tus.RequestTimeout, patience)`,
        replace: `Effect.provideService(Tus.RequestTimeout, Duration.seconds(30))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/requestLine.ts",
    ["requestLine"],
    [
      {
        name: "the log contains paths that grant access",
        find: "operation ?? `${method} ${path}`",
        replace: "`${operation ?? method} ${path}`"
      },
      {
        name: "a failure of the emulator looks like a refusal",
        find: `if (status >= 500)`,
        replace: `if (status > 500)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/replay.ts",
    ["commands.test"],
    [
      {
        name: "a replay never uses the corrected Template",
        find: `reparseTemplate ? { reparseTemplate } : {}`,
        replace: `{}`
      },
      {
        name: "a replay never uses another Template",
        find: `notifyUrl, templateId })`,
        replace: `notifyUrl })`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/cancel.ts",
    ["commands.test"],
    [
      {
        name: "an Assembly that still runs counts as canceled",
        find: `if (!Assembly.isOver(status)) return`,
        replace: `if (assemblyId === undefined) return`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/wait.ts",
    ["commands.test"],
    [
      {
        name: "the error of one of several Assemblies does not name the Assembly",
        find: `line.includes(id) ? line`,
        replace: `line !== "" ? line`
      }
    ]
  )
]
