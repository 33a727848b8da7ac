/**
 * Remembers the Assembly of each unfinished `assembly upload`. The service, the params, and the paths and names of the
 * files identify a command, and the content of the files does not. The journal finds an upload only if its files have
 * not changed. If a file has changed, this module finds the Assembly of the earlier content, and the command cancels
 * that Assembly.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as CommandError from "../CommandError.ts"
import * as ErrorLine from "../ErrorLine.ts"
import * as UploadPlan from "../UploadPlan.ts"
import * as SystemProblem from "./systemProblem.ts"

/** At most this number of names of files is stored for a command, so that the file of the command stays small. */
const mostNames = 3

/**
 * An unfinished command.
 *
 * - `origin`: the origin of the service.
 * - `content`: a hash of the identities of the files. The identity of a file changes when its size or its modification
 *   time changes.
 * - `folder` and `args`: the working directory and the arguments, without `--restart`.
 * - `names`: the names of the first files; `files` is the number of files, and `size` their total size in bytes.
 * - `startedAt`: milliseconds since 1970.
 */
const Command = Schema.Struct({
  assemblyId: Assembly.AssemblyId,
  origin: Schema.String,
  content: Schema.String,
  folder: Schema.String,
  args: Schema.Array(Schema.String),
  names: Schema.Array(Schema.String),
  files: Schema.Int,
  size: Schema.BigInt,
  startedAt: Schema.Finite
})
type Command = typeof Command.Type

const AtRest = Schema.fromJsonString(Schema.toCodecJson(Command))
const decode = Schema.decodeOption(AtRest)
const encode = Schema.encodeSync(AtRest)

/** An entry of the journal for an Assembly whose job is not complete, with its key. */
interface Unfinished {
  readonly key: string
  readonly entry: UploadJournal.AssemblyEntry
}

const unfinished = Effect.gen(function* () {
  const { assemblies } = yield* UploadJournal.UploadJournal
  return (yield* assemblies.list).filter(({ entry }) => entry._tag !== "Completed")
})

/**
 * The entry of the journal for an Assembly whose job is not complete. The result is undefined if the journal has no
 * such entry.
 */
const entryOf = (assemblyId: Assembly.AssemblyId) =>
  Effect.map(unfinished, (found): Unfinished | undefined => found.find(({ entry }) => entry.assemblyId === assemblyId))

/** The files of the unfinished commands, one for each command, in the subfolder `commands` of the journal folder. */
const filesIn = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const inside = path.join(folder, "commands")
    const read = (name: string) =>
      // Opening a named pipe would wait for ever.
      fs.stat(path.join(inside, name)).pipe(
        Effect.flatMap(({ type }) =>
          type === "File" ? fs.readFileString(path.join(inside, name)) : Effect.succeed("")
        ),
        Effect.option,
        Effect.map(Option.flatMap(decode))
      )
    return {
      read,
      write: (name: string, command: Command) =>
        Effect.gen(function* () {
          // The folder of the journal exists. If `commands` cannot be created, the write below fails.
          yield* Effect.ignore(fs.makeDirectory(inside, { mode: 0o700 }))
          // Only the owner may read the file, because anybody who knows the id of an Assembly can read its Status.
          yield* fs.writeFileString(path.join(inside, name), encode(command), { mode: 0o600 })
        }),
      remove: (name: string) => fs.remove(path.join(inside, name), { force: true }),
      names: Effect.orElseSucceed(fs.readDirectory(inside), (): ReadonlyArray<string> => [])
    }
  })

/**
 * An unfinished upload of the journal. `command` is undefined if the file of the command in `commands` is missing or
 * cannot be read.
 */
export interface Upload extends Unfinished {
  readonly command: Command | undefined
  /** Removes the files in `commands` that name the Assembly of this upload. */
  readonly forget: Effect.Effect<void>
}

/** An entry of the journal that cannot be read. `file` is its path, and `description` says why. */
export interface Damaged {
  readonly file: string
  readonly description: string
}

/** What a journal folder contains: the unfinished uploads, the oldest first, and the entries that cannot be read. */
export interface Found {
  readonly uploads: ReadonlyArray<Upload>
  readonly damaged: ReadonlyArray<Damaged>
}

const suffix = ".json"

/**
 * Reads each entry of a journal folder on its own, so that a damaged entry does not hide the other entries. Returns the
 * entries of the jobs that are not complete, and the entries that cannot be read.
 */
const readAll = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const journal = yield* UploadJournal.UploadJournal
  // Listing the jobs also removes the expired entries.
  yield* Effect.ignore(journal.assemblies.list)
  const names = yield* Effect.mapError(
    fs.readDirectory(folder),
    (error) => new CommandError.UnreadableJournal({ folder, description: SystemProblem.of(error) })
  )
  const jobs: Array<Unfinished> = []
  const damaged: Array<Damaged> = []
  for (const name of names.toSorted()) {
    if (!name.endsWith(suffix)) continue
    const key = name.slice(0, -suffix.length)
    const job = yield* Effect.result(journal.assemblies.get(key))
    if (Result.isSuccess(job)) {
      const entry = Option.getOrUndefined(job.success)
      if (entry !== undefined && entry._tag !== "Completed") jobs.push({ key, entry })
      continue
    }
    // The entry may be the entry of one file, and not of a job.
    const problem = yield* Effect.flip(journal.get(key)).pipe(Effect.option)
    if (Option.isSome(problem) && problem.value._tag !== "InvalidRequest") {
      damaged.push({ file: path.join(folder, name), description: SystemProblem.ofText(problem.value.description) })
    }
  }
  return { jobs, damaged }
})

/** The unfinished uploads of a journal folder, the oldest first, and the entries that cannot be read. */
export const list = Effect.fnUntraced(function* (folder: string) {
  const memory = yield* filesIn(folder)
  const commands = yield* Effect.forEach(yield* memory.names, (name) =>
    Effect.map(memory.read(name), (command) => ({ name, command: Option.getOrUndefined(command) }))
  )
  const { damaged, jobs } = yield* readAll(folder)
  const uploads = jobs
    .map(({ entry, key }): Upload => {
      const own = commands.filter(({ command }) => command?.assemblyId === entry.assemblyId)
      const forget = Effect.ignore(Effect.forEach(own, ({ name }) => memory.remove(name), { discard: true }))
      return { key, entry, command: own[0]?.command, forget }
    })
    .toSorted((one, other) => startOf(one) - startOf(other))
  return { uploads, damaged } satisfies Found
})

/**
 * When the upload was started, in milliseconds since 1970. If `command` is undefined, the result is the time at which
 * the entry of the journal was last written.
 */
export const startOf = ({ command, entry }: Upload): number => command?.startedAt ?? entry.writtenAt

/**
 * Cancels the Assembly of an unfinished upload, and removes the entries of the upload and of its files from the
 * journal. Fails if another process runs the upload. Returns the Status of the Assembly, or `None` if the service no
 * longer has the Assembly.
 */
export const forget = ({ entry: { assemblyId }, key }: Unfinished) =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    // The lease fails if another process still runs this upload.
    yield* journal.lease(key)
    // The entries of the files are read before the Assembly is canceled: if they cannot be read, the upload is kept as
    // it is.
    const files = yield* journal.list
    const status = yield* Assemblies.cancel(assemblyId).pipe(
      Effect.asSome,
      Effect.catchIf(
        (error) => error._tag === "ServiceFailure" && error.status === 404,
        () => Effect.succeedNone
      )
    )
    for (const file of files) {
      const { target } = file.entry
      if (ServiceOrigins.assemblyIdAt(Redacted.value(target.assemblySslUrl)) === assemblyId)
        yield* journal.forget(file.key)
    }
    yield* journal.assemblies.forget(key)
    return status
  }).pipe(Effect.scoped)

/**
 * Cancels an Assembly that no command can continue. Returns what happened, for the user. Returns undefined if the
 * journal or the service no longer has the Assembly, or if the Assembly had completed, failed or been aborted before.
 */
const leave = (assemblyId: Assembly.AssemblyId, what: string) =>
  Effect.gen(function* () {
    const found = yield* entryOf(assemblyId)
    if (found === undefined) return undefined
    const status = yield* forget(found)
    return Option.exists(status, (ended) => Assembly.state(ended) === "Canceled")
      ? `${what} changed after an interrupted upload. Its Assembly ${assemblyId} was canceled`
      : undefined
  }).pipe(
    Effect.catchTag("UploadLeased", () =>
      Effect.succeed(`${what} changed, but another process still uploads the earlier content to Assembly ${assemblyId}`)
    ),
    Effect.catch((error) =>
      Effect.succeed(
        `${what} changed after an interrupted upload. Its Assembly ${assemblyId} could not be canceled and may still wait for files: ${ErrorLine.fromError(error)}`
      )
    )
  )

/**
 * The memory of one command.
 *
 * - `earlier`: the Assembly that an earlier run of the command has created, if this run can continue it.
 * - `runs`: remembers the Assembly of this run. If an earlier run of the command has left another Assembly behind,
 *   cancels that Assembly and returns what happened, for the user.
 * - `completed`: forgets the Assembly of the command, which is complete.
 */
export interface Memory {
  readonly earlier: Assembly.AssemblyId | undefined
  readonly runs: (
    assemblyId: Assembly.AssemblyId
  ) => Effect.Effect<string | undefined, never, AssemblyClient | UploadJournal.UploadJournal>
  readonly completed: Effect.Effect<void>
}

/** The memory of a command whose upload cannot be continued. This memory stores nothing. */
export const none: Memory = { earlier: undefined, runs: () => Effect.undefined, completed: Effect.void }

/** The arguments of the command that continues this upload: the same arguments without `--restart`. */
const toContinue = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return args.filter((arg, index) => (end >= 0 && index >= end) || !/^--restart(?:=|$)/.test(arg))
}

/**
 * Makes the memory of a command, which is a file in the subfolder `commands` of the journal folder. The command does
 * not fail if this file cannot be read or written.
 */
export const make = Effect.fnUntraced(function* (
  folder: string,
  files: ReadonlyArray<UploadPlan.Planned>,
  params: Assembly.CreateParams
) {
  const { args } = yield* Stdio.Stdio
  const { origins } = yield* AssemblyClient
  const memory = yield* filesIn(folder)
  const origin = origins.entries[0] ?? ""
  const own = yield* UploadJournal.assemblyKeyOf([
    origin,
    JSON.stringify(params),
    files.map(({ name, realPath }) => [realPath, name])
  ])
  const identities = yield* Effect.forEach(UploadPlan.replayable(files) ?? [], ({ source }) =>
    Effect.map(Effect.option(source.identity), (identity) => Option.getOrUndefined(identity) ?? null)
  )
  const about = {
    origin,
    content: yield* UploadJournal.assemblyKeyOf(identities),
    folder: (yield* Path.Path).resolve("."),
    args: toContinue(yield* args),
    names: files.slice(0, mostNames).map(({ name }) => name),
    files: files.length,
    size: UploadPlan.totalSize(files) ?? 0n
  }
  const before = Option.getOrUndefined(yield* memory.read(own))
  const isSame =
    before !== undefined &&
    before.content === about.content &&
    (yield* Effect.orElseSucceed(entryOf(before.assemblyId), () => undefined)) !== undefined

  /** Removes the files of commands whose jobs are complete or not in the journal, and files that cannot be read. */
  const sweep = Effect.gen(function* () {
    for (const name of yield* memory.names) {
      const found = yield* memory.read(name)
      if (Option.isNone(found) || (yield* entryOf(found.value.assemblyId)) === undefined) yield* memory.remove(name)
    }
  })

  const what = files.length === 1 ? (files[0]?.path ?? "") : "A file"
  return {
    earlier: isSame ? before.assemblyId : undefined,
    runs: Effect.fnUntraced(function* (assemblyId) {
      const last = Option.getOrUndefined(yield* memory.read(own))
      const startedAt = last?.assemblyId === assemblyId ? last.startedAt : yield* Clock.currentTimeMillis
      yield* Effect.ignore(Effect.andThen(memory.write(own, { ...about, assemblyId, startedAt }), sweep))
      return last === undefined || last.assemblyId === assemblyId ? undefined : yield* leave(last.assemblyId, what)
    }),
    completed: Effect.ignore(memory.remove(own))
  } satisfies Memory
})
