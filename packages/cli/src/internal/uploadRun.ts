/**
 * Runs the job of `assembly upload`. Continues the upload of an earlier command, waits while the service is
 * unreachable, and starts a new upload if the Assembly of the earlier command cannot be used.
 */
import { Assembly } from "@assembly-effect/schema"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import { AssemblyUpload, AssemblyUploadEvent } from "@assembly-effect/tus"
import * as Queue from "effect/Queue"
import { Clock, Duration, Effect, Stream } from "./effect.ts"
import * as Advice from "./advice.ts"
import * as Service from "./service.ts"
import * as TemplateId from "./templateId.ts"
import * as UploadPlan from "./uploadPlan.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Follow from "./follow.ts"
import * as Journal from "./journal.ts"
import * as UploadJob from "./uploadJob.ts"

/** If the service is unreachable, the job is continued after this pause, at most this number of times: for 10 minutes. */
const pause = Duration.seconds(5)
const maxPauses = 120

/** The flags of the command, and its memory in the journal. Without it, no later command can continue the upload. */
export interface Settings extends UploadJob.Sending {
  readonly noWait: boolean
  readonly restart: boolean
  readonly json: boolean
  readonly params: Assembly.CreateParams
  readonly memory: Journal.Memory | undefined
}

type Files = ReadonlyArray<UploadPlan.Planned>
type Events = Stream.Stream<UploadJob.JobEvent, UploadJob.JobError, Journal.Services>
type Started = Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, UploadJob.JobError, Journal.Services>

/**
 * The events of the job. A later command can continue the job only if all files can be read again. Each attempt
 * resolves the name of a Template again, so {@link waiting} also applies to that.
 */
const eventsOf = (files: Files, settings: Settings, isRestarted: boolean): Events => {
  const { json, noWait, params } = settings
  const replayable = UploadPlan.replayable(files)
  const named = <Source>(all: ReadonlyArray<{ readonly name: string; readonly source: Source }>) =>
    all.map(({ name, source }) => ({ source, filename: name }))
  const jobOf = (resolved: Assembly.CreateParams): Started => {
    const options = {
      ...UploadJob.optionsOf(settings, files),
      params: resolved,
      wait: noWait ? (false as const) : ({ interval: "100 millis" } as const),
      progressInterval: json ? "1 second" : undefined
    } as const
    return replayable === undefined
      ? AssemblyUpload.events({ ...options, cancelOnInterrupt: true, files: named(files) }).pipe(
          Stream.provide(AssemblyUpload.layer)
        )
      : AssemblyUpload.events({ ...options, restart: isRestarted, files: named(replayable) }).pipe(
          Stream.provide(AssemblyUpload.layerJournaled)
        )
  }
  return Stream.unwrap(Effect.map(TemplateId.inParams(params), jobOf))
}

/**
 * What the events have shown so far about the Assembly and the service.
 *
 * - `earlier`: the Assembly of an earlier command. Undefined if there is none, or after this command has created one.
 * - `isEarlier`: whether the job continues the Assembly of an earlier command, which had ended when this command began.
 * - `isGone`: whether the Workspace no longer has the files that the Assembly of an earlier command has stored.
 */
interface Seen {
  status?: Assembly.Status | undefined
  earlier?: Assembly.AssemblyId | undefined
  isEarlier: boolean
  isUploaded: boolean
  isGone: boolean
}

const unseen = { status: undefined, earlier: undefined, isEarlier: false, isUploaded: false, isGone: false }

const note = (seen: Seen, event: UploadJob.JobEvent): void => {
  if (event._tag === "Uploaded") seen.isUploaded = true
  if (!("status" in event)) return
  const { status } = event
  if (event._tag === "AssemblyCreated") Object.assign(seen, unseen)
  if (event._tag === "AssemblyResumed" && seen.status === undefined) seen.isEarlier = Assembly.isOver(status)
  seen.status = status
}

type Tag = UploadJob.JobError["_tag"]

const ended: ReadonlySet<Tag> = new Set<Tag>([
  "AssemblyFailed",
  "AssemblyCanceled",
  "AssemblyAborted",
  "DeliveryMismatch",
  "FormBroken"
])

/**
 * What an error of the job means.
 *
 * - `temporary`: the job may succeed after a pause. A job with a failed file cannot, unless the response to the creation
 *   of its upload was lost: else the error of the file is permanent, or the file was already retried for minutes.
 * - `ended`: no command can continue the Assembly.
 */
const meaningOf = (error: UploadJob.JobError): "temporary" | "ended" | undefined => {
  if (ended.has(error._tag)) return "ended"
  if (error._tag === "TimedOut" || (error._tag === "TransportFailure" && !error.permanent)) return "temporary"
  if (error._tag === "ServiceFailure" || error._tag === "UnexpectedResponse") {
    return error.status !== 407 && ServiceError.gatewayStatuses.has(error.status) ? "temporary" : undefined
  }
  if (error._tag !== "FilesFailed") return undefined
  const errors = error.files.flatMap((file) => (file.outcome === "Failed" ? [file.error] : []))
  // If a file has changed, the next command starts again in a new Assembly.
  const isChanged = errors.some((one) => one._tag === "SourceFailed" && one.kind === "Changed")
  if (isChanged || error.assembly === "canceled") return "ended"
  const isUnknown = errors.every(({ _tag }) => _tag === "CreationUnknown")
  return isUnknown && error.assembly === "kept" ? "temporary" : undefined
}

/** Whether this command or an earlier one has created an Assembly that the user can continue with the same command. */
const hasUpload = ({ memory }: Settings, { earlier, status }: Seen): boolean =>
  memory !== undefined && (status !== undefined || earlier !== undefined)

/**
 * Continues the job after a pause if the service is unreachable. If there is no Assembly that a command can continue,
 * the job fails at once, because the address may be wrong.
 */
const waiting = (first: Events, again: Events, settings: Settings, seen: Seen): Events => {
  const attempt = (events: Events, pauses: number): Events =>
    events.pipe(
      Stream.catch((error) => {
        const mayHeal = hasUpload(settings, seen) && meaningOf(error) === "temporary"
        if (!mayHeal || pauses >= maxPauses) return Stream.fail(error)
        const said = Effect.map(Clock.currentTimeMillis, (now) =>
          AssemblyUploadEvent.Waiting({ reason: Advice.line(error), until: now + Duration.toMillis(pause) })
        )
        const later = Stream.unwrap(Effect.as(Effect.sleep(pause), attempt(again, pauses + 1)))
        return Stream.concat(Stream.fromEffect(said), later)
      })
    )
  return attempt(first, 0)
}

/** Why the job starts again: what an earlier command has uploaded is gone, or was canceled before this command began. */
const lossOf = (error: UploadJob.JobError, { isEarlier, isGone }: Seen): string | undefined => {
  if (isGone) return error.message
  if (error._tag === "ServiceFailure" && error.status === 404 && error.operation === "Assemblies.get") {
    return "The service no longer has the Assembly of the interrupted upload. Starting again"
  }
  const isCanceled = error._tag === "AssemblyCanceled" || error._tag === "AssemblyAborted"
  return isCanceled && isEarlier
    ? `Assembly ${error.assemblyId} of the interrupted upload was canceled. Starting again`
    : undefined
}

/** The events of the whole command: the job, further attempts, the check of an earlier upload, and notices. */
const program = (files: Files, settings: Settings, seen: Seen): Events => {
  const { memory } = settings
  const noticed = Effect.fnUntraced(function* (event: UploadJob.JobEvent) {
    if (event._tag === "Completed" && seen.isEarlier) {
      const { isGone, message } = yield* UploadJob.checkEarlier(event.status)
      seen.isGone = isGone
      return isGone ? yield* Failure.failed(message) : [UploadJob.notice(message), event]
    }
    const isRun =
      event._tag === "AssemblyCreated" || (event._tag === "AssemblyResumed" && !Assembly.isOver(event.status))
    const id = isRun ? event.status.assembly_id : undefined
    const message = id ? yield* memory?.runs(Assembly.AssemblyId.make(id)) ?? Effect.undefined : undefined
    return message === undefined ? [event] : [event, UploadJob.notice(message)]
  })
  const once = (isRestarted: boolean): Events =>
    Stream.tap(eventsOf(files, settings, isRestarted), (event) => Effect.sync(() => note(seen, event)))
  const run = (isRestarted: boolean): Events =>
    waiting(once(isRestarted), once(false), settings, seen).pipe(Stream.mapEffect(noticed), Stream.flattenIterable)
  return run(settings.restart).pipe(
    Stream.catch((error) => {
      const message = UploadPlan.replayable(files) === undefined ? undefined : lossOf(error, seen)
      if (message === undefined) return Stream.fail(error)
      const again = run(seen.isGone)
      // The job starts again without the earlier upload, so what `seen` knows about it is removed.
      Object.assign(seen, unseen)
      return Stream.concat(Stream.succeed(UploadJob.notice(message)), again)
    }),
    Stream.concat(Stream.drain(Stream.fromEffect(memory?.completed ?? Effect.void)))
  )
}

const unkept =
  "No command can continue this upload after an interruption, because there is no folder for unfinished uploads: set HOME or XDG_STATE_HOME, or name a folder with --journal"

/** Writes the events as lines of JSON. */
const write = <E, R>(events: Stream.Stream<UploadJob.JobEvent, E, R>, names: ReadonlyArray<string>) =>
  Stream.runForEach(events, (event) =>
    Effect.flatMap(UploadJob.toRecord(event, names), (record) =>
      record === undefined ? Effect.void : Output.jsonLine(record)
    )
  ).pipe(
    Effect.tapError((error) =>
      Output.jsonLine({ event: "Failed", message: Advice.line(error), exit_code: Failure.codeOf(error) })
    ),
    Effect.as(undefined)
  )

/** Shows the events as progress, and above it what the client of the service waits for. Returns the final progress. */
const show = Effect.fnUntraced(function* <E, R>(events: Stream.Stream<UploadJob.JobEvent, E, R>, job: Follow.Job) {
  const notices = yield* Queue.unbounded<UploadJob.JobEvent>()
  const all = Stream.merge(events, Stream.fromQueue(notices), { haltStrategy: "left" })
  return yield* Effect.provideService(Output.onStandardError(Follow.follow(all, job)), Service.Show, (text) =>
    Effect.asVoid(Queue.offer(notices, UploadJob.notice(text)))
  )
})

/** What became of the upload when the command ended without results, and how the user can continue it. */
const fateOf = (files: Files, { memory, restart }: Settings, { isEarlier, isUploaded, status }: Seen): string => {
  const id = status?.assembly_id
  const again = `run the same command again${restart ? " without --restart" : ""}`
  if (memory !== undefined && isEarlier) return `Assembly ${id} has all files; ${again} to see its results`
  if (memory !== undefined && !isUploaded) return `the upload is kept; ${again} to continue it`
  if (UploadPlan.replayable(files) === undefined) {
    return "the Assembly was canceled, because the standard input cannot be read again"
  }
  if (!isUploaded) return `the Assembly still waits for its files; assembly cancel ${id} cancels it`
  const wait = memory === undefined ? `assembly wait ${id} waits` : `${again} to wait`
  return `all files are uploaded, and their Assembly continues; ${wait} for its results`
}

/**
 * Adds to an error what the same command does when it is run again: it continues the upload, or uploads into a new
 * Assembly. The error stays as it is if the job has no Assembly yet, or if the job reads the standard input and the
 * Assembly has not ended.
 */
const toFailure = (files: Files, settings: Settings, seen: Seen, error: UploadJob.JobError) => {
  const isKept = hasUpload(settings, seen)
  const ofJournal = Journal.failureOf(error, settings.memory?.folder, isKept)
  if (ofJournal !== undefined) return ofJournal
  const meaning = meaningOf(error)
  if (seen.status === undefined && !isKept) return error
  if (meaning === "ended") {
    const first = error._tag === "AssemblyFailed" ? "Correct the cause, and run" : "Run"
    return Failure.because(error, { next: `${first} the same command again to upload into a new Assembly.` })
  }
  if (UploadPlan.replayable(files) === undefined) return error
  const fate = fateOf(files, settings, seen)
  return Failure.because(error, { next: `${fate.charAt(0).toUpperCase()}${fate.slice(1)}.` })
}

/**
 * Uploads the files as one job. Returns the last Status of the Assembly, the final progress (undefined with `--json`),
 * and whether the Assembly had already ended before this command.
 */
export const run = Effect.fnUntraced(function* (files: Files, settings: Settings) {
  const { json, memory, restart } = settings
  const seen: Seen = { ...unseen, earlier: restart ? undefined : memory?.earlier }
  const interrupted = Effect.suspend(() => {
    const isBegun = seen.status !== undefined || hasUpload(settings, seen)
    const unsent = "interrupted before a file was sent; run the same command again"
    return Output.error(isBegun ? fateOf(files, settings, seen) : unsent)
  })
  const events = Stream.concat(
    memory === undefined && UploadPlan.replayable(files) !== undefined
      ? Stream.succeed(UploadJob.notice(unkept))
      : Stream.empty,
    Stream.mapError(program(files, settings, seen), (error) => toFailure(files, settings, seen, error))
  )
  const names = files.map((file) => file.name)
  const total = UploadPlan.totalSize(files)
  const shown = json ? write(events, names) : show(events, { names, total })
  const progress = yield* Effect.onInterrupt(shown, () => interrupted)
  return { status: seen.status, progress, isEarlier: seen.isEarlier }
})
