/**
 * Runs a whole job: creates an Assembly, uploads its files in parallel, and waits for the results.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Stream from "effect/Stream"
import type { AssemblyUploadError } from "./AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "./AssemblyUploadEvent.ts"
import * as AssemblyFiles from "./internal/assemblyFiles.ts"
import type { File, Job } from "./AssemblyJob.ts"
import * as AssemblyOptions from "./internal/assemblyOptions.ts"
import * as Events from "./internal/events.ts"
import * as Upload from "./Upload.ts"

export type { Delivered, File, Job, Proof, Verify } from "./AssemblyJob.ts"

/**
 * The options of a job, see `AssemblyJob.Job`, and:
 *
 * - `onFailure`: `cancel` by default.
 * - `cancelOnInterrupt`: whether an interruption of the job cancels the Assembly; false by default.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<R = never> extends Job<File<R>> {
  readonly cancelOnInterrupt?: boolean | undefined
}

const program = <R>(options: Options<R>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const { cancelOnInterrupt = false, files, params } = options
    const sources = yield* AssemblyOptions.prepare(options, { isReplayed: false })
    const tell = yield* Events.paced(emit, options.progressInterval)
    const assemblyId = params.assemblyId ?? (yield* Assemblies.newId)

    return yield* Effect.gen(function* () {
      const status = yield* Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length })
      tell(AssemblyUploadEvent.AssemblyCreated({ status }))
      yield* AssemblyFiles.finish(options, status, assemblyId, sources, Upload.events, tell)
    }).pipe(Effect.onInterrupt(() => (cancelOnInterrupt ? AssemblyFiles.cancel(assemblyId) : Effect.void)))
  })

/**
 * Creates an Assembly, uploads its files, waits until the Assembly has completed, and emits events.
 *
 * @example
 * AssemblyUpload.events({ params, files }).pipe(Stream.runForEach((event) => Console.log(event._tag)))
 *
 * @since 0.1.0
 * @category running
 */
export const events = <R = never>(
  options: Options<R>
): Stream.Stream<
  AssemblyUploadEvent.AssemblyUploadEvent,
  AssemblyUploadError,
  AssemblyClient | HttpClient.HttpClient | R
> => Events.fromProgram((emit: AssemblyFiles.Emit) => program(options, emit), AssemblyFiles.isTransient)

/**
 * Creates an Assembly, uploads its files, waits until the Assembly has completed, and returns the Status. If `wait` is
 * false, `run` returns the Status from the creation of the Assembly.
 *
 * **When to use**
 *
 * Use `AssemblyUpload` to upload files and get the results in one call. Use `Upload` to add one file to an existing
 * Assembly. Use `ResumableAssemblyUpload` if the process may end during the job.
 *
 * **Details**
 *
 * Every option and every source is checked before the Assembly is created. If a file fails permanently, the job fails
 * with `FilesFailed`, which contains the error of each failed file, and by default the Assembly is canceled (see
 * `onFailure`). If the server refuses a file because the Assembly has failed, or was canceled or aborted, the job fails
 * with the error of the Assembly instead.
 *
 * @example
 * AssemblyUpload.run({
 *   params: { steps: { ":original": { robot: "/upload/handle" } } },
 *   files: [{ source: UploadSource.fromPath("cat.jpg"), filename: "cat.jpg" }]
 * })
 *
 * @since 0.1.0
 * @category running
 */
export const run = <R = never>(
  options: Options<R>
): Effect.Effect<Assembly.Status, AssemblyUploadError, AssemblyClient | HttpClient.HttpClient | R> =>
  AssemblyUploadEvent.result(events(options))
