/**
 * The engine of jobs: creates the Assembly of a job, or continues it, uploads its files, and waits for its end. Jobs
 * with and without a journal differ only in the store of the Assembly.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest, Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AssemblyUploadError } from "../AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "../AssemblyUploadEvent.ts"
import type { AssemblyEntry } from "./assemblyEntry.ts"
import * as AssemblyFiles from "./assemblyFiles.ts"
import type { Options } from "./job.ts"
import type { JournalFailed, LeaseLost } from "./journalError.ts"
import * as UploadOptions from "./options.ts"
import type { UploadSource } from "./source.ts"

type StoreError = JournalFailed | LeaseLost | InvalidRequest

/**
 * Keeps which Assembly a job has. `found` is the entry of an earlier run. `record` is called before the creation of an
 * Assembly is sent (`Creating`), after it (`Created`), and when the Assembly has completed.
 */
export interface Store {
  readonly found: AssemblyEntry | undefined
  readonly record: (_tag: AssemblyEntry["_tag"], assemblyId: Assembly.AssemblyId) => Effect.Effect<void, StoreError>
  readonly forget: Effect.Effect<void, StoreError>
}

/** A job whose options are valid, with its open sources. */
interface Job<R, R2> {
  readonly options: Options<R>
  readonly sources: ReadonlyArray<UploadSource>
  readonly store: Store
  readonly uploadOne: AssemblyFiles.UploadOne<R2>
  readonly emit: AssemblyFiles.Emit
}

const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

type CreationError = Effect.Error<ReturnType<typeof Assemblies.create>>

const isConflict = (error: CreationError): boolean => "status" in error && error.status === 409

/** Whether the error shows that the creation request created no Assembly. */
const isRefused = (error: CreationError): boolean =>
  error._tag === "InvalidRequest" ||
  ("sent" in error && error.sent === "no") ||
  ("status" in error && (Outcome.isRefusal(error.status) || isConflict(error)))

const create = <R, R2>({ emit, options, store }: Job<R, R2>, assemblyId: Assembly.AssemblyId) =>
  Effect.gen(function* () {
    const { files, params } = options
    yield* store.record("Creating", assemblyId)
    const status = yield* Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length }).pipe(
      // Only this job knows a generated id, so the conflict comes from an earlier request of this job.
      Effect.catchIf(
        (error) => isConflict(error) && params.assemblyId === undefined,
        () => Assemblies.get(assemblyId)
      ),
      Effect.tapError((error) => (isRefused(error) ? Effect.ignore(store.forget) : Effect.void))
    )
    yield* store.record("Created", assemblyId)
    emit(AssemblyUploadEvent.AssemblyCreated({ status }))
    return status
  })

/**
 * Requests the Status of a stored Assembly. If the service does not have the Assembly, and nothing shows that the
 * creation succeeded, the Assembly is created now.
 */
const reopen = <R, R2>(job: Job<R, R2>, { _tag, assemblyId }: AssemblyEntry) => {
  const { emit, store } = job
  return Assemblies.get(assemblyId).pipe(
    Effect.tap((status) =>
      Effect.andThen(
        _tag === "Creating" ? store.record("Created", assemblyId) : Effect.void,
        Effect.sync(() => emit(AssemblyUploadEvent.AssemblyResumed({ status })))
      )
    ),
    Effect.catchIf(isNotFound, (error) =>
      _tag === "Creating"
        ? create(job, assemblyId)
        : // A new Assembly could repeat finished work. So this run fails, and the caller decides about another run.
          Effect.andThen(store.forget, Effect.fail(error))
    )
  )
}

/**
 * Cancels a stored Assembly, and returns its Status, or `None` if the Assembly no longer exists. Fails if the Assembly
 * has not ended, so that two Assemblies never run for the same job.
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

/**
 * Whether every failed file failed because nothing shows whether its upload was created, or whether its parts were
 * concatenated. In this case every later run would fail with the same error.
 */
const isUndecided = (error: AssemblyUploadError): boolean =>
  error._tag === "FilesFailed" &&
  error.files.every(
    (file) =>
      file.outcome !== "Failed" || file.error._tag === "CreationUnknown" || file.error._tag === "ConcatenationUnknown"
  )

/** Continues a stored Assembly, or creates one. */
const attempt = <R, R2>(job: Job<R, R2>, known: AssemblyEntry | undefined) =>
  Effect.gen(function* () {
    const { emit, options, store, uploadOne } = job
    const { params, verify, wait } = options
    const assemblyId = known?.assemblyId ?? params.assemblyId ?? (yield* Assemblies.newId)
    const proof = yield* verify?.(job.sources) ?? Effect.undefined
    const status = yield* known === undefined ? create(job, assemblyId) : reopen(job, known)

    const outcome = Assemblies.outcome(status)
    let uploaded: ReadonlyArray<AssemblyFiles.FileExit> = []
    if (Option.isNone(outcome)) {
      uploaded = yield* AssemblyFiles.fill(options, status, assemblyId, proof?.sources ?? job.sources, uploadOne, emit)
      emit(AssemblyUploadEvent.Uploaded({ assemblyId }))
      if (wait === false) return status
    }
    const ended = yield* Option.match(outcome, {
      onNone: () => Assemblies.awaitCompletion(assemblyId, wait === false ? {} : wait),
      onSome: (result) => Effect.fromResult(result)
    })
    if (proof !== undefined) yield* proof.check(ended, AssemblyFiles.delivered(options, uploaded))
    // If the record cannot be written, the job has still completed, and the next run requests the Status again.
    if (known?._tag !== "Completed") yield* Effect.ignore(store.record("Completed", assemblyId))
    emit(AssemblyUploadEvent.Completed({ status: ended }))
    return ended
  })

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
export const run = <R, R2>(job: Job<R, R2>) =>
  Effect.gen(function* () {
    const { params, restart = false } = job.options
    const { forget, found } = job.store
    if (found === undefined) return yield* attempt(job, undefined)
    const hasChosenId = params.assemblyId !== undefined
    if (hasChosenId && restart) yield* UploadOptions.refuse("AssemblyUpload", [chosenId])

    const anew = Effect.gen(function* () {
      const ended = yield* giveUp(found.assemblyId)
      // The Assembly may have completed before its cancellation, if the undecided upload arrived at the service.
      const isDone = !restart && Option.exists(ended, ({ ok }) => ok === "ASSEMBLY_COMPLETED")
      if (isDone) return yield* attempt(job, found)
      yield* forget
      return yield* attempt(job, undefined)
    })
    if (restart) return yield* anew
    return yield* hasChosenId ? attempt(job, found) : Effect.catchIf(attempt(job, found), isUndecided, () => anew)
  }).pipe(Effect.tapError((error) => (isFinal(error) ? Effect.ignore(job.store.forget) : Effect.void)))
