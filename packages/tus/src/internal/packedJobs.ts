/** Runs several jobs in one Assembly. */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { type AssemblyUploadError, DeliveryMismatch, FilesFailed } from "../AssemblyUploadError.ts"
import * as DeliveryProof from "../DeliveryProof.ts"
import type * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyOptions from "./assemblyOptions.ts"
import type { Delivered, Options as Job, Proof } from "./job.ts"
import * as PackedStatus from "./packedStatus.ts"
import { uploadsAtOnce } from "./packingOptions.ts"
import * as Policy from "./policy.ts"
import type { UploadSource } from "./source.ts"

/**
 * A job that shares an Assembly.
 *
 * - `isDone`: whether the journal shows that the job has completed.
 * - `completed`: records that the job has completed.
 */
export interface Opened {
  readonly sources: ReadonlyArray<UploadSource>
  readonly isDone: boolean
  readonly completed: (assemblyId: Assembly.AssemblyId) => Effect.Effect<void>
}

/** The parts of the service `AssemblyUpload` that run packs. */
export interface Service {
  readonly open: <R>(options: Job<R>) => Effect.Effect<Opened, AssemblyUploadError, R>
  readonly send: (
    options: Job,
    sources: ReadonlyArray<UploadSource>,
    emit: AssemblyFiles.Emit
  ) => Effect.Effect<Assembly.Status, AssemblyUploadError>
}

/** Opens a job without a journal. A source must be replayable, because a pack that fails is sent again. */
export const open: Service["open"] = (options) =>
  Effect.map(AssemblyOptions.prepare(options, true), (sources) => ({
    sources,
    isDone: false,
    completed: () => Effect.void
  }))

/** Whether a pack failed because of one of its jobs. Every pack would fail if the service is away, for example. */
export const isOfJob = (error: AssemblyUploadError): boolean =>
  error._tag === "AssemblyFailed" ||
  error._tag === "SourceFailed" ||
  (error._tag === "FilesFailed" && error.files.some((file) => file.outcome === "Failed" && !Policy.canHeal(file.error)))

/** The error of a pack, with the files of one job only. */
export const ownError = (error: AssemblyUploadError, start: number, end: number): AssemblyUploadError =>
  error._tag === "FilesFailed" ? new FilesFailed({ ...error, files: error.files.slice(start, end) }) : error

/** What becomes of one job of a completed Assembly. */
export type Checked = Result.Result<Assembly.Status, AssemblyUploadError>

/** Runs the jobs of a pack in one Assembly. Returns the result of each job. */
export const together = <J extends Job<unknown>>(
  service: Service,
  pack: Arr.NonEmptyReadonlyArray<{ readonly job: J; readonly opened: Opened }>,
  emit: AssemblyFiles.Emit
): Effect.Effect<ReadonlyArray<Checked>, AssemblyUploadError> =>
  Effect.gen(function* () {
    const { data: _, ...shared } = Arr.headNonEmpty(pack).job as J & { readonly data?: unknown }
    const isForm = shared.transport === "form"
    const verify = shared.verify ?? (isForm ? DeliveryProof.md5 : undefined)
    const proofs = yield* Effect.forEach(pack, ({ opened }): Effect.Effect<Proof> =>
      verify === undefined
        ? Effect.succeed({ sources: opened.sources, check: () => Effect.void })
        : verify(opened.sources)
    )
    // A form has no URLs. So a file is found by its MD5, if another file has the same names.
    const sums = isForm
      ? yield* Effect.forEach(
          proofs.flatMap(({ sources }) => sources),
          DeliveryProof.summed
        )
      : undefined
    const sources = sums?.map(({ source }) => source) ?? proofs.flatMap((proof) => proof.sources)
    const files = pack.flatMap(({ job, opened }) =>
      job.files.flatMap((file, index) => {
        const source = opened.sources[index]
        return source === undefined ? [] : [{ ...file, source }]
      })
    )
    let delivered: ReadonlyArray<Delivered> = []
    const status = yield* service.send(
      {
        ...shared,
        files,
        concurrency: shared.concurrency ?? uploadsAtOnce,
        cancelOnInterrupt: true,
        verify: (given) =>
          Effect.succeed({
            sources: given,
            check: (_status, all) =>
              Effect.sync(() => {
                delivered = all
              })
          })
      },
      sources,
      emit
    )
    let left = status.uploads ?? []
    const found: Array<Assembly.File | undefined> = []
    for (const [index, file] of delivered.entries()) {
      const total = sums === undefined ? undefined : yield* sums[index]?.total ?? Effect.undefined
      const own = PackedStatus.fileOf(left, file, total?.md5hash)
      left = left.filter((other) => other !== own)
      found.push(own)
    }
    let start = 0
    return yield* Effect.forEach(Arr.zip(pack, proofs), ([{ job }, proof]) => {
      const from = start
      start += job.files.length
      const own = found.slice(from, start)
      const missing = own.indexOf(undefined)
      const view = PackedStatus.share(
        status,
        own.filter((file) => file !== undefined)
      )
      return Effect.result(
        missing === -1
          ? Effect.as(proof.check(view, delivered.slice(from, start)), view)
          : Effect.fail(
              new DeliveryMismatch({
                assemblyId: status.assembly_id,
                filename: job.files[missing]?.filename ?? "",
                field: "upload",
                expected: "the file",
                actual: "no such file"
              })
            )
      )
    })
  })
