/** Runs several jobs in one Assembly. */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AssemblyUploadError, DeliveryMismatch, FilesFailed } from "../AssemblyUploadError.ts"
import * as DeliveryProof from "../DeliveryProof.ts"
import type * as AssemblyFiles from "./assemblyFiles.ts"
import { type Delivered, type Options as Job, prepare, type Verify } from "./job.ts"
import * as PackedStatus from "./packedStatus.ts"
import { uploadsAtOnce } from "./packingOptions.ts"
import * as Policy from "./policy.ts"
import type { UploadSource } from "./source.ts"

/**
 * A job that shares an Assembly.
 *
 * - `isDone`: whether the journal shows that the job has completed.
 * - `completed`: records that the job has completed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Opened {
  readonly sources: ReadonlyArray<UploadSource>
  readonly isDone: boolean
  readonly completed: (assemblyId: Assembly.AssemblyId) => Effect.Effect<void>
}

/**
 * The parts of the service `AssemblyUpload` that run packs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly open: <R>(options: Job<R>) => Effect.Effect<Opened, AssemblyUploadError, R>
  readonly send: (
    options: Job<unknown>,
    sources: ReadonlyArray<UploadSource>,
    emit: AssemblyFiles.Emit
  ) => Effect.Effect<Assembly.Status, AssemblyUploadError>
}

/** Opens a job without a journal. A source must be replayable, because a pack that fails is sent again. */
export const open: Service["open"] = (options) =>
  Effect.map(prepare(options, true), (sources) => ({
    sources,
    isDone: false,
    completed: () => Effect.void
  }))

/** Whether a pack failed because of one of its jobs. Every pack would fail if the service is away, for example. */
export const isOfJob = (error: AssemblyUploadError): boolean =>
  error._tag === "AssemblyFailed" ||
  error._tag === "SourceFailed" ||
  (error._tag === "FilesFailed" && error.files.some((file) => file.outcome === "Failed" && !Policy.canHeal(file.error)))

/** The result of one job. */
export type JobResult = Result.Result<Assembly.Status, AssemblyUploadError>

type Jobs<J> = Arr.NonEmptyReadonlyArray<{ readonly job: J; readonly opened: Opened }>

const notListed = ({ assembly_id: assemblyId }: Assembly.Status, filename: string) =>
  new DeliveryMismatch({ assemblyId, filename, field: "upload", expected: "the file", actual: "no such file" })

/** The files of a completed Assembly, in the order of the files of its jobs. A form has no URLs, so `sums` finds them. */
const findAll = (
  { uploads = [] }: Assembly.Status,
  delivered: ReadonlyArray<Delivered>,
  sums: ReadonlyArray<DeliveryProof.Summed<UploadSource>> | undefined
) =>
  Effect.gen(function* () {
    let left = uploads ?? []
    return yield* Effect.forEach(delivered, (file, index) =>
      Effect.map(sums?.[index]?.total ?? Effect.undefined, (total) => {
        const found = PackedStatus.fileOf(left, file, total?.md5hash)
        left = left.filter((other) => other !== found)
        return found
      })
    )
  })

/**
 * Runs jobs with equal options in one Assembly, and returns the result of each job. Fails if the Assembly failed because
 * of one of the jobs.
 */
export const together = <J extends Job<unknown>>(service: Service, jobs: Jobs<J>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const options = Arr.headNonEmpty(jobs).job
    const isForm = options.transport === "form"
    const starts = Arr.scan(jobs, 0, (sum, { job }) => sum + job.files.length)
    const ofJob = <A>(all: ReadonlyArray<A>, index: number) => all.slice(starts[index], starts[index + 1])
    const verify = options.verify ?? (isForm ? DeliveryProof.md5 : undefined)
    const proofs = yield* Effect.forEach(
      jobs,
      ({ opened: { sources } }) => verify?.(sources) ?? Effect.succeed({ sources, check: () => Effect.void })
    )
    const observed = proofs.flatMap(({ sources }) => sources)
    const sums = isForm ? yield* Effect.forEach(observed, DeliveryProof.summed) : undefined
    let delivered: ReadonlyArray<Delivered> = []
    const noting: Verify = (sources) =>
      Effect.succeed({
        sources,
        check: (_, files) =>
          Effect.sync(() => {
            delivered = files
          })
      })
    const pack: Job<unknown> = {
      ...options,
      files: jobs.flatMap(({ job }) => job.files),
      concurrency: options.concurrency ?? uploadsAtOnce,
      onFailure: "cancel",
      cancelOnInterrupt: true,
      verify: noting
    }
    const sent = yield* Effect.result(service.send(pack, sums?.map(({ source }) => source) ?? observed, emit))
    if (Result.isFailure(sent)) {
      const error = sent.failure
      if (isOfJob(error)) return yield* Effect.fail(error)
      return jobs.map((_, index): JobResult =>
        Result.fail(
          error._tag === "FilesFailed" ? new FilesFailed({ ...error, files: ofJob(error.files, index) }) : error
        )
      )
    }
    const status = sent.success
    const found = yield* findAll(status, delivered, sums)
    return yield* Effect.forEach(Arr.zip(jobs, proofs), ([{ job }, proof], index) => {
      const uploads = ofJob(found, index)
      const own = PackedStatus.share(
        status,
        uploads.filter((file) => file !== undefined)
      )
      const missing = job.files[uploads.indexOf(undefined)]
      const checked: Effect.Effect<void, AssemblyUploadError> =
        missing === undefined
          ? proof.check(own, ofJob(delivered, index))
          : Effect.fail(notListed(status, missing.filename))
      return Effect.result(Effect.as(checked, own))
    })
  })
