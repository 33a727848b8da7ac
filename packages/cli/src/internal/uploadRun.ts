/**
 * Runs the job of `assembly upload`. Continues the upload of an earlier command, waits while the service is
 * unreachable, and starts a new upload if the Assembly of the earlier command cannot be used.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as AssemblyUploadEvent from "@assembly-effect/tus/AssemblyUploadEvent"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as CommandError from "../CommandError.ts"
import * as ErrorLine from "../ErrorLine.ts"
import * as ExitCode from "../ExitCode.ts"
import * as JobProgress from "../JobProgress.ts"
import * as Output from "../Output.ts"
import * as StandardError from "../StandardError.ts"
import type * as StateFolder from "../StateFolder.ts"
import * as UploadJob from "../UploadJob.ts"
import * as UploadPlan from "../UploadPlan.ts"
import * as UploadProgress from "../UploadProgress.ts"
import * as EarlierUpload from "./earlierUpload.ts"
import * as Fate from "./fate.ts"
import * as Invocation from "./invocation.ts"
import * as JournalProblem from "./journalProblem.ts"
import * as TemplateId from "./templateId.ts"
import type * as UnfinishedUploads from "./unfinishedUploads.ts"
import * as Waiting from "./waiting.ts"

/**
 * The maximum number of consecutive failures of a file that are retried. The pauses between these retries together take
 * about six minutes, so an upload survives a restart of the server or a lost network for at least this time.
 */
const maxRetries = 20

/**
 * If the service is unreachable, the job is continued after this pause, until the service has been unreachable for
 * `patience`. The number of pauses is limited too: each Status from the service starts `patience` again, so a service
 * that sends a Status in each attempt and then fails would never reach `patience`.
 */
const pause = Duration.seconds(5)
const patience = Duration.minutes(10)
const maxPauses = 120

/**
 * - `isRestarted`: whether the upload of an earlier command is discarded and a new upload starts.
 * - `isKept`: whether a later command can continue the upload.
 * - `isNoted`: whether the files can be read again, so that a folder for unfinished uploads could keep the upload.
 * - `folder`: the folder of the journal.
 * - `memory`: remembers the Assembly of the command.
 */
export interface Settings {
  readonly params: Assembly.CreateParams
  readonly concurrency: number
  readonly isRestarted: boolean
  readonly isKept: boolean
  readonly isNoted: boolean
  readonly folder: string
  readonly isJson: boolean
  readonly memory: UnfinishedUploads.Memory
}

type Events = Stream.Stream<UploadJob.JobEvent, UploadJob.JobError, StateFolder.JobServices>

type Started = Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, UploadJob.JobError, StateFolder.JobServices>

/**
 * The events of the job. A later command can continue the job only if all files can be read again. Each attempt
 * resolves the name of a Template again, as a part of these events. Therefore {@link waiting} also applies if the
 * service is unreachable while the name is resolved.
 */
const eventsOf = (files: ReadonlyArray<UploadPlan.Planned>, settings: Settings) => {
  const { concurrency, isJson, isRestarted } = settings
  const replayable = UploadPlan.replayable(files)
  const jobOf = (params: Assembly.CreateParams): Started => {
    const options = {
      params,
      concurrency,
      upload: { maxRetries },
      wait: { interval: "100 millis" },
      progressInterval: isJson ? "1 second" : undefined
    } as const
    return replayable === undefined
      ? AssemblyUpload.events({
          ...options,
          cancelOnInterrupt: true,
          files: files.map(({ name, source }) => ({ source, filename: name }))
        }).pipe(Stream.provide(AssemblyUpload.layer))
      : AssemblyUpload.events({
          ...options,
          restart: isRestarted,
          files: replayable.map(({ name, source }) => ({ source, filename: name }))
        }).pipe(Stream.provide(AssemblyUpload.layerJournaled))
  }
  return UploadJob.withWork(Stream.unwrap(Effect.map(TemplateId.inParams(settings.params), jobOf)))
}

const notice = (message: string): UploadJob.JobEvent => ({ _tag: "Notice", message })

/** What the events have shown so far about the Assembly and the service. */
interface Seen {
  status: Assembly.Status | undefined
  /** The Assembly of an earlier command. Undefined if there is none, or after this command has created an Assembly. */
  earlier: Assembly.AssemblyId | undefined
  /**
   * Whether the job continues the Assembly of an earlier command, and this Assembly had ended when this command began.
   */
  isEarlier: boolean
  isUploaded: boolean
  /**
   * When the service became unreachable: the time of the first failure since the last event with a Status, in
   * milliseconds since 1970.
   */
  goneSince: number | undefined
}

const unseen = (): Seen => ({
  status: undefined,
  earlier: undefined,
  isEarlier: false,
  isUploaded: false,
  goneSince: undefined
})

const note = (seen: Seen, event: UploadJob.JobEvent): void => {
  if (event._tag === "Uploaded") seen.isUploaded = true
  if (!("status" in event)) return
  const isFirst = seen.status === undefined
  seen.status = event.status
  seen.goneSince = undefined
  if (event._tag === "AssemblyCreated") {
    seen.earlier = undefined
    seen.isEarlier = false
    seen.isUploaded = false
  }
  if (event._tag === "AssemblyResumed" && isFirst) seen.isEarlier = Assembly.isOver(event.status)
}

/** The statuses with which a proxy or a gateway responds if it has no valid response of the service. */
const gone: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * Whether the job may succeed after a pause. A job cannot succeed after a permanent `TransportFailure`, such as an
 * untrusted certificate. A job with a failed file cannot succeed either, because the error of the file is permanent, or
 * the file was already retried for minutes. An exception is a file for which the response to the creation or the
 * concatenation of its upload was lost: the next attempt finds out whether this upload exists.
 */
const isTemporary = (error: UploadJob.JobError): boolean => {
  switch (error._tag) {
    case "TransportFailure":
      return !error.permanent
    case "TimedOut":
      return true
    case "ServiceFailure":
    case "UnexpectedResponse":
      return gone.has(error.status)
    case "FilesFailed":
      return (
        error.assembly === "kept" && error.files.every((file) => file.outcome !== "Failed" || isUnknown(file.error))
      )
    default:
      return false
  }
}

const isUnknown = ({ _tag }: { readonly _tag: string }): boolean => _tag === "CreationUnknown"

/**
 * Why the job waits. For `FilesFailed`, the reason has the number of files, because the errors of the files are too
 * long for a note.
 */
const reasonOf = (error: UploadJob.JobError): string => {
  if (error._tag !== "FilesFailed") return ErrorLine.fromError(error)
  const lost = error.files.filter(({ outcome }) => outcome === "Failed").length
  return `the service is gone, and it is not known whether it has ${lost} of ${error.files.length} files`
}

/** Whether this command or an earlier one has created an Assembly that the user can continue with the same command. */
const hasUpload = ({ isKept }: Settings, { earlier, status }: Seen): boolean =>
  isKept && (status !== undefined || earlier !== undefined)

/**
 * Continues the job after a pause if the service is unreachable. If neither this command nor an earlier one has created
 * an Assembly, the job fails at once, because the address may be wrong. If no later command can continue the job
 * (`isKept` is false), the job fails at once too.
 */
const waiting = (first: Events, again: Events, settings: Settings, seen: Seen): Events => {
  const attempt = (events: Events, pauses: number): Events =>
    events.pipe(
      Stream.catch((error) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            seen.goneSince ??= now
            const isOver = pauses >= maxPauses || now - seen.goneSince >= Duration.toMillis(patience)
            if (isOver || !hasUpload(settings, seen) || !isTemporary(error)) return Stream.fail(error)
            return Stream.succeed(
              AssemblyUploadEvent.Waiting({ reason: reasonOf(error), until: now + Duration.toMillis(pause) })
            ).pipe(
              Stream.concat(Stream.drain(Stream.fromEffect(Effect.sleep(pause)))),
              Stream.concat(Stream.suspend(() => attempt(again, pauses + 1)))
            )
          })
        )
      )
    )
  return attempt(first, 0)
}

/**
 * Why the job starts again in a new Assembly: the Assembly of an earlier command is gone, or had been canceled before
 * this command began. The result is undefined for every other error.
 */
const lossOf = (error: UploadJob.JobError, { isEarlier }: Seen): string | undefined => {
  if (error._tag === "ServiceFailure" && error.status === 404 && error.operation === "Assemblies.get") {
    return "The service no longer has the Assembly of the interrupted upload. Starting again"
  }
  const isCanceled = error._tag === "AssemblyCanceled" || error._tag === "AssemblyAborted"
  return isCanceled && isEarlier
    ? `Assembly ${error.assemblyId} of the interrupted upload was canceled. Starting again`
    : undefined
}

/** The events of the whole command: the job, further attempts, the check of an earlier upload, and notices. */
const program = (files: ReadonlyArray<UploadPlan.Planned>, settings: Settings, seen: Seen): Events => {
  const { memory } = settings
  const once = (isRestarted: boolean): Events =>
    Stream.tap(eventsOf(files, { ...settings, isRestarted }), (event) => Effect.sync(() => note(seen, event)))
  const run = (isRestarted: boolean): Events => waiting(once(isRestarted), once(false), settings, seen)

  const isReplayable = UploadPlan.replayable(files) !== undefined
  const renewed = Stream.catchIf(
    run(settings.isRestarted),
    (error) => isReplayable && lossOf(error, seen) !== undefined,
    (error) => {
      const message = lossOf(error, seen) ?? ""
      // The job starts again without the earlier upload, so what `seen` knows about it is removed.
      Object.assign(seen, unseen())
      return Stream.concat(Stream.succeed(notice(message)), run(false))
    }
  )

  /** Uploads everything again if the Workspace no longer has the files that an earlier command uploaded. */
  const checked = (event: Extract<UploadJob.JobEvent, { readonly _tag: "Completed" }>): Events =>
    Stream.unwrap(
      Effect.map(EarlierUpload.check(event.status), ({ _tag, message }) =>
        _tag === "Done"
          ? Stream.make(notice(message), event)
          : Stream.concat(Stream.succeed(notice(message)), Stream.flatMap(run(true), follow))
      )
    )

  const follow = (event: UploadJob.JobEvent): Events => {
    if (event._tag === "Completed" && seen.isEarlier) return checked(event)
    const isRun =
      event._tag === "AssemblyCreated" || (event._tag === "AssemblyResumed" && !Assembly.isOver(event.status))
    const { assembly_id } = isRun ? event.status : {}
    if (assembly_id === undefined || assembly_id === null) return Stream.succeed(event)
    return Stream.unwrap(
      Effect.map(memory.runs(Assembly.AssemblyId.make(assembly_id)), (message) =>
        message === undefined ? Stream.succeed(event) : Stream.make(event, notice(message))
      )
    )
  }

  return Stream.concat(Stream.flatMap(renewed, follow), Stream.drain(Stream.fromEffect(memory.completed)))
}

const unkept =
  "No command can continue this upload after an interruption, because there is no folder for unfinished uploads: set HOME or XDG_STATE_HOME, or name a folder with --journal"

/** Shows the events as progress, or writes them as lines of JSON. Returns the final progress, if it was shown. */
const show = <E, R>(
  events: Stream.Stream<UploadJob.JobEvent, E, R>,
  files: ReadonlyArray<UploadPlan.Planned>,
  isJson: boolean
) => {
  const names = files.map(({ name }) => name)
  return isJson
    ? Stream.runForEach(events, (event) =>
        Effect.flatMap(UploadJob.toRecords(event, names), (records) => Effect.forEach(records, Output.jsonLine))
      ).pipe(
        Effect.tapError((error) =>
          Output.jsonLine({
            event: "Failed",
            message: ErrorLine.fromError(error),
            exit_code: ExitCode.fromError(error)
          })
        ),
        Effect.as(undefined)
      )
    : StandardError.show(UploadProgress.follow(events, JobProgress.view(names, UploadPlan.totalSize(files))))
}

/**
 * Shows the events as {@link show} does, and also shows what the client of the service waits for, above the progress.
 */
const showWithNotices = <E, R>(
  events: Stream.Stream<UploadJob.JobEvent, E, R>,
  files: ReadonlyArray<UploadPlan.Planned>
) =>
  Effect.gen(function* () {
    const notices = yield* Queue.unbounded<UploadJob.JobEvent>()
    const all = Stream.merge(events, Stream.fromQueue(notices), { haltStrategy: "left" })
    return yield* Effect.provideService(show(all, files, false), Waiting.Show, (text) =>
      Effect.asVoid(Queue.offer(notices, notice(text)))
    )
  })

/** The messages of these errors already say what the user must do about the arguments, the files or the journal. */
const own: ReadonlySet<string> = new Set([
  "InvalidRequest",
  "UnknownTemplate",
  "SourceFailed",
  "InvalidTarget",
  "JournalFailed",
  "JournalTorn",
  "UploadLeased",
  "LeaseLost"
] satisfies ReadonlyArray<UploadJob.JobError["_tag"]>)

const ended: ReadonlySet<string> = new Set([
  "AssemblyFailed",
  "AssemblyCanceled",
  "AssemblyAborted",
  "DeliveryMismatch"
] satisfies ReadonlyArray<UploadJob.JobError["_tag"]>)

/** Whether a file has changed, so that the next command starts again in a new Assembly. */
const hasChanged = (error: UploadJob.JobError): boolean =>
  error._tag === "FilesFailed" &&
  error.files.some(
    (file) => file.outcome === "Failed" && file.error._tag === "SourceFailed" && file.error.kind === "Changed"
  )

type Failure =
  | UploadJob.JobError
  | CommandError.UploadFailed
  | CommandError.UnusableJournal
  | CommandError.DamagedJournal

/**
 * Adds to an error what becomes of the upload: the same command continues it (`kept`), the same command uploads into a
 * new Assembly (`ended`), or no command can continue it (`left`). The error stays as it is if the job has no Assembly
 * yet, if the message of the error already says what to do, or if the job reads the standard input and the Assembly has
 * not ended.
 */
const toFailed =
  (settings: Settings, seen: Seen) =>
  (error: UploadJob.JobError): Failure => {
    const unusable = JournalProblem.of(error, settings.folder, hasUpload(settings, seen))
    if (unusable !== undefined) return unusable
    const { isKept, isRestarted } = settings
    const isCreated = seen.status !== undefined || hasUpload(settings, seen)
    if (!isCreated || own.has(error._tag)) return error
    const isCanceled = error._tag === "FilesFailed" && error.assembly === "canceled"
    const isEnded = ended.has(error._tag) || isCanceled || hasChanged(error)
    if (isEnded) return new CommandError.UploadFailed({ assembly: "ended", cause: error })
    if (isKept) return new CommandError.UploadFailed({ assembly: "kept", isRestarted, cause: error })
    const assemblyId = settings.isNoted ? seen.status?.assembly_id : undefined
    return typeof assemblyId === "string"
      ? new CommandError.UploadFailed({ assembly: "left", assemblyId, cause: error })
      : error
  }

/** What became of the upload after Ctrl-C, and how the user can continue it. */
const fateOf = (files: ReadonlyArray<UploadPlan.Planned>, settings: Settings, seen: Seen, name: string): string => {
  const { isEarlier, isUploaded, status } = seen
  const again = settings.isRestarted ? "run the same command again without --restart" : "run the same command again"
  if (!hasUpload(settings, seen) && status === undefined) {
    return "interrupted before a file was sent; run the same command again"
  }
  if (settings.isKept) {
    if (isEarlier) return `Assembly ${status?.assembly_id} has all files; ${again} to see its results`
    return isUploaded
      ? `all files are uploaded, and their Assembly goes on; ${again} to wait for its results`
      : `the upload is kept; ${again} to continue it`
  }
  if (UploadPlan.replayable(files) === undefined) {
    return "the Assembly was canceled, because the standard input cannot be read again"
  }
  return isUploaded
    ? `all files are uploaded, and their Assembly goes on; ${name} wait ${status?.assembly_id} waits for its results`
    : `the Assembly still waits for its files; ${name} cancel ${status?.assembly_id} cancels it`
}

/**
 * Uploads the files as one job. Returns the last Status of the Assembly, the final progress (undefined with `--json`),
 * and whether the Assembly had already ended before this command.
 */
export const run = Effect.fnUntraced(function* (files: ReadonlyArray<UploadPlan.Planned>, settings: Settings) {
  const fate = yield* Fate.Fate
  const seen: Seen = { ...unseen(), earlier: settings.isRestarted ? undefined : settings.memory.earlier }
  fate.say = Effect.flatMap(Invocation.Program, (name) => Output.error(fateOf(files, settings, seen, name)))
  const events = Stream.concat(
    !settings.isKept && settings.isNoted ? Stream.succeed(notice(unkept)) : Stream.empty,
    Stream.mapError(program(files, settings, seen), (error) => toFailed(settings, seen)(error))
  )
  const progress = yield* settings.isJson ? show(events, files, true) : showWithNotices(events, files)
  return { status: seen.status, progress, isEarlier: seen.isEarlier }
})
