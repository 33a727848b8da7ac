import { changes } from "../Mutant.ts"

export const cli = [
  ...changes(
    "packages/cli/src/RunProgram.ts",
    ["processes"],
    [
      {
        name: "a program that failed with 1 has succeeded",
        find: `if (exitCode !== 0)`,
        replace: `if (exitCode > 1)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/StateFolder.ts",
    ["StateFolder"],
    [
      {
        name: "the command line does not upload the same files on another day",
        find: `{ completedExpiry: "24 hours" }`,
        replace: `{}`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Output.ts",
    ["HostileService"],
    [
      {
        name: "a line of output is not escaped",
        find: `Console.log(texts.map(Printable.escape).join("\\n"))`,
        replace: `Console.log(texts.join("\\n"))`
      },
      {
        name: "JSON output is not escaped",
        find: `Console.log(Printable.escapeJson(text))`,
        replace: `Console.log(text)`
      },
      {
        name: "JSON that is too deep is a defect",
        find: `Effect.flatMap(stringify),`,
        replace: `Effect.flatMap((encoded) => Effect.orDie(stringify(encoded))),`
      },
      {
        name: "a hint is not escaped",
        find: `tell(inTerminal(Printable.escape(text)))`,
        replace: `tell(inTerminal(text))`
      },
      {
        name: "drawn text is not escaped",
        find: `terminal.display(guard(text, Style.screen))`,
        replace: `terminal.display(text)`
      },
      {
        name: "output of the console is not escaped",
        find: `Effect.map(Console.Console, guarded)`,
        replace: `Effect.tap(Console.Console, (console) => Effect.sync(() => guarded(console)))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Table.ts",
    ["HostileService", "Table"],
    [
      {
        name: "a cell of a table is not escaped",
        find: `Printable.escape(value(row))`,
        replace: `value(row)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/shell.ts",
    ["shell"],
    [
      {
        name: "a secret with a semicolon is not quoted",
        find: `if (plain.test(text)) return`,
        replace: `if (plain.test(text) || text.includes(";")) return`
      },
      {
        name: "a quote ends the word",
        find: String.raw`text.replaceAll(/['\\]+/g,`,
        replace: String.raw`text.replaceAll(/[\\]+/g,`
      },
      {
        name: "the last line breaks of a secret are lost",
        find: String.raw`%_}"`,
        replace: String.raw`%__}"`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/confirm.ts",
    ["test/resources"],
    [
      {
        name: "nobody sees what a command would delete",
        find: `yield* Output.draw(\`\${(yield* list(things)).join("\\n")}\\n\`)`,
        replace: ``
      },
      {
        name: "a deletion without a terminal needs no agreement",
        find: `if (!canPrompt) return yield* new CommandError.NotConfirmed({ what: nameOf(things), asked: false })`,
        replace: `if (!canPrompt) return`
      },
      {
        name: "the answer no deletes",
        find: `if (!agreed) return`,
        replace: `if (agreed === undefined) return`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/keys.ts",
    ["test/resources"],
    [
      {
        name: "the JSON of a new Auth Key shows its secret without being asked",
        find: `auth_key: showSecret ? key : hidden(key)`,
        replace: `auth_key: key`
      },
      {
        name: "a new Auth Key shows its secret without being asked",
        find: `showSecret ? key.auth_secret : undefined`,
        replace: `key.auth_secret`
      },
      {
        name: "the list of Auth Keys shows secrets",
        find: `found.auth_keys.map(hidden)`,
        replace: `found.auth_keys`
      },
      {
        name: "the secret of a new Auth Key is lost",
        find: `if (showSecret || Option.contains(canShowAuthSecret, true)) return Effect.succeed(scopes)`,
        replace: `if (scopes.length > 0) return Effect.succeed(scopes)`
      },
      {
        name: "an Auth Key is deleted without a question",
        find: `many: "Auth Keys", describe }, yes)`,
        replace: `many: "Auth Keys", describe }, yes || ids.length === 1)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/credentials.ts",
    ["test/resources"],
    [
      {
        name: "the JSON of credentials shows secrets without being asked",
        find: `showSecret ? found.credential : hidden(found.credential)`,
        replace: `found.credential`
      },
      {
        name: "the list of credentials shows secrets",
        find: `found.credentials.map(hidden)`,
        replace: `found.credentials`
      },
      {
        name: "credentials show secrets without being asked",
        find: `isShown ? Cells.text(secretOf(credential)) : "hidden; --show-secret shows it"`,
        replace: `Cells.text(secretOf(credential))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/document.ts",
    ["test/resources"],
    [
      {
        name: "the error of a file repeats its secrets",
        find: `if (confidential) return`,
        replace: `if (confidential && at !== "") return`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/facts.ts",
    ["HostileService"],
    [
      {
        name: "the value of a fact is not escaped",
        find: `Printable.escape(value)`,
        replace: `value`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/ExitCode.ts",
    ["exitCodes"],
    [
      {
        name: "a refused Auth Key has the exit code 1",
        find: `AuthenticationFailed: "authentication"`,
        replace: `AuthenticationFailed: "failed"`
      },
      {
        name: "a network failure has the exit code 1",
        find: `TransportFailure: "network"`,
        replace: `TransportFailure: "failed"`
      },
      {
        name: "an interruption has the exit code 1",
        find: `if (Cause.hasInterruptsOnly(exit.cause)) return codes.interrupted`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/UploadPlan.ts",
    ["UploadPlan"],
    [
      {
        name: "one file replaces another file of the same name",
        find: `.find(([, found]) => found.length > 1)`,
        replace: `.find(([, found]) => found.length > 2)`
      },
      {
        name: "names that are equal in NFC are different",
        find: `name.normalize("NFC"))].find`,
        replace: `name)].find`
      },
      {
        name: "an invalid name is not refused before the upload",
        find: `if (problem !== undefined) return yield* refuse(path, problem)`,
        replace: ``
      },
      {
        name: "an empty folder is uploaded as nothing",
        find: `return found.length === 0\n    ? yield* refuse(folder`,
        replace: `return found.length < 0\n    ? yield* refuse(folder`
      },
      {
        name: "a name leads to the folder above",
        find: String.raw`path.isAbsolute(typed) || /^\.\.(?:\/|$)/.test(normal)`,
        replace: `path.isAbsolute(typed)`
      },
      {
        name: "folders are left out of the names",
        find: `name: isRecursive ? kept : name`,
        replace: `name`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/launch.ts",
    ["exitCodes", "bin"],
    [
      {
        name: "an old version of Node is not refused",
        find: `difference !== undefined && difference < 0`,
        replace: `false`
      },
      {
        name: "a full disk is a success",
        find: `code === "EPIPE" ? unread : 1`,
        replace: `code === "EPIPE" ? unread : 0`
      },
      {
        name: "an output without a reader is a success",
        find: `code === "EPIPE" ? unread : 1`,
        replace: `code === "EPIPE" ? 0 : 1`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/JobProgress.ts",
    ["JobProgress"],
    [
      {
        name: "each attempt of each file leaves a line",
        find: `if (told.has(reason)) return undefined`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/UploadJob.ts",
    ["UploadJob"],
    [
      {
        name: "an old Status is shown after the end",
        find: `return _tag !== "Executing" || !isCompleted`,
        replace: `return true`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/uploadRun.ts",
    ["uploadCommand"],
    [
      {
        name: "the command does not wait for an unreachable service",
        find: `isOver || !hasUpload(settings, seen) || !isTemporary(error)`,
        replace: `isOver || !settings.isJson || !isTemporary(error)`
      },
      {
        name: "the Assembly of the standard input waits for ever",
        find: `cancelOnInterrupt: true`,
        replace: `cancelOnInterrupt: false`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/uploadRun.ts",
    ["uploadContinued"],
    [
      {
        name: "a service behind a proxy that has lost it is not waited for",
        find: `return gone.has(error.status)`,
        replace: `return false`
      },
      {
        name: "the same command does not wait for an upload of an earlier command",
        find: `isKept && (status !== undefined || earlier !== undefined)`,
        replace: `isKept && status !== undefined`
      },
      {
        name: "Ctrl-C after the last byte says that bytes are missing",
        find: `if (event._tag === "Uploaded") seen.isUploaded = true`,
        replace: ``
      },
      {
        name: "the command of a restarted upload is said to continue it",
        find: `settings.isRestarted ? "run`,
        replace: `!settings.isRestarted ? "run`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/unfinishedUploads.ts",
    ["uploadContinued"],
    [
      {
        name: "an upload of other content is taken for the upload of this command",
        find: `before.content === about.content &&`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/unfinishedUploads.ts",
    ["uploads"],
    [
      {
        name: "an upload that another process runs is forgotten",
        find: `    yield* journal.lease(key)\n`,
        replace: ``
      },
      {
        name: "an upload with other params is taken for the upload of this command",
        find: `    JSON.stringify(params),`,
        replace: `    "",`
      },
      {
        name: "everybody can read the ids of unfinished uploads",
        find: `{ mode: 0o600 }`,
        replace: `{}`
      },
      {
        name: "the command that continues an upload restarts it",
        find: `!/^--restart(?:=|$)/.test(arg)`,
        replace: `true`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/launch.ts",
    ["uploadContinued"],
    [
      {
        name: "Ctrl-C while the program is loaded is forgotten",
        find: `  handOver()\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/cli/src/JobProgress.ts",
    ["JobProgress"],
    [
      {
        name: "bytes of an earlier run are speed",
        find: `: ProgressBar.inherit(progress, { now, bytes })`,
        replace: `: progress`
      },
      {
        name: "the progress of several files falls when one of them continues",
        find: `sent < progress.sent && !mayFall`,
        replace: `sent < 0n && !mayFall`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/standardInput.ts",
    ["uploadCommand"],
    [
      {
        name: "a closed standard input is stored as an empty file",
        find: `nothing.value.rdev === input.rdev`,
        replace: `nothing.value.rdev !== input.rdev`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/journalProblem.ts",
    ["journalProblem"],
    [
      {
        name: "a full disk is blamed on permissions",
        find: `isFull: SystemProblem.isFull(SystemProblem.codeIn(problem))`,
        replace: `isFull: false`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/unfinishedUploads.ts",
    ["damagedJournal"],
    [
      {
        name: "a damaged entry of the journal is left out",
        find: `damaged.push({ file`,
        replace: `void ({ file`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/uploads.ts",
    ["damagedJournal"],
    [
      {
        name: "a list of uploads with a damaged entry is a success",
        find: `if (damaged.length > 0) return yield* new`,
        replace: `if (damaged.length < 0) return yield* new`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/uploadRun.ts",
    ["withoutFolder"],
    [
      {
        name: "an upload without a folder does not say that it cannot be continued",
        find: `!settings.isKept && settings.isNoted ?`,
        replace: `!settings.isKept && !settings.isNoted ?`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/uploadRun.ts",
    ["uploadCommand"],
    [
      {
        name: "the last line of JSON has another exit code than the command",
        find: `exit_code: ExitCode.fromError(error)`,
        replace: `exit_code: 1`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Output.ts",
    ["lostMessages"],
    [
      {
        name: "a list of all pages goes on without a reader",
        find: `Effect.andThen(print(value), isWritten)`,
        replace: `Effect.as(print(value), true)`
      },
      {
        name: "a lost message is a success",
        find: `Effect.andThen(Effect.sync(Message.begin), Console.error(text))`,
        replace: `Console.error(text)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/launch.ts",
    ["lostMessages"],
    [
      {
        name: "lost progress is a failure",
        find: `if (Message.isOpen()) process.exitCode`,
        replace: `process.exitCode`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/ErrorLine.ts",
    ["savedFiles"],
    [
      {
        name: "a full disk is told in the words of a library",
        find: `SystemProblem.ofText(error.problem)`,
        replace: `error.problem`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/commands/assembly.ts",
    ["bin"],
    [
      {
        name: "the help loads every command",
        find: `if (!isNeeded(name, args)) return`,
        replace: `if (!isNeeded(name, args) && args.includes(name)) return`
      },
      {
        name: "the completions know only some commands",
        find: String.raw`/^--(?:completions|wizard)(?:=|$)/.test(arg)`,
        replace: String.raw`/^--(?:wizard)(?:=|$)/.test(arg)`
      }
    ]
  )
]
