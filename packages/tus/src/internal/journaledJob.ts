/**
 * A job whose Assembly and uploads are in the journal: starts the job, or continues the job of an earlier run.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type { AssemblyUploadError } from "../AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "../AssemblyUploadEvent.ts"
import * as UploadJournal from "./journal.ts"
import * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyOptions from "./assemblyOptions.ts"
import * as Events from "./events.ts"
import * as Hold from "./hold.ts"
import type { Options } from "./job.ts"
import * as Journaled from "./journaled.ts"
import * as JournalKey from "./journalKey.ts"
import * as Telemetry from "./telemetry.ts"
import * as UploadOptions from "./options.ts"
import type { Replayable } from "./source.ts"

/** A job that this process runs: its key, its lease, and the entries of jobs in the journal. */
interface Held {
  readonly entries: UploadJournal.UploadJournal["Service"]["assemblies"]
  readonly key: string
  readonly lease: UploadJournal.Lease
}

const record = (
  { entries, key, lease }: Held,
  _tag: UploadJournal.AssemblyEntry["_tag"],
  assemblyId: Assembly.AssemblyId
) =>
  Effect.gen(function* () {
    yield* lease.check
    yield* entries.put(key, { _tag, assemblyId, writtenAt: yield* Clock.currentTimeMillis })
  })

/**
 * Records that the Assembly has completed, so that `AssemblyUpload.runAll` skips the job. If the record cannot be written, the
 * job has still completed, and the next run requests the Status of the Assembly again.
 */
const recordCompletion = (held: Held, assemblyId: Assembly.AssemblyId) =>
  Effect.ignore(record(held, "Completed", assemblyId))

const forget = ({ entries, key, lease }: Held) => Effect.andThen(lease.check, entries.forget(key))

const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

type CreationError = Effect.Error<ReturnType<typeof Assemblies.create>>

const isConflict = (error: CreationError): boolean => "status" in error && error.status === 409

/** Whether the error shows that the creation request created no Assembly. */
const isRefused = (error: CreationError): boolean =>
  error._tag === "InvalidRequest" ||
  ("sent" in error && error.sent === "no") ||
  ("status" in error && (Outcome.isRefusal(error.status) || isConflict(error)))

const create = <R>(
  held: Held,
  { files, params }: Options<R>,
  assemblyId: Assembly.AssemblyId,
  emit: AssemblyFiles.Emit
) =>
  Effect.gen(function* () {
    yield* record(held, "Creating", assemblyId)
    const status = yield* Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length }).pipe(
      // Only this job knows a generated id, so the conflict comes from an earlier request of this job.
      Effect.catchIf(
        (error) => isConflict(error) && params.assemblyId === undefined,
        () => Assemblies.get(assemblyId)
      ),
      Effect.tapError((error) => (isRefused(error) ? Effect.ignore(forget(held)) : Effect.void))
    )
    yield* record(held, "Created", assemblyId)
    emit(AssemblyUploadEvent.AssemblyCreated({ status }))
    return status
  })

/**
 * Requests the Status of the Assembly that the journal names. If the service does not have the Assembly, and the
 * journal does not show that the creation succeeded, the Assembly is created now.
 */
const reopen = <R>(
  held: Held,
  options: Options<R>,
  { _tag, assemblyId }: UploadJournal.AssemblyEntry,
  emit: AssemblyFiles.Emit
) =>
  Assemblies.get(assemblyId).pipe(
    Effect.tap((status) =>
      Effect.andThen(
        _tag === "Creating" ? record(held, "Created", assemblyId) : Effect.void,
        Effect.sync(() => emit(AssemblyUploadEvent.AssemblyResumed({ status })))
      )
    ),
    Effect.catchIf(isNotFound, (error) =>
      _tag === "Creating"
        ? create(held, options, assemblyId, emit)
        : // A new Assembly could repeat finished work. So this run fails, and the caller decides about another run.
          Effect.andThen(forget(held), Effect.fail(error))
    )
  )

/**
 * Cancels the Assembly in the journal, and returns its Status, or `None` if the Assembly no longer exists. Fails if the
 * Assembly has not ended, so that two Assemblies never run for the same job.
 */
const giveUp = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.asSome,
    Effect.catchIf(isNotFound, () => Effect.succeedNone)
  )

/**
 * Whether the error shows that the Assembly has ended without completing, or contains other bytes than those that were
 * read.
 */
const isFinal = (error: AssemblyUploadError): boolean =>
  error._tag === "AssemblyFailed" ||
  error._tag === "AssemblyCanceled" ||
  error._tag === "AssemblyAborted" ||
  error._tag === "DeliveryMismatch" ||
  (error._tag === "FilesFailed" && error.assembly === "canceled")

/** The sources of a job with a journal were checked, see `prepare`. */
const uploadOne: AssemblyFiles.UploadOne<HttpClient.HttpClient | UploadJournal.UploadJournal> = (
  target,
  source,
  upload,
  file,
  emit
) =>
  Telemetry.observe(source, emit, (tell) =>
    source._tag === "Replayable"
      ? Effect.scoped(
          UploadJournal.UploadJournal.use((journal) =>
            Journaled.start(journal, target, source, { ...upload, file }, tell)
          )
        )
      : Effect.die(new Error("a one-shot stream was not refused"))
  )

/**
 * Whether every failed file failed because nothing shows whether its upload was created, or whether its parts were
 * concatenated. In this case every later run would fail with the same error.
 */
const isUndecided = (error: AssemblyUploadError): boolean =>
  error._tag === "FilesFailed" &&
  error.files.every((file) => file.outcome !== "Failed" || file.error._tag === "CreationUnknown")

/** Continues the Assembly in the journal, or creates one. */
const attempt = <R>(
  held: Held,
  options: Options<R>,
  sources: ReadonlyArray<Replayable>,
  emit: AssemblyFiles.Emit,
  known: UploadJournal.AssemblyEntry | undefined
) =>
  Effect.gen(function* () {
    const assemblyId = known?.assemblyId ?? options.params.assemblyId ?? (yield* Assemblies.newId)
    const status = yield* known === undefined
      ? create(held, options, assemblyId, emit)
      : reopen(held, options, known, emit)

    const outcome = Assemblies.outcome(status)
    if (Option.isSome(outcome)) {
      const ended = yield* Effect.fromResult(outcome.value)
      yield* AssemblyFiles.check(options, ended, yield* AssemblyFiles.prove(options, sources), [])
      if (known?._tag !== "Completed") yield* recordCompletion(held, assemblyId)
      emit(AssemblyUploadEvent.Completed({ status: ended }))
      return ended
    }
    const job = { ...options, onFailure: options.onFailure ?? "keep" }
    const last = yield* AssemblyFiles.finish(job, status, assemblyId, sources, uploadOne, emit)
    if (options.wait !== false) yield* recordCompletion(held, assemblyId)
    return last
  })

/** An Assembly with an id that the caller chose cannot be created again. */
const chosenId: Issue = {
  path: ["restart"],
  message: "Expected no restart, because the service does not create an Assembly with the same assemblyId again"
}

/**
 * Runs the job. If the run continues an Assembly, and nothing shows whether an upload in this Assembly was created (an
 * undecided upload), the run cancels the Assembly, and starts the job again in a new Assembly. An undecided upload
 * cannot be created again in the same Assembly, because the Assembly could then get the file twice.
 */
const job = <R>(held: Held, options: Options<R>, sources: ReadonlyArray<Replayable>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const found = Option.getOrUndefined(yield* held.entries.get(held.key))
    const run = (known: UploadJournal.AssemblyEntry | undefined) => attempt(held, options, sources, emit, known)
    if (found === undefined) return yield* run(undefined)
    const hasChosenId = options.params.assemblyId !== undefined
    if (hasChosenId && options.restart === true) yield* UploadOptions.refuse("AssemblyUpload", [chosenId])

    const anew = Effect.gen(function* () {
      const ended = yield* giveUp(found.assemblyId)
      // The Assembly may have completed before its cancellation, if the undecided upload arrived at the service.
      const isDone = options.restart !== true && Option.exists(ended, ({ ok }) => ok === "ASSEMBLY_COMPLETED")
      if (isDone) return yield* run(found)
      yield* forget(held)
      return yield* run(undefined)
    })
    if (options.restart === true) return yield* anew
    return yield* hasChosenId ? run(found) : Effect.catchIf(run(found), isUndecided, () => anew)
  }).pipe(Effect.tapError((error) => (isFinal(error) ? Effect.ignore(forget(held)) : Effect.void)))

const encodeParams = Input.encoder(Assembly.CreateParams)

/** The key of a job. Two runs with the same service, params and files have the same key. */
const keyOf = <R>({ files, params }: Options<R>, sources: ReadonlyArray<Replayable>) =>
  Effect.gen(function* () {
    const { origins } = yield* AssemblyClient
    const { assemblyId, ...rest } = params
    const encoded = yield* Effect.mapError(
      Effect.fromResult(encodeParams(rest)),
      (issues) => new InvalidRequest({ operation: "AssemblyUpload", issues })
    )
    const identities = yield* Effect.forEach(sources, Journaled.identify)
    return yield* JournalKey.assemblyKeyOf([
      origins.entries[0] ?? "",
      assemblyId ?? null,
      encoded,
      files.map(({ fieldname = "file", filename, metadata = {} }, file) => [
        filename,
        fieldname,
        metadata,
        String(sources[file]?.size),
        identities[file] ?? null
      ])
    ])
  })

/** A job whose options are valid, with its open sources and its key in the journal. */
export interface Prepared<R> {
  readonly options: Options<R>
  readonly sources: ReadonlyArray<Replayable>
  readonly key: string
}

export const prepare = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const opened = yield* AssemblyOptions.prepare(options, true)
    const sources = opened.flatMap((source) => (source._tag === "Replayable" ? [source] : []))
    return { options, sources, key: yield* keyOf(options, sources) } satisfies Prepared<R>
  })

/** The entry of the Assembly of the job, if an earlier run has seen that the Assembly has completed. */
export const completed = ({ key }: { readonly key: string }) =>
  Effect.gen(function* () {
    const { assemblies } = yield* UploadJournal.UploadJournal
    return Option.filter(yield* assemblies.get(key), ({ _tag }) => _tag === "Completed")
  })

/** Acquires the lease of the job, and runs the job to its end. */
export const run = <R>({ key, options, sources }: Prepared<R>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    const tell = yield* Events.paced(emit, options.progressInterval)
    const lease = yield* Hold.hold(journal, key, tell)
    return yield* Hold.during(lease, job({ entries: journal.assemblies, key, lease }, options, sources, tell))
  }).pipe(Effect.scoped)
