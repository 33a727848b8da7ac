import { changes, type Mutant } from "../Mutant.ts"

/** Mutations of the commands that no test detected when they were first tried. */
export const cliCommands: ReadonlyArray<Mutant> = [
  ...changes(
    "packages/cli/src/commands/doctor.ts",
    ["doctorClock"],
    [
      {
        name: "a clock that is behind is said to be ahead",
        find: `Duration.isNegative(skew) ? "behind" : "ahead of"`,
        replace: `Duration.isNegative(skew) ? "ahead of" : "behind"`
      },
      {
        name: "doctor accepts every clock",
        find: `Duration.isLessThanOrEqualTo(size, tolerable)`,
        replace: `Duration.isLessThanOrEqualTo(tolerable, size) || true`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/unfinishedUploads.ts",
    ["uploads.test"],
    [
      {
        name: "forgetting one upload forgets the files of every upload",
        find: `if (ServiceOrigins.assemblyIdAt(Redacted.value(target.assemblySslUrl)) === assemblyId)`,
        replace: `if (target !== undefined)`
      },
      {
        name: "everybody can list the ids of unfinished uploads",
        find: `fs.makeDirectory(inside, { mode: 0o700 })`,
        replace: `fs.makeDirectory(inside)`
      },
      {
        name: "an upload that the service no longer has cannot be forgotten",
        find: `(error) => error._tag === "ServiceFailure" && error.status === 404,`,
        replace: `(error) => error._tag === "ServiceFailure" && error.status === 410,`
      },
      {
        name: "the newest upload is listed first",
        find: `.toSorted((one, other) => startOf(one) - startOf(other))`,
        replace: `.toSorted((one, other) => startOf(other) - startOf(one))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/uploads.ts",
    ["uploads.test"],
    [
      {
        name: "the id of an upload is sent to another service",
        find: `  return origin === undefined || origin === origins.entries[0]\n`,
        replace: `  return origin !== ""\n`
      },
      {
        name: "an upload into another service is forgotten",
        find: `  const problem = yield* elsewhere(found)\n`,
        replace: `  const problem = undefined\n`
      },
      {
        name: "an Assembly that the service no longer has is not known",
        find: `error._tag === "ServiceFailure" && error.status === 404\n`,
        replace: `error._tag === "ServiceFailure" && error.status === 410\n`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/results.ts",
    ["assemblies.test"],
    [
      {
        name: "a download follows a link below the first folder",
        find: `paths.join(output, ...parts.slice(0, index + 1))`,
        replace: `paths.join(output, ...parts.slice(0, 1 + 0 * index))`
      },
      {
        name: "a download says that it has saved what was there",
        find: `event: isThere ? "AlreadyThere" : "Downloaded"`,
        replace: `event: "Downloaded"`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/uploadRun.ts",
    ["uploadEnds"],
    [
      {
        name: "an upload whose Assembly was canceled starts again",
        find: `return isCanceled && isEarlier\n`,
        replace: `return isCanceled\n`
      },
      {
        name: "--restart discards the upload of its own command",
        find: `waiting(once(isRestarted), once(false), settings, seen)`,
        replace: `waiting(once(isRestarted), once(isRestarted), settings, seen)`
      },
      {
        name: "a file whose connection fails is not retried",
        find: `const maxRetries = 20`,
        replace: `const maxRetries = 0`
      },
      {
        name: "a file that changed is said to continue its upload",
        find: `|| isCanceled || hasChanged(error)`,
        replace: `|| isCanceled`
      },
      {
        name: "the JSON of each failure has the exit code 1",
        find: `exit_code: ExitCode.fromError(error)`,
        replace: `exit_code: ExitCode.codes.failed`
      },
      {
        name: "a wrong address is taken for a lost Assembly",
        find: `error.status === 404 && error.operation === "Assemblies.get"`,
        replace: `error.status === 404`
      },
      {
        name: "the memory of a completed command stays",
        find: `Stream.drain(Stream.fromEffect(memory.completed))`,
        replace: `Stream.empty`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/upload.ts",
    ["storedElsewhere"],
    [
      {
        name: "a file that is stored under another path is a success",
        find: `    if (folder !== undefined) yield* UploadReport.checkPaths(files, status, folder)\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/earlierUpload.ts",
    ["uploadAgain"],
    [
      {
        name: "a file is uploaded again if the service does not say whether it has the file",
        find: `Effect.catchTag("DamResourceNotFound", () => Effect.succeed(false))`,
        replace: `Effect.catch(() => Effect.succeed(false))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/unfinishedUploads.ts",
    ["uploads.test"],
    [
      {
        name: "the command that continues an upload lacks a file named --restart",
        find: `(end >= 0 && index >= end) || `,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/uploads.ts",
    ["uploads.test"],
    [
      {
        name: "an upload started in 1970",
        find: `started_at: DateTime.formatIso(startOf(kept))`,
        replace: `started_at: DateTime.formatIso(DateTime.makeUnsafe(0))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/launch.ts",
    ["ownFolders"],
    [
      {
        name: "another user can change the compiled program",
        find: `  if (!folder) return\n`,
        replace: `  if (!folder) return void Module.enableCompileCache()\n`
      },
      {
        name: "progress that cannot be written makes an upload fail",
        find: `if (Message.isOpen()) process.exitCode ??=`,
        replace: `process.exitCode ??=`,
        tests: ["uploadEnds"]
      }
    ]
  ),
  ...changes(
    "packages/cli/src/ErrorLine.ts",
    ["ErrorLine"],
    [{ name: "an error has escaped line breaks", find: String.raw`.replace(/\s*\n\s*/g, " ")`, replace: `` }]
  ),
  ...changes(
    "packages/cli/src/internal/requestLine.ts",
    ["requestLine"],
    [{ name: "the status 400 is green", find: `return status >= 400 ?`, replace: `return status > 400 ?` }]
  ),
  ...changes(
    "packages/cli/src/internal/deleteEach.ts",
    ["deleteEach"],
    [
      {
        name: "nobody knows which of several things could not be deleted",
        find: `ids.length === 1 ? cause :`,
        replace: `ids.length >= 1 ? cause :`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/list.ts",
    ["commands.test"],
    [
      {
        name: "a whole list is read in small pages",
        find: `(all ? 500 : AssemblyList.defaults.pageSize)`,
        replace: `AssemblyList.defaults.pageSize`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/UploadJob.ts",
    ["UploadJob"],
    [
      {
        name: "a large number of bytes loses digits in JSON",
        find: `bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : String(bytes)`,
        replace: `bytes >= 0n ? Number(bytes) : String(bytes)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/outcomes.ts",
    ["outcomes"],
    [
      {
        name: "a report begins in 1970",
        find: `times.reduce((first, time) => Math.min(first, time), to)`,
        replace: `times.reduce((first, time) => Math.min(first, time), 0)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Format.ts",
    ["test/Format"],
    [
      {
        name: "a latency is rounded up",
        find: `\`\${Math.floor(millis)} ms\``,
        replace: `\`\${Math.ceil(millis)} ms\``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/UploadPlan.ts",
    ["UploadPlan"],
    [
      {
        name: "what is below a matching folder is uploaded twice",
        find: `!named.some((other) => one.startsWith(other + path.sep))`,
        replace: `one !== ""`
      },
      {
        name: "a file whose name begins as a folder does is left out",
        find: `one.startsWith(other + path.sep)`,
        replace: `one !== other && one.startsWith(other)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/moment.ts",
    ["commands.test"],
    [
      {
        name: "a clock of the service that is ahead makes a period invalid",
        find: `const tolerance = Duration.hours(1)`,
        replace: `const tolerance = Duration.zero`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/waiting.ts",
    ["Silence"],
    [
      {
        name: "each request says what the command waits for",
        find: `    isSettled = true\n    return Effect.flatMap(Show`,
        replace: `    return Effect.flatMap(Show`
      },
      {
        name: "a line about waiting is written into the progress",
        find: `const settle = Effect.sync(() => {\n    isSettled = true\n  })`,
        replace: `const settle = Effect.void`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/wait.ts",
    ["Silence"],
    [
      {
        name: "a service that does not answer is an Assembly that has not ended",
        find: `error.operation === "Assemblies.awaitCompletion"`,
        replace: `error.operation !== ""`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/uploadReport.ts",
    ["storedElsewhere"],
    [
      {
        name: "a path with variables fails the upload",
        find: ` || folder.includes("\${")\n`,
        replace: `\n`
      },
      {
        name: "a dry run names a target that the Steps decide",
        find: `target: folder === undefined ? null : targetOf(file)`,
        replace: `target: targetOf(file)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/upload.ts",
    ["storedElsewhere"],
    [
      {
        name: "--path beside --template is ignored",
        find: `&& (Option.isSome(steps) || Option.isSome(template))`,
        replace: `&& Option.isSome(steps)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/dotEnvProblems.ts",
    ["dotEnvProblems"],
    [
      {
        name: "a .env in Latin-1 is read as UTF-8",
        find: String.raw`if (/[\0\uFFFD]/.test(text))`,
        replace: String.raw`if (/[\0]/.test(text))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/RunProgram.ts",
    ["processes"],
    [{ name: "a program lacks the environment", find: `extendEnv: true`, replace: `extendEnv: false` }]
  ),
  ...changes(
    "packages/cli/src/Program.ts",
    ["processes"],
    [
      {
        name: "a warning of the client is in the output",
        find: `Effect.provideService(Logger.LogToStderr, true)`,
        replace: `Effect.provideService(Logger.LogToStderr, false)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/upload.ts",
    ["uploadEnds"],
    [
      {
        name: "--limit-rate limits nothing",
        find: `Effect.provide(job, UploadBandwidth.layer({ bytesPerSecond }))`,
        replace: `Effect.andThen(Effect.succeed(bytesPerSecond), job)`
      }
    ]
  )
]
