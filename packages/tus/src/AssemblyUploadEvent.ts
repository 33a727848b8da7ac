/**
 * What happens during the upload of all files of an Assembly. All numbers are bytes.
 */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ResumableUploadError } from "./ResumableUpload.ts"
import type { UploadEvent } from "./UploadEvent.ts"

/**
 * What happens, by `file`, the index in `files`. For a reader who comes late the newest 128 of those that tell of a
 * moment are kept (`Progress`, and `FileEvent` with what `UploadEvent` counts among them).
 *
 * - `AssemblyCreated`: the Assembly exists and takes uploads.
 * - `AssemblyResumed`: the Assembly of an earlier run continues, or is over; `status` is how it stands.
 * - `Waiting`: nothing is done before `until`, in milliseconds since 1970, for the `reason` given.
 * - `FileEvent`: an event of one upload, except its progress.
 * - `Progress`: of all files together; `total` is undefined when the size of one is not known.
 * - `FileCompleted`, `FileFailed`: a file has come to its end.
 * - `Uploaded`: every file is stored; the Assembly executes.
 * - `Completed`: the Assembly has completed; its results are in `status`.
 */
export type AssemblyUploadEvent = Data.TaggedEnum<{
  readonly AssemblyCreated: { readonly status: Assembly.Status }
  readonly AssemblyResumed: { readonly status: Assembly.Status }
  readonly Waiting: { readonly reason: string; readonly until: number }
  readonly FileEvent: { readonly file: number; readonly event: UploadEvent }
  readonly Progress: { readonly sent: bigint; readonly acknowledged: bigint; readonly total: bigint | undefined }
  readonly FileCompleted: { readonly file: number; readonly length: bigint }
  readonly FileFailed: { readonly file: number; readonly error: ResumableUploadError }
  readonly Uploaded: { readonly assemblyId: Assembly.AssemblyId }
  readonly Completed: { readonly status: Assembly.Status }
}>

export const {
  $is,
  $match,
  AssemblyCreated,
  AssemblyResumed,
  Completed,
  FileCompleted,
  FileEvent,
  FileFailed,
  Progress,
  Uploaded,
  Waiting
} = Data.taggedEnum<AssemblyUploadEvent>()

/**
 * The Status that the events of a job end with: that of the completed Assembly, or with `wait: false` the one that the
 * run began with.
 *
 * @example
 * AssemblyUpload.events(options).pipe(Stream.tap(show), AssemblyUploadEvent.result)
 */
export const result = <E, R>(events: Stream.Stream<AssemblyUploadEvent, E, R>): Effect.Effect<Assembly.Status, E, R> =>
  events.pipe(
    Stream.filter((event) => "status" in event),
    Stream.runLast,
    Effect.map((event) => Option.getOrThrow(event).status)
  )
