/**
 * Uploads the files of one Assembly in parallel. If files fail, decides whether the Assembly is canceled.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Semaphore from "effect/Semaphore"
import { type FileOutcome, FilesFailed } from "../AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "../AssemblyUploadEvent.ts"
import { type UploadError, UploadUntrusted } from "../TusError.ts"
import type * as UploadEvent from "../UploadEvent.ts"
import type { UploadSource } from "./source.ts"
import * as UploadTarget from "../UploadTarget.ts"
import type { Delivered, Options as Job } from "./job.ts"
import type { Given, Options } from "./options.ts"
import * as Events from "./events.ts"
import { hostOf } from "./host.ts"

/**
 * Delivers an event of a job.
 *
 * @since 0.1.0
 * @category models
 */
export type Emit = Events.Emit<AssemblyUploadEvent.AssemblyUploadEvent>

/** Limits the uploads of several jobs together. Without a value, only the `concurrency` of each job is a limit. */
export const Permits = Context.Reference<Semaphore.Semaphore | undefined>(
  "@assembly-effect/tus/assemblyFiles/Permits",
  { defaultValue: () => undefined }
)

/** Runs one upload, or one form, when a permit is free. */
export const permitted = <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Permits, (permits) => (permits === undefined ? request : permits.withPermit(request)))

/** Uploads one file. `file` is its index. */
export type UploadOne<R> = (
  given: Given<Options & { readonly file: number }>
) => Effect.Effect<UploadEvent.UploadResult, UploadError, R>

/** How the upload of one file ended. Undefined if the upload was stopped, or did not start. */
export type Ended = Result.Result<UploadEvent.UploadResult, UploadError> | undefined

const errorsOf = (ends: ReadonlyArray<Ended>): ReadonlyArray<UploadError> =>
  ends.flatMap((ended) => (ended !== undefined && Result.isFailure(ended) ? [ended.failure] : []))

/** Makes a function that adds the progress of one file to the progress of all files, and emits the sum. */
const totals = (sources: ReadonlyArray<UploadSource>, emit: Emit) => {
  const sumOf = Events.sums(sources.length)
  const sizes = sources.flatMap(({ size }) => (size === undefined ? [] : [size]))
  const total = sizes.length === sources.length ? sizes.reduce((all, size) => all + size, 0n) : undefined
  return (file: number, now: Events.Progress) => emit(AssemblyUploadEvent.Progress({ ...sumOf(file, now), total }))
}

const toOutcome = (filename: string, ended: Ended): FileOutcome => {
  if (ended === undefined) return { filename, outcome: "Stopped" }
  return Result.isFailure(ended)
    ? { filename, outcome: "Failed", error: ended.failure }
    : { filename, outcome: "Completed" }
}

/**
 * Whether the other files may continue after this error. The other files must stop if the server may treat wrong bytes
 * as a complete file and start processing it.
 */
const isBearable = (error: UploadError): boolean => error._tag !== "UploadUntrusted" || !error.mayBeWhole

/**
 * Uploads every file. The first permanent failure stops the uploads of the other files. If `onFailure` is "keep", only
 * a failure that is not bearable (see `isBearable`) stops them. Two files at the same upload URL would become one file,
 * and no other check detects this.
 */
const uploadAll = <R>(
  job: Job<unknown>,
  target: UploadTarget.UploadTarget,
  sources: ReadonlyArray<UploadSource>,
  uploadOne: UploadOne<R>,
  emit: Emit
): Effect.Effect<ReadonlyArray<Ended>, never, R> => {
  const ends = job.files.map((): Ended => undefined)
  const progress = totals(sources, emit)
  const urls = new Set<string>()

  const tell = (file: number) => (event: UploadEvent.UploadEvent) =>
    event._tag === "Progress" ? progress(file, event) : emit(AssemblyUploadEvent.FileEvent({ file, event }))

  const checkDistinct = ({ url }: UploadEvent.UploadResult) =>
    urls.size === urls.add(Redacted.value(url)).size
      ? Effect.fail(
          new UploadUntrusted({
            host: hostOf(target.tusUrl),
            description: "two files have the same Location",
            mayBeWhole: true
          })
        )
      : Effect.void

  const one = (source: UploadSource, file: number) => {
    const { fieldname = "file", filename, metadata } = job.files[file] ?? { filename: "" }
    const options = { ...job.upload, metadata: { ...metadata, filename, fieldname }, file }
    const upload = Effect.tap(uploadOne({ target, source, options, emit: tell(file) }), checkDistinct)
    return Effect.flatMap(Effect.result(upload), (ended): Effect.Effect<void, UploadError> => {
      ends[file] = ended
      if (Result.isSuccess(ended)) {
        const { length } = ended.success
        progress(file, { sent: length, acknowledged: length })
        emit(AssemblyUploadEvent.FileCompleted({ file, length }))
        return Effect.void
      }
      const error = ended.failure
      emit(AssemblyUploadEvent.FileFailed({ file, error }))
      return job.onFailure === "keep" && isBearable(error) ? Effect.void : Effect.fail(error)
    })
  }

  return Effect.forEach(sources, (source, file) => permitted(one(source, file)), {
    concurrency: job.concurrency ?? 4,
    discard: true
  }).pipe(Effect.ignore, Effect.as(ends))
}

/** The maximum time of a cancellation, and of the request for the Status in `ownError`. */
const patience = "30 seconds"

/**
 * Cancels the Assembly, and returns whether it is canceled. Returns false if the Assembly has ended in another way, or
 * if the cancellation fails.
 */
export const cancel = (assemblyId: Assembly.AssemblyId): Effect.Effect<boolean, never, AssemblyClient> =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.map((status) => Assembly.state(status) === "Canceled"),
    Effect.timeout(patience),
    Effect.orElseSucceed(() => false)
  )

/**
 * Reads the Status if the server responded to the upload of a file with an error. Fails with the error of the Assembly
 * if the Assembly has failed, was canceled or was aborted. Such an Assembly refuses its files, so the error of the
 * Assembly is more useful than the errors of the files.
 */
const ownError = (
  assemblyId: Assembly.AssemblyId,
  ends: ReadonlyArray<Ended>
): Effect.Effect<void, Assemblies.AssemblyError, AssemblyClient> => {
  if (!errorsOf(ends).some((error) => "status" in error)) return Effect.void
  return Assemblies.get(assemblyId).pipe(
    Effect.timeout(patience),
    Effect.option,
    Effect.flatMap((status) =>
      Option.match(Option.flatMap(status, Assemblies.outcome), {
        onNone: () => Effect.void,
        onSome: (outcome) => (Result.isFailure(outcome) ? Effect.fail(outcome.failure) : Effect.void)
      })
    )
  )
}

/**
 * Uploads all files into an Assembly. If files fail, or if the Status names no permitted URL for them, the Assembly is
 * canceled, unless `onFailure` is "keep" and every failure is bearable (see `isBearable`).
 */
export const fill = <R>(
  job: Job<unknown>,
  status: Assembly.Status,
  assemblyId: Assembly.AssemblyId,
  sources: ReadonlyArray<UploadSource>,
  uploadOne: UploadOne<R>,
  emit: Emit
) =>
  Effect.gen(function* () {
    const target = yield* Effect.tapError(
      // Checks that the URL in the Status belongs to this Assembly. Otherwise the files could be sent to another
      // Assembly.
      UploadTarget.fromAssembly({ ...status, assembly_id: assemblyId }),
      () => (job.onFailure === "keep" ? Effect.void : cancel(assemblyId))
    )
    const ends = yield* uploadAll(job, target, sources, uploadOne, emit)
    if (ends.every((ended) => ended !== undefined && Result.isSuccess(ended))) return ends
    yield* ownError(assemblyId, ends)
    const isKept = job.onFailure === "keep" && errorsOf(ends).every(isBearable)
    return yield* new FilesFailed({
      assemblyId,
      files: job.files.map(({ filename }, index) => toOutcome(filename, ends[index])),
      assembly: isKept ? "kept" : (yield* cancel(assemblyId)) ? "canceled" : "not canceled"
    })
  }).pipe(
    // After a defect during the uploads, the Assembly is canceled, even if `onFailure` is "keep".
    Effect.onExit((exit) => (Exit.hasDies(exit) ? cancel(assemblyId) : Effect.void))
  )

/** The files of a job for its proof. `uploaded` is empty if the Assembly had ended before the uploads. */
export const delivered = (job: Job<unknown>, uploaded: ReadonlyArray<Ended>): ReadonlyArray<Delivered> =>
  job.files.map(({ fieldname, filename }, index) => {
    const ended = uploaded[index]
    return { filename, fieldname, url: ended === undefined ? undefined : Result.getOrUndefined(ended)?.url }
  })
