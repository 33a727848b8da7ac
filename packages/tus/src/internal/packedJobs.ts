/** Runs several jobs in one Assembly. */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AssemblyUploadError, FilesFailed } from "../AssemblyUploadError.ts"
import * as DeliveryProof from "../DeliveryProof.ts"
import type * as AssemblyFiles from "./assemblyFiles.ts"
import type { Delivered, Options as Job, Verify } from "./job.ts"
import * as PackedStatus from "./packedStatus.ts"
import { uploadsAtOnce } from "./packing.ts"
import * as Policy from "./policy.ts"
import type { Prepared, Recorded, Seat, Service } from "./preparedJob.ts"

/** Whether a pack failed because of one of its jobs. Every pack would fail if the service is away, for example. */
export const isOfJob = (error: AssemblyUploadError): boolean =>
  error._tag === "AssemblyFailed" ||
  error._tag === "SourceFailed" ||
  (error._tag === "FilesFailed" && error.files.some((file) => file.outcome === "Failed" && !Policy.canHeal(file.error)))

/** The result of one job. */
export type JobResult = Result.Result<Assembly.Status, AssemblyUploadError>

type Jobs<J> = Arr.NonEmptyReadonlyArray<{
  readonly job: J
  readonly opened: Pick<Prepared, "sources">
  readonly seat: Seat
}>

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
    // A later run then knows which Assembly may have the files of a job.
    const recorded: Recorded = (about) =>
      Effect.forEach(jobs, ({ seat }) => seat.record({ ...about, _tag: "Creating", uploads: [] }), {
        concurrency: 16,
        discard: true
      })
    const files = sums?.map(({ source }) => source) ?? observed
    const sent = yield* Effect.result(service.send(pack, files, emit, recorded))
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
    const totals = yield* Effect.forEach(sums ?? [], ({ total }) => total)
    const found = PackedStatus.filesOf(
      status,
      delivered.map((file, index) => ({ ...file, md5hash: totals[index]?.md5hash }))
    )
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
          : Effect.fail(PackedStatus.notListed(status, missing.filename))
      return Effect.result(Effect.as(checked, own))
    })
  })
