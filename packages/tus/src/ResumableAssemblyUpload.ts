/**
 * Uploads the files of an Assembly in a job that can continue after its process has ended. A journal stores the
 * Assembly and its uploads, and the next run continues the Assembly and the uploads.
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Stream from "effect/Stream"
import type { File, Job } from "./AssemblyUpload.ts"
import type { ResumableAssemblyUploadError } from "./AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "./AssemblyUploadEvent.ts"
import * as AssemblyFiles from "./internal/assemblyFiles.ts"
import * as Events from "./internal/events.ts"
import * as JournaledJob from "./internal/journaledJob.ts"
import type * as UploadJournal from "./UploadJournal.ts"
import type { Replayable } from "./UploadSource.ts"

/**
 * The options of a job whose sources can be read again, see `AssemblyJob.Job`, and:
 *
 * - `onFailure`: what happens to the Assembly if a file fails permanently. The default is `keep`, so that the next run
 *   continues the Assembly. `cancel` cancels the Assembly, and the next run creates a new Assembly.
 * - `restart`: cancels the Assembly in the journal and creates a new one. False by default. If the Assembly cannot be
 *   canceled, the call fails and nothing is created. If `params` contains the `assemblyId` of the Assembly in the
 *   journal, the call fails with `InvalidRequest`, and nothing is canceled. Set `restart` for one call only, because
 *   each call with `restart` creates a new Assembly.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<R = never> extends Job<File<R, Replayable>> {
  readonly restart?: boolean | undefined
}

/**
 * Runs the same job as {@link run}, and emits its events. Interrupting the stream keeps the Assembly and the uploaded
 * bytes. If the request that creates an upload has been sent, the interruption waits at most 2 seconds for the
 * response, so that the next run knows whether the upload exists.
 *
 * @since 0.1.0
 * @category running
 */
export const events = <R = never>(
  options: Options<R>
): Stream.Stream<
  AssemblyUploadEvent.AssemblyUploadEvent,
  ResumableAssemblyUploadError,
  AssemblyClient | HttpClient.HttpClient | UploadJournal.UploadJournal | R
> =>
  Events.fromProgram(
    (emit: AssemblyFiles.Emit) =>
      Effect.flatMap(JournaledJob.prepare(options), (prepared) => JournaledJob.run(prepared, emit)),
    AssemblyFiles.isTransient
  )

/**
 * Creates an Assembly, uploads its files, waits until the Assembly has completed, and returns the Status. If an earlier
 * run has started the same job, this run continues the job.
 *
 * **When to use**
 *
 * Use `ResumableAssemblyUpload` if the process may end during the job. The next run with the same options continues the
 * job.
 *
 * **Details**
 *
 * Two runs belong to the same job if they have the same service, `params`, and files (names, metadata, size, and the
 * `identity` of the source). The journal stores the Assembly and the upload of each file. The next run requests the
 * Status of the Assembly from the service:
 *
 * - If the Assembly still accepts files, stored files are not sent again. Begun uploads continue at the offset that the
 *   server reports, and the other uploads start.
 * - If the Assembly is executing, the run waits until the Assembly has ended, unless `wait` is false.
 * - If the Assembly has completed, the run returns the Status. After the entry of the journal has expired, a run starts
 *   a new job.
 * - If the Assembly failed, or was canceled or aborted, the run fails with the error of the Assembly, and the following
 *   run creates a new Assembly. After a `DeliveryMismatch` (`verify`), the following run creates a new Assembly too.
 * - If files fail only because the response to their creation or concatenation was lost, and no receipt shows the
 *   result, the run cancels the Assembly. Unless the Assembly has completed by then, the run creates a new Assembly and
 *   uploads every file to it. If the Assembly cannot be canceled, the run fails and creates nothing. If `params`
 *   contains an `assemblyId`, the run does not cancel the Assembly, and fails with `FilesFailed`.
 *
 * With an `assemblyId` in `params`, the service does not create the Assembly again. So each later run that would create
 * a new Assembly fails.
 *
 * One process at a time holds the lease of a job. A second process emits `Waiting`. It waits until the lease is
 * released, at most until the time when the lease would expire (10 seconds after its last renewal by default), and
 * never longer than a minute. Then the second process continues the job. If the first process still holds the lease,
 * the second process fails with `UploadLeased`.
 *
 * **Gotchas**
 *
 * An attacker who can write to the journal can change an entry, so that the next run uploads to another Assembly of the
 * same service. Only the user of the program may have write access to the journal.
 *
 * @example
 * ResumableAssemblyUpload.run({
 *   params: { templateId: "my-template" },
 *   files: [{ source: UploadSource.fromPath("video.mp4"), filename: "video.mp4" }]
 * }).pipe(Effect.provide(UploadJournal.layerFileSystem("/var/lib/my-app/uploads")))
 *
 * @since 0.1.0
 * @category running
 */
export const run = <R = never>(
  options: Options<R>
): Effect.Effect<
  Assembly.Status,
  ResumableAssemblyUploadError,
  AssemblyClient | HttpClient.HttpClient | UploadJournal.UploadJournal | R
> => AssemblyUploadEvent.result(events(options))
