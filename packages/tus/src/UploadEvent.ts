/**
 * The events of an upload. Sizes and offsets are in bytes.
 *
 * An upload does not wait for the reader of its events. A `Progress` replaces an unread `Progress` directly before it.
 * All other events are kept until they are read.
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { UploadUrl } from "./UploadTarget.ts"

/**
 * - `Created`: the server has created the upload. `length` is undefined while the length is unknown.
 * - `Resumed`: the server reported the offset of the upload, or of one part. If bytes are missing, sending continues at
 *   the byte `offset` of the source.
 * - `Progress`: `sent` bytes were sent, and the server confirmed that it stored `acknowledged` bytes. If the platform
 *   sends a body as a whole, the number of sent bytes is unknown, and both numbers are the same.
 * - `Retrying`: a request failed, and the upload tries again after `delay`. `attempt` is the number of failures since
 *   the last progress.
 * - `Waiting`: the upload waits because of `reason`, at most until `until`, in milliseconds since 1970.
 * - `Restarted`: the option `restart` discarded the upload in the journal; a new upload starts.
 * - `PartCompleted`: the bytes of the part with the index `part`, from `start` (inclusive) to `end` (exclusive), are
 *   stored.
 * - `Finishing`: the last byte was sent; the server stores the file or concatenates its parts. For an upload in parts,
 *   `Finishing` is emitted when all parts are stored. For any other upload, `Finishing` is emitted only if the platform
 *   reports that the last byte was sent.
 * - `Completed`: all bytes are stored.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadEvent = Data.TaggedEnum<{
  readonly Created: { readonly url: UploadUrl; readonly length: bigint | undefined }
  readonly Resumed: { readonly offset: bigint }
  readonly Progress: { readonly sent: bigint; readonly acknowledged: bigint; readonly total: bigint | undefined }
  readonly Retrying: { readonly attempt: number; readonly delay: Duration.Duration; readonly reason: string }
  readonly Waiting: { readonly reason: string; readonly until: number }
  readonly Restarted: { readonly reason: string }
  readonly PartCompleted: { readonly part: number; readonly start: bigint; readonly end: bigint }
  readonly Finishing: { readonly total: bigint }
  readonly Completed: { readonly url: UploadUrl; readonly length: bigint }
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
  Completed,
  Created,
  Finishing,
  PartCompleted,
  Progress,
  Restarted,
  Resumed,
  Retrying,
  Waiting
} = Data.taggedEnum<UploadEvent>()

const bytes = Schema.BigInt
const total = Schema.optional(Schema.BigInt)

/**
 * An event without its capability: `Created` and `Completed` have no `url`, because the URL grants write access to the
 * upload. Every {@link UploadEvent} is also a valid value of this schema, so an event can be encoded directly.
 *
 * **When to use**
 *
 * Use this schema to send events to a web page, for example as Server-Sent Events, or to store events; see
 * {@link Json}. To store the URL, use `UploadTarget.urlAtRest`.
 *
 * **Details**
 *
 * In the JSON form (`Schema.toCodecJson`) bytes are decimal text, `delay` and `until` are milliseconds, and an unknown
 * size is null.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Public = Schema.TaggedUnion({
  Created: { length: total },
  Resumed: { offset: bytes },
  Progress: { sent: bytes, acknowledged: bytes, total },
  Retrying: { attempt: Schema.Int, delay: Schema.DurationFromMillis, reason: Schema.String },
  Waiting: { reason: Schema.String, until: Schema.Finite },
  Restarted: { reason: Schema.String },
  PartCompleted: { part: Schema.Int, start: bytes, end: bytes },
  Finishing: { total: bytes },
  Completed: { length: bytes }
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
 * Upload.events(target, source, options).pipe(
 *   Stream.mapEffect((event) => Schema.encodeEffect(UploadEvent.Json)(event)),
 *   Stream.map((data) => `data: ${data}\n\n`)
 * )
 *
 * @since 0.1.0
 * @category schemas
 */
export const Json = Schema.fromJsonString(Schema.toCodecJson(Public))

/**
 * The URL of a completed upload, and its length in bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadResult {
  readonly url: UploadUrl
  readonly length: bigint
}

/**
 * Reads the events of an upload to their end, and returns the result of the upload.
 *
 * @example
 * Upload.events(target, source, options).pipe(Stream.tap(show), UploadEvent.result)
 *
 * @since 0.1.0
 * @category results
 */
export const result = <E, R>(events: Stream.Stream<UploadEvent, E, R>): Effect.Effect<UploadResult, E, R> =>
  events.pipe(Stream.filter($is("Completed")), Stream.runLast, Effect.map(Option.getOrThrow))
