import { isNotFound } from "@assembly-effect/api/unstable/ErrorDetails"
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { UploadJournal } from "@assembly-effect/tus"
import { Command } from "effect/cli"
import { DateTime, Effect, FileSystem, Option, Result, Schema } from "../internal/effect.ts"
import * as Advice from "../internal/advice.ts"
import { Cli, Failure, Help, Output, Table, Text } from "../internal/index.ts"
import * as Journal from "../internal/journal.ts"
import * as UploadJob from "../internal/uploadJob.ts"
import * as Shown from "../internal/assembly.ts"

/** The time limit for the Status of an Assembly. It is short, because the list is also useful without the Status. */
const patience = "5 seconds"

/** An unfinished upload, and what the service has: the Status of its Assembly, no such Assembly, or why it is not known. */
interface Kept extends Journal.Upload {
  readonly answer: Result.Result<Assembly.Status | undefined, string>
}

/** Why no request about an upload may be sent: it belongs to another service than that of ASSEMBLY_BASE_URL. */
const elsewhere = Effect.fnUntraced(function* ({ command }: Journal.Upload) {
  const { origins } = yield* AssemblyClient.AssemblyClient
  return command === undefined || command.origin === origins.entries[0]
    ? undefined
    : `${command.origin} has it, and ASSEMBLY_BASE_URL names another service`
})

/** Asks the service what it has of an upload. If the upload belongs to another service, no request is sent. */
const ask = Effect.fnUntraced(function* (upload: Journal.Upload) {
  const foreign = yield* elsewhere(upload)
  const answer = yield* Effect.timeout(Assemblies.get(upload.entry.assemblyId), patience).pipe(
    Effect.catchIf(isNotFound, () => Effect.undefined),
    Effect.mapError((error) => (error._tag === "TimeoutError" ? `no answer within ${patience}` : Advice.line(error))),
    (request) => (foreign === undefined ? request : Effect.fail(foreign)),
    Effect.result
  )
  return { ...upload, answer }
})

const tusUploads = ({ answer }: Kept) => Result.getOrElse(answer, () => undefined)?.tus_uploads ?? []

/** The number of bytes that the service has stored, if its Status is known. */
const storedOf = (kept: Kept): bigint | undefined =>
  Result.isFailure(kept.answer)
    ? undefined
    : tusUploads(kept).reduce((all, { offset }) => all + (Number.isSafeInteger(offset) ? BigInt(offset ?? 0) : 0n), 0n)

const stateOf = ({ answer, entry }: Kept): string => {
  if (Result.isFailure(answer)) return `not known: ${answer.failure}`
  if (answer.success === undefined) {
    const why = entry._tag === "Creating" ? "; the response to its creation was lost" : ""
    return `the service has no such Assembly${why}`
  }
  return Assembly.state(answer.success) === "Completed"
    ? "completed; the command shows the results"
    : Shown.state(answer.success)
}

/** The names of the first files and the number of the others, or else the names in the Status. */
const filesOf = (kept: Kept): string => {
  const { command } = kept
  const names = tusUploads(kept).flatMap(({ filename }) => filename ?? [])
  if (command === undefined) return Table.known(names.join(", "))
  const rest = command.files - command.names.length
  return [...command.names, ...(rest > 0 ? [`${rest} more`] : [])].join(", ")
}

/** The command that continues the upload, for a shell in any folder. */
const continuation = ({ command }: Kept, program: string): string =>
  command === undefined
    ? Table.unknown
    : `cd ${Text.word(command.folder)} && ${[program, ...command.args.map(Text.word)].join(" ")}`

/** Whether a command has sent all files and has not waited for the results, as with `--no-wait`. */
const isDone = ({ answer, command }: Kept): boolean => {
  const status = Result.getOrElse(answer, () => undefined)
  return command === undefined && status !== undefined && status.ok !== "ASSEMBLY_UPLOADING"
}

const startOf = (kept: Kept): DateTime.Utc => DateTime.makeUnsafe(Journal.startOf(kept))

const factsOf = (kept: Kept, now: DateTime.Utc, program: string): ReadonlyArray<Table.Fact> => [
  ["Files", filesOf(kept)],
  ["Assembly", kept.entry.assemblyId],
  ["State", stateOf(kept)],
  ["Received", `${Table.bytes(storedOf(kept))} of ${Table.bytes(kept.command?.size)}`],
  ["Age", Table.age(startOf(kept), now)],
  ["Continue", continuation(kept, program), /.+/]
]

/** The state of an Assembly in JSON. */
const nameOf = (status: Assembly.Status | undefined): string => (status === undefined ? "gone" : Shown.state(status))

const recordOf = (kept: Kept) => {
  const stored = storedOf(kept)
  const { answer, command, entry } = kept
  return {
    assembly_id: entry.assemblyId,
    state: Result.isFailure(answer) ? null : nameOf(answer.success),
    names: command?.names ?? null,
    files: command?.files ?? null,
    size: command === undefined ? null : UploadJob.toJsonBytes(command.size),
    stored: stored === undefined ? null : UploadJob.toJsonBytes(stored),
    started_at: DateTime.formatIso(startOf(kept)),
    folder: command?.folder ?? null,
    command: command === undefined ? null : ["assembly", ...command.args]
  }
}

const isJournalFailed = Schema.is(UploadJournal.JournalFailed)

/** Runs a program with the journal in the folder of `--journal`, or in the default folder, if the folder exists. */
const inJournal = <A, E, R>(typed: Option.Option<string>, program: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Journal.folderOf(typed)
    if (Option.isNone(folder) || !(yield* Effect.orElseSucceed(fs.exists(folder.value), () => false))) return undefined
    return yield* program(folder.value).pipe(
      Effect.provide(Journal.layer(folder)),
      Effect.mapError((error) =>
        isJournalFailed(error) ? (Journal.failureOf(error, folder.value, true) ?? error) : error
      )
    )
  })

const sentence = (assemblyId: string, status: Assembly.Status | undefined): string => {
  if (status === undefined) return `forgot the upload; the service has no Assembly ${assemblyId}`
  return Assembly.state(status) === "Canceled"
    ? `forgot the upload, and canceled ${assemblyId}`
    : `forgot the upload; ${assemblyId} had ended before: ${Shown.state(status)}`
}

const notForgotten = (id: string, problem: string) => Failure.failed(`${id}: ${problem}`)

/** Cancels the Assembly of an unfinished upload, forgets the upload, and prints what became of both. */
const forgetOne = Effect.fnUntraced(function* (id: string, found: Journal.Upload, isJson: boolean) {
  const foreign = yield* elsewhere(found)
  if (foreign !== undefined) return yield* notForgotten(id, foreign)
  const status = yield* Effect.catchTag(Journal.forget(found), "UploadLeased", () =>
    Effect.fail(notForgotten(id, "another process runs this upload; end that process first"))
  )
  yield* found.forget
  yield* isJson
    ? Output.jsonLine({ event: "Forgotten", assembly_id: id, state: nameOf(status) })
    : Output.lines<string>([sentence(id, status)])
})

const forget = Cli.command(
  "uploads forget",
  { assemblyIds: Cli.assemblyIds, json: Cli.jsonLines, journal: Journal.flag },
  Effect.fnUntraced(function* ({ assemblyIds, journal, json }) {
    const unknown = (id: string) =>
      Failure.failed(`there is no unfinished upload ${id}`, "Run assembly uploads to see what there is.")
    const forgotten = yield* inJournal(
      journal,
      Effect.fnUntraced(function* (folder) {
        const unfinished = yield* Journal.list(folder)
        for (const id of new Set(assemblyIds)) {
          const upload = unfinished.find(({ entry }) => entry.assemblyId === id)
          if (upload === undefined) return yield* unknown(id)
          yield* forgetOne(id, upload, json)
        }
        return true
      })
    )
    if (forgotten === undefined) return yield* unknown(assemblyIds[0] ?? "")
  })
)

const listed = Cli.command(
  "uploads",
  { json: Cli.jsonLines, journal: Journal.flag },
  Effect.fnUntraced(function* ({ journal, json }) {
    const found = (yield* inJournal(journal, Journal.list)) ?? []
    const all: ReadonlyArray<Kept> = yield* Effect.forEach(found, ask, { concurrency: 8 })
    const kept = all.filter((one) => !isDone(one))
    const program = yield* Help.Program
    const layout = yield* Output.layout
    if (json) {
      for (const one of kept) yield* Output.jsonLine(recordOf(one))
    } else if (kept.length > 0) {
      const lines = kept.flatMap((one) => [Text.blank].concat(Table.facts(factsOf(one, layout.now, program), layout)))
      yield* Output.report(lines.slice(1))
    } else yield* Output.lines(["no unfinished uploads"])
  })
)

/** `assembly uploads`: the unfinished uploads of this machine. */
export const uploads = Command.withSubcommands(listed, [forget])
