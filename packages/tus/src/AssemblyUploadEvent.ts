/**
 * The events of jobs. A job uploads all files of an Assembly.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { UploadError } from "./TusError.ts"
import * as UploadEvent from "./UploadEvent.ts"

/**
 * An event of a job. `file` is the index of a file in `files` of the options. `sent`, `acknowledged`, `total` and
 * `length` are in bytes.
 *
 * - `AssemblyCreated`: the Assembly exists and accepts uploads.
 * - `AssemblyResumed`: the run continues the Assembly of an earlier run; `status` shows whether this Assembly has
 *   ended.
 * - `Resent`: the form of the Assembly with this id broke (`resend`), in this run or in an earlier one.
 * - `Waiting`: the run waits because of `reason`, at most until `until`, in milliseconds since 1970.
 * - `FileEvent`: an event of the upload of one file, except `Progress`.
 * - `Progress`: the bytes of all files together; `total` is undefined if the size of a file was unknown at the start.
 * - `FileCompleted`, `FileFailed`: the upload of a file has ended.
 * - `Uploaded`: every file is stored. The run now waits for the results, unless `wait` is false.
 * - `Completed`: the Assembly has completed; its results are in `status`.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyUploadEvent = Data.TaggedEnum<{
  readonly AssemblyCreated: { readonly status: Assembly.Status }
  readonly AssemblyResumed: { readonly status: Assembly.Status }
  readonly Resent: { readonly assemblyId: Assembly.AssemblyId }
  readonly Waiting: { readonly reason: string; readonly until: number }
  readonly FileEvent: { readonly file: number; readonly event: UploadEvent.UploadEvent }
  readonly Progress: { readonly sent: bigint; readonly acknowledged: bigint; readonly total: bigint | undefined }
  readonly FileCompleted: { readonly file: number; readonly length: bigint }
  readonly FileFailed: { readonly file: number; readonly error: UploadError }
  readonly Uploaded: { readonly assemblyId: Assembly.AssemblyId }
  readonly Completed: { readonly status: Assembly.Status }
}>

/**
 * Constructors and guards of the events.
 *
 * @since 0.1.0
 * @category constructors
 */
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
  Resent,
  Uploaded,
  Waiting
} = Data.taggedEnum<AssemblyUploadEvent>()

const File = Schema.Struct({
  ...Struct.omit(Assembly.File.schema.fields, ["tus_upload_url"]),
  meta: Schema.optionalKey(Schema.Json)
})

/**
 * A Status without the capabilities of its Assembly, which are the ids and URLs that grant access to the Assembly. A
 * `PublicStatus` contains neither the id of the Assembly nor the URLs of the Assembly, of its update stream and of its
 * tus uploads. A `PublicStatus` contains the URLs of the files in `uploads` and `results`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PublicStatus = Schema.Struct({
  ...Struct.pick(Assembly.Status.schema.fields, [
    "ok",
    "error",
    "message",
    "bytes_expected",
    "bytes_received",
    "execution_duration",
    "num_input_files"
  ]),
  uploads: Schema.optionalKey(Schema.NullOr(Schema.Array(File))),
  results: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Array(File))))
}).annotate({ identifier: "PublicStatus" })
/**
 * The type of {@link PublicStatus}.
 *
 * @since 0.1.0
 * @category models
 */
export type PublicStatus = typeof PublicStatus.Type

const bytes = Schema.BigInt
const file = Schema.Int

/**
 * An event without capabilities: without the id and the URLs of the Assembly, and without upload URLs. Every
 * {@link AssemblyUploadEvent} is also a valid value of this schema, so events can be encoded directly.
 *
 * **Details**
 *
 * Values have the same JSON form as in `UploadEvent.Public`. An `error` decodes to an instance of its class.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Public = Schema.TaggedUnion({
  AssemblyCreated: { status: PublicStatus },
  AssemblyResumed: { status: PublicStatus },
  Resent: {},
  Waiting: { reason: Schema.String, until: Schema.Finite },
  FileEvent: { file, event: UploadEvent.Public },
  Progress: { sent: bytes, acknowledged: bytes, total: Schema.optional(bytes) },
  FileCompleted: { file, length: bytes },
  FileFailed: { file, error: UploadError },
  Uploaded: {},
  Completed: { status: PublicStatus }
})
/**
 * The type of {@link Public}.
 *
 * @since 0.1.0
 * @category models
 */
export type Public = typeof Public.Type

/**
 * {@link Public} as JSON text.
 *
 * @example
 * AssemblyUpload.events({ params, files }).pipe(
 *   Stream.mapEffect((event) => Schema.encodeEffect(AssemblyUploadEvent.Json)(event)),
 *   Stream.map((data) => `data: ${data}\n\n`)
 * )
 *
 * @since 0.1.0
 * @category schemas
 */
export const Json = Schema.fromJsonString(Schema.toCodecJson(Public))

/**
 * The last Status in the events of a job: the Status of the completed Assembly, or with `wait: false` the Status at the
 * start of the run.
 *
 * @example
 * AssemblyUpload.events({ params, files }).pipe(Stream.tap(show), AssemblyUploadEvent.result)
 *
 * @since 0.1.0
 * @category results
 */
export const result = <E, R>(events: Stream.Stream<AssemblyUploadEvent, E, R>): Effect.Effect<Assembly.Status, E, R> =>
  events.pipe(
    Stream.filter((event) => "status" in event),
    Stream.runLast,
    Effect.map((event) => Option.getOrThrow(event).status)
  )
