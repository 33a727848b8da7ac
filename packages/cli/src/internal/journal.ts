/**
 * The folder in which the command line keeps unfinished uploads for the next command.
 *
 * The service, the params, and the paths and names of the files identify a command, and the content of the files does
 * not. The journal finds an upload only if its files have not changed. If a file has changed, this module finds the
 * Assembly of the earlier content, and the command cancels that Assembly.
 */
import { isNotFound } from "@assembly-effect/api/unstable/ErrorDetails"
import { UploadJournal } from "@assembly-effect/tus"
import type * as HttpClient from "effect/http/HttpClient"
import { Clock, Effect, FileSystem, Option, Path, Redacted, Schema, Stdio } from "./effect.ts"
import * as Document from "./document.ts"
import * as Settings from "./settings.ts"
import * as Failure from "./failure.ts"
import * as Cli from "./cli.ts"
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Advice from "./advice.ts"
import * as UploadPlan from "./uploadPlan.ts"
import type * as UploadJob from "./uploadJob.ts"

/** The services that a job of `assembly upload` needs. */
export type Services = AssemblyClient.AssemblyClient | HttpClient.HttpClient | UploadJournal.UploadJournal

/** The flag `--journal`, which names another folder. */
export const flag = Cli.optional("journal", "folder")

/** The default folder, if the variables name one. */
export const usual = Effect.gen(function* () {
  const { join } = yield* Path.Path
  const folder = yield* Settings.folderOf("XDG_STATE_HOME", ".local/state")
  return Option.map(folder, (at) => join(at, "assembly", "uploads"))
})

/** The folder of `--journal`, or else the default folder, if there is one. */
export const folderOf = Effect.fnUntraced(function* (typed: Option.Option<string>) {
  if (Option.isNone(typed)) return yield* usual
  yield* Document.checkFolder("--journal", typed.value, "name a folder")
  return typed
})

/**
 * The journal of uploads in a folder. Without a folder the journal is in memory, so the next command starts a new
 * upload. After a crash of the process that ran an upload, another process can continue the upload after at most 10
 * seconds.
 */
export const layer = (folder: Option.Option<string>) =>
  Option.isNone(folder)
    ? UploadJournal.layerMemory()
    : // 24 hours after an upload has completed, the same command uploads again: a user who uploads the same files on
      // another day wants another Assembly.
      UploadJournal.layerFileSystem(folder.value, { completedExpiry: "24 hours" })

const unusable = (folder: string, problem: string, isKept: boolean) => {
  const repair = Failure.isFull(Failure.codeIn(problem)) ? "Free some space" : "Make the folder writable"
  return Failure.failed(
    `${folder}: ${Failure.problemOfText(problem)}; nothing more is sent, because this folder must record the upload`,
    isKept
      ? `${repair}. The upload is kept. Run the same command again to continue it.`
      : `${repair}, or name another folder with --journal.`
  )
}

/**
 * The error of the command line for an error of the journal in this folder. The result is undefined if the error is
 * another error. If several files failed, only the error of the first one counts. `isKept`: whether the same command
 * continues the upload.
 */
export const failureOf = (
  error: UploadJournal.JournalFailed | UploadJob.JobError,
  folder: string = "the memory",
  isKept = false
): Failure.CommandError | undefined => {
  const first =
    error._tag === "FilesFailed"
      ? error.files.flatMap((file) => (file.outcome === "Failed" ? [file.error] : []))[0]
      : error
  switch (first?._tag) {
    case "JournalTorn":
      return Failure.failed(
        `the entry of an unfinished upload is damaged: ${folder}/${first.key}.json (${first.description})`,
        "Delete this file. The same command then uploads into a new Assembly; assembly list --type=uploading shows the Assemblies that still wait for files."
      )
    case "JournalFailed":
      return unusable(folder, first.description, isKept)
    case "LeaseLost":
      // The lease may be lost because the journal could not be written for a long time.
      return Failure.codeIn(first.description) === undefined ? undefined : unusable(folder, first.description, isKept)
    default:
      return undefined
  }
}

/** At most this number of names of files is stored for a command, so that the file of the command stays small. */
const mostNames = 3

/**
 * An unfinished command.
 *
 * - `origin`: the origin of the service.
 * - `folder` and `args`: the working directory and the arguments, without `--restart`; `params` identifies the params.
 * - `names`: the names of the first files; `files` is the number of files, and `size` their total size in bytes.
 * - `startedAt`: milliseconds since 1970.
 */
const Command = Schema.Struct({
  assemblyId: Assembly.AssemblyId,
  origin: Schema.String,
  folder: Schema.String,
  args: Schema.Array(Schema.String),
  params: Schema.optionalKey(Schema.String),
  names: Schema.Array(Schema.String),
  files: Schema.Int,
  size: Schema.BigInt,
  startedAt: Schema.Finite
})
type Command = typeof Command.Type

const AtRest = Schema.fromJsonString(Schema.toCodecJson(Command))
const decode = Schema.decodeOption(AtRest)
const encode = Schema.encodeSync(AtRest)

/** The entries of the journal for the Assemblies whose jobs are not complete. */
const unfinished = Effect.gen(function* () {
  const { assemblies } = yield* UploadJournal.UploadJournal
  return (yield* assemblies.list).filter(({ entry }) => entry._tag !== "Completed")
})

type Unfinished = Effect.Success<typeof unfinished>[number]

/** The entry of the journal for an Assembly whose job is not complete. */
const entryOf = (assemblyId: Assembly.AssemblyId | undefined) =>
  Effect.map(unfinished, (all) => all.find(({ entry }) => entry.assemblyId === assemblyId))

/** The files of the unfinished commands, one for each command, in the subfolder `commands` of the journal folder. */
const filesIn = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const inside = path.join(folder, "commands")
  const at = (name: string) => path.join(inside, name)
  const read = (name: string) =>
    fs.readFileString(at(name)).pipe(
      Effect.map((text) => Option.getOrUndefined(decode(text))),
      Effect.orElseSucceed(() => undefined)
    )
  return {
    read,
    /** `command` is undefined if the file cannot be read. */
    all: Effect.flatMap(
      Effect.orElseSucceed(fs.readDirectory(inside), () => []),
      (names) => Effect.forEach(names, (name) => Effect.map(read(name), (command) => ({ name, command })))
    ),
    write: (name: string, command: Command) =>
      // The folder of the journal exists. If `commands` cannot be created, the write fails. Only the owner may read the
      // file, because anybody who knows the id of an Assembly can read its Status.
      Effect.ignore(fs.makeDirectory(inside, { mode: 0o700 })).pipe(
        Effect.andThen(fs.writeFileString(at(name), encode(command), { mode: 0o600 }))
      ),
    remove: (name: string) => fs.remove(at(name), { force: true })
  }
})

/** An unfinished upload of the journal. `command` is undefined if its file is missing or cannot be read. */
export interface Upload extends Unfinished {
  readonly command: Command | undefined
  /** Removes the file in `commands` that names the Assembly of this upload. */
  readonly forget: Effect.Effect<void>
}

/** When the upload was started, or else when its entry was last written, in milliseconds since 1970. */
export const startOf = ({ command, entry }: Upload): number => command?.startedAt ?? entry.writtenAt

/** The unfinished uploads of a journal folder, the oldest first. Removes the files of commands whose entry has expired. */
export const list = Effect.fnUntraced(function* (folder: string) {
  const memory = yield* filesIn(folder)
  const open = yield* unfinished
  const commands = yield* memory.all
  const isOpen = (id?: Assembly.AssemblyId) => open.some(({ entry }) => entry.assemblyId === id)
  for (const { command, name } of commands) {
    if (!isOpen(command?.assemblyId)) yield* Effect.ignore(memory.remove(name))
  }
  const uploads = open.map((one): Upload => {
    const own = commands.find(({ command }) => command?.assemblyId === one.entry.assemblyId)
    return {
      key: one.key,
      entry: one.entry,
      command: own?.command,
      forget: own === undefined ? Effect.void : Effect.ignore(memory.remove(own.name))
    }
  })
  return uploads.toSorted((one, other) => startOf(one) - startOf(other))
})

/**
 * Cancels the Assembly of an unfinished upload, and removes the entries of the upload and of its files from the
 * journal. Fails if another process runs the upload. Returns the Status of the Assembly, or undefined if the
 * service no longer has the Assembly.
 */
export const forget = ({ entry: { assemblyId }, key }: Unfinished) =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    yield* journal.lease(key)
    // The entries of the files are read first: if they cannot be read, the upload is kept as it is.
    const files = yield* journal.list
    const status = yield* Assemblies.cancel(assemblyId).pipe(Effect.catchIf(isNotFound, () => Effect.undefined))
    for (const file of files) {
      const url = Redacted.value(file.entry.target.assemblySslUrl)
      if (ServiceOrigins.assemblyIdAt(url) === assemblyId) yield* journal.forget(file.key)
    }
    yield* journal.assemblies.forget(key)
    return status
  }).pipe(Effect.scoped)

/**
 * Cancels an Assembly that no command can continue. Returns what happened, for the user, unless the journal or the
 * service no longer has the Assembly, or the Assembly had ended before.
 */
const leave = (assemblyId: Assembly.AssemblyId, what: string) =>
  Effect.gen(function* () {
    const found = yield* entryOf(assemblyId)
    const status = found === undefined ? undefined : yield* forget(found)
    return status !== undefined && Assembly.state(status) === "Canceled"
      ? `${what} changed after an interrupted upload. Its Assembly ${assemblyId} was canceled`
      : undefined
  }).pipe(
    // An upload that another process runs was not interrupted.
    Effect.catchTag("UploadLeased", () => Effect.undefined),
    Effect.catch((error) =>
      Effect.succeed(
        `${what} changed after an interrupted upload. Its Assembly ${assemblyId} could not be canceled and may still wait for files: ${Advice.line(error)}`
      )
    )
  )

/** The arguments of the command that continues this upload: the same arguments without `--restart`. */
const toContinue = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return args.filter((arg, index) => (end >= 0 && index >= end) || !/^--restart(?:=|$)/.test(arg))
}

/** Whether two runs differ only in the files that their folders have. Another list of `--files-from` is another job. */
const isSame = (command: Command | undefined, other: Omit<Command, "assemblyId" | "startedAt">) => {
  const [one, two] = [command, other].map((run) => run && [run.folder, run.origin, run.params, ...run.args].join("\0"))
  return one === two && !other.args.some((arg) => arg.startsWith("--files-from"))
}

/**
 * Makes the memory of a command. The command does not fail if its file cannot be read or written.
 *
 * - `folder`: the folder of the journal.
 * - `earlier`: the Assembly that an earlier run of the command has created, if this run can continue it.
 * - `runs`: remembers the Assembly of this run. If earlier runs of the command, before its files changed or files came or
 *   went, have left other Assemblies behind, cancels these Assemblies and returns what happened, for the user.
 * - `completed`: forgets the Assembly of the command, which is complete.
 */
export const make = Effect.fnUntraced(function* (
  folder: string,
  files: ReadonlyArray<UploadPlan.Planned>,
  params: Assembly.CreateParams
) {
  const [origin = ""] = (yield* AssemblyClient.AssemblyClient).origins.entries
  const memory = yield* filesIn(folder)
  const paths = files.map(({ name, realPath }) => [realPath, name])
  const own = yield* UploadJournal.assemblyKeyOf([origin, JSON.stringify(params), paths])
  const about = {
    origin,
    folder: (yield* Path.Path).resolve("."),
    args: toContinue(yield* (yield* Stdio.Stdio).args),
    params: yield* UploadJournal.assemblyKeyOf([origin, JSON.stringify(params)]),
    names: files.slice(0, mostNames).map(({ name }) => name),
    files: files.length,
    size: UploadPlan.totalSize(files) ?? 0n
  }
  const before = yield* memory.read(own)
  const isKept = (yield* Effect.orElseSucceed(entryOf(before?.assemblyId), () => undefined)) !== undefined
  const earlier = isKept ? before?.assemblyId : undefined

  return {
    folder,
    earlier,
    runs: Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId) {
      const last = yield* memory.read(own)
      const startedAt = last?.assemblyId === assemblyId ? last.startedAt : yield* Clock.currentTimeMillis
      // The same command, before files came to its folders or went.
      const others = (yield* memory.all).filter(({ command, name }) => name !== own && isSame(command, about))
      yield* Effect.ignore(memory.write(own, { ...about, assemblyId, startedAt }))
      const left = [
        [last?.assemblyId, files.length === 1 ? files[0]?.path : "A file"],
        ...others.map(({ command }) => [command?.assemblyId, "The files"])
      ] as const
      const told = yield* Effect.forEach(left, ([id, changed = ""]) =>
        id === undefined || id === assemblyId ? Effect.undefined : leave(Assembly.AssemblyId.make(id), changed)
      )
      return told.flatMap((text) => text ?? []).join(". ") || undefined
    }),
    completed: Effect.ignore(memory.remove(own))
  }
})

/** The memory of one command. */
export type Memory = Effect.Success<ReturnType<typeof make>>
