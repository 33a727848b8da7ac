import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as CommandError from "../CommandError.ts"
import * as ErrorLine from "../ErrorLine.ts"
import * as Format from "../Format.ts"
import { assemblyIds } from "../internal/assemblyId.ts"
import * as AssemblyState from "../internal/assemblyState.ts"
import * as Cells from "../internal/cells.ts"
import * as Facts from "../internal/facts.ts"
import * as Invocation from "../internal/invocation.ts"
import * as JournalFolder from "../internal/journalFolder.ts"
import * as JournalProblem from "../internal/journalProblem.ts"
import * as Shell from "../internal/shell.ts"
import * as UnfinishedUploads from "../internal/unfinishedUploads.ts"
import * as Output from "../Output.ts"
import * as StateFolder from "../StateFolder.ts"
import * as Style from "../Style.ts"
import * as UploadJob from "../UploadJob.ts"
import { switchFlag } from "../internal/flags.ts"

/** The maximum number of Assemblies that are requested at the same time. */
const concurrency = 8

/**
 * The time limit for the Status of an Assembly. The limit is short, because the list is also useful without the Status.
 */
const patience = "5 seconds"

/** An unfinished upload, and the Status of its Assembly at the service. */
interface Kept extends UnfinishedUploads.Upload {
  /** `status` is `None` if the service has no such Assembly, and undefined if the Status could not be read. */
  readonly status: Option.Option<Assembly.Status> | undefined
  /** Why the Status could not be read. */
  readonly description: string | undefined
}

/**
 * Why no request about an upload may be sent: the upload belongs to another service. The result is undefined if the
 * upload belongs to the service of ASSEMBLY_BASE_URL, or if `command` is undefined.
 */
const elsewhere = Effect.fnUntraced(function* ({ command }: UnfinishedUploads.Upload) {
  const { origins } = yield* AssemblyClient
  const origin = command?.origin
  return origin === undefined || origin === origins.entries[0]
    ? undefined
    : `${origin} has it, and ASSEMBLY_BASE_URL names another service`
})

/** Asks the service what it has of an upload. If the upload belongs to another service, no request is sent. */
const ask = Effect.fnUntraced(function* (upload: UnfinishedUploads.Upload) {
  const problem = yield* elsewhere(upload)
  if (problem !== undefined) return { ...upload, status: undefined, description: problem }
  return yield* Assemblies.get(upload.entry.assemblyId).pipe(
    Effect.timeout(patience),
    Effect.map((status): Kept => ({ ...upload, status: Option.some(status), description: undefined })),
    Effect.catch((error) =>
      Effect.succeed<Kept>(
        error._tag === "ServiceFailure" && error.status === 404
          ? { ...upload, status: Option.none(), description: undefined }
          : {
              ...upload,
              status: undefined,
              description: error._tag === "TimeoutError" ? `no answer within ${patience}` : ErrorLine.fromError(error)
            }
      )
    )
  )
})

/** The number of bytes that the service has stored. The result is undefined if the Status could not be read. */
const storedOf = ({ status }: Kept): bigint | undefined => {
  if (status === undefined) return undefined
  const uploads = Option.match(status, { onNone: () => [], onSome: ({ tus_uploads }) => tus_uploads ?? [] })
  return uploads.reduce((all, { offset }) => all + (Number.isSafeInteger(offset) ? BigInt(offset ?? 0) : 0n), 0n)
}

const stateOf = ({ entry, description, status }: Kept): string => {
  if (status === undefined) return `not known: ${description}`
  return Option.match(status, {
    onNone: () =>
      entry._tag === "Creating"
        ? "the service has no such Assembly; the response to its creation was lost"
        : "the service has no such Assembly",
    onSome: (found) =>
      Assembly.state(found) === "Completed" ? "completed; the command shows the results" : AssemblyState.name(found)
  })
}

/**
 * The names of the first files, and the number of further files. If `command` is undefined, the names are those of
 * `tus_uploads` in the Status of the Assembly.
 */
const filesOf = ({ command, status }: Kept): string => {
  if (command === undefined) {
    const uploads = status === undefined || Option.isNone(status) ? [] : (status.value.tus_uploads ?? [])
    return uploads.flatMap(({ filename }) => filename ?? []).join(", ") || Cells.unknown
  }
  const rest = command.files - command.names.length
  return [...command.names, ...(rest > 0 ? [`${rest} more`] : [])].join(", ")
}

const amountOf = (kept: Kept): string => {
  const stored = storedOf(kept)
  const size = kept.command?.size
  return [stored, size].map((bytes) => (bytes === undefined ? Cells.unknown : Format.bytes(bytes))).join(" of ")
}

/** The command that continues the upload, for a shell in any folder. */
const continuation = ({ command }: Kept, program: string): string =>
  command === undefined
    ? Cells.unknown
    : `cd ${Shell.word(command.folder)} && ${[program, ...command.args.map(Shell.word)].join(" ")}`

const startOf = (kept: Kept): DateTime.Utc => DateTime.makeUnsafe(UnfinishedUploads.startOf(kept))

const factsOf = (kept: Kept, now: DateTime.Utc, program: string): ReadonlyArray<Facts.Fact> => [
  ["Files", filesOf(kept)],
  ["Assembly", kept.entry.assemblyId],
  ["State", stateOf(kept)],
  ["Received", amountOf(kept)],
  ["Age", Cells.age(startOf(kept), now)],
  ["Continue", continuation(kept, program), true]
]

const recordOf = (kept: Kept) => {
  const stored = storedOf(kept)
  const { command, entry, status } = kept
  return {
    assembly_id: entry.assemblyId,
    state: status === undefined ? null : Option.match(status, { onNone: () => "gone", onSome: AssemblyState.name }),
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

/**
 * Runs a program with the journal in the folder of `--journal`, or in the default folder. Runs `otherwise` if there
 * is no such folder.
 */
const inJournal = <A, E, R, E2, R2>(
  typed: Option.Option<string>,
  otherwise: Effect.Effect<A, E2, R2>,
  program: (folder: string) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* JournalFolder.of(typed)
    const exists = Option.isSome(folder) && (yield* Effect.orElseSucceed(fs.exists(folder.value), () => false))
    if (!exists) return yield* otherwise
    return yield* program(folder.value).pipe(
      Effect.provide(StateFolder.journal(folder)),
      Effect.mapError((error) =>
        isJournalFailed(error) ? (JournalProblem.of(error, folder.value, true) ?? error) : error
      )
    )
  })

const unknown = (assemblyId: string) =>
  Effect.flatMap(Invocation.command("uploads"), (list) =>
    Effect.fail(
      new CommandError.NotForgotten({
        assemblyId,
        description: `there is no unfinished upload into this Assembly; ${list} lists them`
      })
    )
  )

/** Cancels the Assembly of an unfinished upload, forgets the upload, and prints what became of both. */
const forgetOne = Effect.fnUntraced(function* (assemblyId: string, found: UnfinishedUploads.Upload, isJson: boolean) {
  const problem = yield* elsewhere(found)
  if (problem !== undefined) return yield* new CommandError.NotForgotten({ assemblyId, description: problem })
  const status = yield* Effect.catchTag(UnfinishedUploads.forget(found), "UploadLeased", () =>
    Effect.fail(
      new CommandError.NotForgotten({
        assemblyId,
        description: "another process runs this upload; end that process first"
      })
    )
  )
  yield* found.forget
  yield* isJson
    ? Output.jsonLine({
        event: "Forgotten",
        assembly_id: assemblyId,
        state: Option.match(status, { onNone: () => "gone", onSome: AssemblyState.name })
      })
    : Output.lines<string>([sentence(assemblyId, status)])
})

const forgetAll = (ids: ReadonlyArray<Assembly.AssemblyId>, isJson: boolean) =>
  Effect.fnUntraced(function* (folder: string) {
    const { damaged, uploads: found } = yield* UnfinishedUploads.list(folder)
    const uploads = new Map(found.map((one) => [one.entry.assemblyId, one]))
    for (const id of ids) {
      const upload = uploads.get(id)
      if (upload === undefined) {
        // A damaged entry may be the entry of this upload.
        return yield* damaged.length > 0 ? new CommandError.DamagedJournal({ entries: damaged }) : unknown(id)
      }
      yield* forgetOne(id, upload, isJson)
      uploads.delete(id)
    }
  })

const forget = Command.make(
  "forget",
  {
    assemblyIds,
    json: switchFlag("json").pipe(
      Flag.withDescription("Print each forgotten upload as a line of JSON"),
      Flag.withDefault(false)
    ),
    journal: JournalFolder.flag
  },
  ({ assemblyIds: ids, journal, json }) => inJournal(journal, unknown(String(ids[0])), forgetAll(ids, json))
).pipe(
  Command.withDescription(
    "Forget unfinished uploads, and cancel their Assemblies. The command that began an upload then uploads all its files again"
  ),
  Command.withExamples([
    { command: "assembly uploads forget <assemblyId>", description: "Forget one upload" },
    {
      command: "assembly uploads --json | jq -r '.assembly_id // empty' | xargs -r assembly uploads forget",
      description: "Forget all unfinished uploads"
    }
  ])
)

const sentence = (assemblyId: string, status: Option.Option<Assembly.Status>): string =>
  Option.match(status, {
    onNone: () => `forgot the upload; the service has no Assembly ${assemblyId}`,
    onSome: (ended) =>
      Assembly.state(ended) === "Canceled"
        ? `forgot the upload, and canceled ${assemblyId}`
        : `forgot the upload; ${assemblyId} had ended before: ${AssemblyState.name(ended)}`
  })

const printRecords = Effect.fnUntraced(function* (
  kept: ReadonlyArray<Kept>,
  damaged: ReadonlyArray<UnfinishedUploads.Damaged>
) {
  yield* Effect.forEach(kept, (one) => Output.jsonLine(recordOf(one)), { discard: true })
  yield* Effect.forEach(
    damaged,
    ({ file, description }) => Output.jsonLine({ assembly_id: null, state: "damaged", file, description }),
    { discard: true }
  )
})

const print = Effect.fnUntraced(function* (kept: ReadonlyArray<Kept>, isDamaged: boolean) {
  if (kept.length === 0) return yield* isDamaged ? Effect.void : Output.lines(["no unfinished uploads"])
  const layout = yield* Output.layout
  const now = yield* DateTime.now
  const program = yield* Invocation.Program
  yield* Output.report(
    kept.flatMap((one, index) =>
      (index === 0 ? [] : [Style.blank]).concat(Facts.render(factsOf(one, now, program), layout))
    )
  )
})

const listed = Command.make(
  "uploads",
  {
    json: switchFlag("json").pipe(
      Flag.withDescription("Print each unfinished upload as a line of JSON"),
      Flag.withDefault(false)
    ),
    journal: JournalFolder.flag
  },
  Effect.fnUntraced(function* ({ journal, json }) {
    const none: UnfinishedUploads.Found = { uploads: [], damaged: [] }
    const { damaged, uploads: found } = yield* inJournal(journal, Effect.succeed(none), UnfinishedUploads.list)
    const kept = yield* Effect.forEach(found, ask, { concurrency })
    yield* json ? printRecords(kept, damaged) : print(kept, damaged.length > 0)
    if (damaged.length > 0) return yield* new CommandError.DamagedJournal({ entries: damaged })
  })
)

/** `assembly uploads`: the unfinished uploads of this machine. */
export const uploads = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  listed.pipe(
    Command.provide(service),
    Command.withSubcommands([Command.provide(forget, service)]),
    Command.withDescription(
      "List the unfinished uploads of this machine: what the service has received, and the command that continues each. An upload is kept for a day"
    ),
    Command.withExamples([
      { command: "assembly uploads", description: "The unfinished uploads, oldest first" },
      { command: "assembly uploads forget <assemblyId>", description: "Cancel one of them" }
    ])
  )
