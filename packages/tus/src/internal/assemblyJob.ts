/**
 * The engine of jobs: creates the Assembly of a job, or continues it, uploads its files, and waits for its end. Jobs
 * with and without a journal differ only in the store of the Assembly.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import { isNotFound } from "@assembly-effect/api/unstable/ErrorDetails"
import * as Places from "@assembly-effect/api/unstable/Places"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest, Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { AssemblyUploadError } from "./jobError.ts"
import * as AssemblyUploadEvent from "../AssemblyUploadEvent.ts"
import * as DeliveryProof from "../DeliveryProof.ts"
import type { AssemblyEntry } from "./journal.ts"
import type { JournalFailed, LeaseLost } from "./journalError.ts"
import * as AssemblyFiles from "./assemblyFiles.ts"
import { paced } from "./events.ts"
import { type Delivered, type Options, type Proof, unproven } from "./job.ts"
import { refuse } from "./options.ts"
import * as PackedStatus from "./packedStatus.ts"
import type { UploadSource } from "./source.ts"
import { counted } from "./telemetry.ts"

/**
 * The errors of the store of an Assembly.
 *
 * @since 0.1.0
 * @category errors
 */
export type StoreError = JournalFailed | LeaseLost | InvalidRequest

/** An Assembly of a job, see `AssemblyEntry`. */
type About = Omit<AssemblyEntry, "_tag" | "writtenAt">

/**
 * Keeps which Assembly a job has. `found` is the entry of an earlier run. `record` is called before the creation of an
 * Assembly is sent (`Creating`), after it (`Created`), and when the Assembly has completed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Store {
  readonly found: AssemblyEntry | undefined
  readonly record: (entry: Omit<AssemblyEntry, "writtenAt">) => Effect.Effect<void, StoreError>
  readonly forget: Effect.Effect<void, StoreError>
}

/** Keeps nothing: a later run cannot continue the job. */
export const forgetful: Store = { found: undefined, record: () => Effect.void, forget: Effect.void }

/** A job with the store of its Assembly. */
interface Job extends AssemblyFiles.Job {
  readonly store: Store
}

/**
 * A job whose options are valid, with open sources.
 *
 * - `done`: the entry of its Assembly, if an earlier run has seen that the Assembly has completed.
 * - `join`: the store of a job in a pack, whose scope holds the lease of the job. Undefined if the job has completed, or
 *   has an Assembly of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Prepared {
  readonly sources: ReadonlyArray<UploadSource>
  readonly done: Effect.Effect<AssemblyEntry | undefined, AssemblyUploadError>
  readonly join: Effect.Effect<Store | undefined, AssemblyUploadError, Scope.Scope>
  readonly run: (emit: AssemblyFiles.Emit) => Effect.Effect<Assembly.Status, AssemblyUploadError>
}

/**
 * Runs a job whose sources are open. By default nothing is stored: a later run cannot continue the job.
 *
 * @since 0.1.0
 * @category models
 */
export type Send = (
  options: Options<unknown>,
  sources: ReadonlyArray<UploadSource>,
  emit: AssemblyFiles.Emit,
  store?: Store
) => Effect.Effect<Assembly.Status, AssemblyUploadError>

/**
 * What runs jobs.
 *
 * - `prepare`: prepares a job. A pack that fails is sent again, so the sources of a job that shares an Assembly are
 *   replayable.
 * - `send`: see {@link Send}.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly prepare: <R>(options: Options<R>, isShared?: boolean) => Effect.Effect<Prepared, AssemblyUploadError, R>
  readonly send: Send
}

/** Whether the error shows that the creation request created no Assembly. */
const isRefused = (error: AssemblyUploadError): boolean =>
  error._tag === "InvalidRequest" ||
  ("sent" in error && error.sent === "no") ||
  ("status" in error &&
    error.status !== undefined &&
    (Outcome.isRefusal(error.status) || AssemblyFiles.isConflict(error)))

const createAssembly = Effect.fnUntraced(function* (job: Job, about: About) {
  const { emit, options, store } = job
  const { files, params } = options
  const { assemblyId } = about
  const request: Effect.Effect<Assembly.Status, AssemblyUploadError, AssemblyClient> =
    about.isForm === true
      ? yield* AssemblyFiles.formOf(job, about)
      : Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length })
  yield* store.record({ ...about, _tag: "Creating" })
  const status = yield* request.pipe(
    // Only this job knows a generated id, so the conflict comes from an earlier request of this job.
    Effect.catchIf(
      (error) => AssemblyFiles.isConflict(error) && params.assemblyId === undefined,
      () => Assemblies.get(assemblyId)
    ),
    Effect.tapError((error) => (isRefused(error) ? Effect.ignore(store.forget) : Effect.void))
  )
  yield* store.record({ ...about, _tag: "Created" })
  emit(AssemblyUploadEvent.AssemblyCreated({ status }))
  return status
})

/**
 * Requests the Status of a stored Assembly. If the service does not have the Assembly, and nothing shows that the
 * creation succeeded, the Assembly is created now.
 */
const reopen = Effect.fnUntraced(function* (job: Job, { _tag, ...about }: AssemblyEntry) {
  const { emit, store } = job
  const isOpen = _tag === "Creating"
  const status = yield* Assemblies.get(about.assemblyId).pipe(
    Effect.catchIf(isNotFound, (error) =>
      // A new Assembly could repeat finished work. So this run fails, and the caller decides about another run.
      isOpen ? Effect.undefined : Effect.andThen(store.forget, Effect.fail(error))
    ),
    Effect.mapError((error) =>
      isOpen && about.isForm === true ? AssemblyFiles.broken(about, false, error.message) : error
    )
  )
  if (status === undefined) return yield* createAssembly(job, about)
  if (isOpen) yield* store.record({ ...about, _tag: "Created" })
  emit(AssemblyUploadEvent.AssemblyResumed({ status }))
  return status
})

/**
 * Cancels a stored Assembly, and returns its Status, or undefined if the Assembly no longer exists. Fails if the Assembly
 * has not ended, so that two Assemblies never run for the same job.
 */
export const giveUp = (assemblyId: Assembly.AssemblyId) =>
  Effect.catchIf(Assemblies.cancel(assemblyId), isNotFound, () => Effect.undefined)

/**
 * Whether the error shows that the Assembly has ended without completing, or contains other bytes than those that were
 * read.
 */
const isFinal = (error: AssemblyUploadError): boolean =>
  ["AssemblyFailed", "AssemblyCanceled", "AssemblyAborted", "DeliveryMismatch"].includes(error._tag) ||
  (error._tag === "FormBroken" && error.isOver) ||
  (error._tag === "FilesFailed" && error.assembly === "canceled")

/**
 * Whether every failed file failed because nothing shows whether its upload was created, or whether its parts were
 * concatenated. In this case every later run would fail with the same error.
 */
const isUndecided = (error: AssemblyUploadError): boolean =>
  error._tag === "FilesFailed" &&
  error.files.every((file) => file.outcome !== "Failed" || file.error._tag === "CreationUnknown")

const hasArrived = ({ ok }: Assembly.Status): boolean => ok !== "ASSEMBLY_UPLOADING"

/** The first Status that shows that all files of a form have arrived. */
const arrived = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.watch(assemblyId).pipe(Stream.filter(hasArrived), Stream.runHead, Effect.map(Option.getOrThrow))

/** Waits until the Assembly of a form has ended, or until its files have arrived if `wait` is false. */
const finishForm = ({ emit, options: { wait }, sources }: Job, about: About, status: Assembly.Status) =>
  Effect.gen(function* () {
    const { assemblyId } = about
    const isKnown = Assembly.isOver(status) || (wait === false && hasArrived(status))
    const later = wait === false ? arrived(assemblyId) : Assemblies.awaitCompletion(assemblyId, wait)
    const ended = yield* Effect.flatMap(isKnown ? Effect.succeed(status) : later, AssemblyFiles.unlessFailed).pipe(
      Effect.catchTag("AssemblyAborted", ({ description }) =>
        Effect.fail(AssemblyFiles.broken(about, true, description))
      )
    )
    const total = sources.reduce((sum, { size = 0n }) => sum + size, 0n)
    yield* counted(total, total)
    emit(AssemblyUploadEvent.Progress({ sent: total, acknowledged: total, total }))
    sources.forEach(({ size: length = 0n }, file) => emit(AssemblyUploadEvent.FileCompleted({ file, length })))
    emit(AssemblyUploadEvent.Uploaded({ assemblyId }))
    return ended
  })

/** Continues a stored Assembly, or creates one. `earlier` are the Assemblies whose forms broke. */
const attempt = (given: Job, known: AssemblyEntry | undefined, earlier: About["earlier"]) =>
  Effect.gen(function* () {
    const { options } = given
    const { params, wait } = options
    const isForm = known === undefined ? options.transport === "form" : known.isForm === true
    const verify = options.verify ?? (isForm && wait !== false ? DeliveryProof.md5 : unproven)
    const proof = yield* verify(given.sources)
    const job = { ...given, sources: proof.sources }
    const assemblyId = known?.assemblyId ?? params.assemblyId ?? (yield* Assemblies.newId)
    // A runner of an earlier version reads no other fields.
    const about: About = { assemblyId, ...(isForm && { isForm }), ...(earlier && { earlier }) }
    return yield* Places.watched(assemblyId, wait !== false, perform(job, about, known, proof))
  })

/** Creates or continues an Assembly, and uploads its files. Waits for its end, unless `wait` is false. */
const perform = (job: Job, about: About, known: AssemblyEntry | undefined, proof: Proof) =>
  Effect.gen(function* () {
    const { emit, options, store } = job
    const { assemblyId } = about
    const { wait } = options
    const status = yield* known === undefined ? createAssembly(job, about) : reopen(job, { ...known, ...about })

    let delivered: ReadonlyArray<Delivered> = options.files.map(({ fieldname, filename }) => ({ filename, fieldname }))
    let ended = status
    const isNew = known === undefined || known._tag === "Creating"
    if (isNew && about.isForm !== true && status.ok === "ASSEMBLY_COMPLETED") {
      return yield* PackedStatus.notListed(status, options.files[0]?.filename ?? "")
    }
    if (about.isForm === true) ended = yield* finishForm(job, about, status)
    else if (!Assembly.isOver(status)) {
      delivered = yield* AssemblyFiles.fill(job, status, assemblyId)
      emit(AssemblyUploadEvent.Uploaded({ assemblyId }))
      if (wait !== false) ended = yield* Assemblies.awaitCompletion(assemblyId, wait)
    }
    const whole = yield* AssemblyFiles.unlessFailed(ended)
    if (!Assembly.isOver(whole)) return whole
    const completed = known?.uploads === undefined ? whole : PackedStatus.shareOf(whole, known.uploads)
    yield* proof.check(completed, delivered)
    // If the record cannot be written, the job has still completed, and the next run requests the Status again.
    if (known?._tag !== "Completed") yield* Effect.ignore(store.record({ ...about, _tag: "Completed" }))
    emit(AssemblyUploadEvent.Completed({ status: completed }))
    return completed
  })

/** Runs {@link attempt}. With `resend`, sends a form that broke again. */
const persist = Effect.fnUntraced(function* (job: Job, known: AssemblyEntry | undefined) {
  const { emit, options } = job
  if (options.resend !== true) return yield* attempt(job, known, known?.earlier)
  const pauseAfter = RetryPolicy.pauses((yield* RetryPolicy.RetryPolicy) ?? RetryPolicy.standard)
  let earlier = known?.earlier
  let entry = known
  for (const assemblyId of earlier ?? []) emit(AssemblyUploadEvent.Resent({ assemblyId }))
  for (let failures = 1; ; failures++) {
    const tried = yield* Effect.result(attempt(job, entry, earlier))
    if (Result.isSuccess(tried)) return tried.success
    const error = tried.failure
    if (error._tag !== "FormBroken") return yield* Effect.fail(error)
    const wait = Option.none()
    const pause = yield* pauseAfter({ operation: "Assemblies.create", retry: "safe", failures, error: lost, wait })
    if (Option.isNone(pause)) return yield* error
    yield* Effect.sleep(pause.value)
    const assemblyId = Arr.lastNonEmpty(error.assemblyIds)
    // The service takes an id once. So if the form may still arrive, it is sent again with the same id.
    entry = error.isOver ? undefined : { _tag: "Creating", assemblyId, isForm: true, writtenAt: 0 }
    if (!error.isOver) continue
    earlier = error.assemblyIds
    emit(AssemblyUploadEvent.Resent({ assemblyId }))
  }
})

/** The input of the retry policy for a form that broke. */
const lost = { _tag: "TransportFailure", sent: "maybe" } as const

/** An Assembly with an id that the caller chose cannot be created again. */
const chosenId: Issue = {
  path: ["restart"],
  message: "Expected no restart, because the service does not create an Assembly with the same assemblyId again"
}

/**
 * Runs a job. If the run continues an Assembly, and nothing shows whether an upload in this Assembly was created (an
 * undecided upload), the run cancels the Assembly, and starts the job again in a new Assembly. An undecided upload
 * cannot be created again in the same Assembly, because the Assembly could then get the file twice.
 */
export const run = (given: Job) =>
  Effect.gen(function* () {
    const { params, progressInterval, restart = false } = given.options
    const { forget, found } = given.store
    const job = { ...given, emit: paced(given.emit, progressInterval, yield* Clock.Clock) }
    if (found === undefined) return yield* persist(job, undefined)
    const hasChosenId = params.assemblyId !== undefined
    if (hasChosenId && restart) yield* refuse("AssemblyUpload", [chosenId])

    // A pack that was not seen to complete.
    const isShared = found._tag === "Creating" && found.uploads !== undefined
    const anew = Effect.gen(function* () {
      const ended = yield* giveUp(found.assemblyId)
      // The Assembly may have completed before its cancellation, if the undecided upload arrived at the service.
      const isDone = !restart && !isShared && ended?.ok === "ASSEMBLY_COMPLETED"
      if (isDone) return yield* persist(job, found)
      yield* forget
      return yield* persist(job, undefined)
    })
    if (restart || isShared) return yield* anew
    return yield* hasChosenId ? persist(job, found) : Effect.catchIf(persist(job, found), isUndecided, () => anew)
  }).pipe(
    Effect.tapError((error) => (isFinal(error) ? Effect.ignore(given.store.forget) : Effect.void)),
    (program) =>
      Budget.telling(program, {
        waits: (waiting) => Effect.sync(() => given.emit(AssemblyUploadEvent.Waiting(waiting)))
      })
  )
