/**
 * What happens during an upload. All numbers are bytes.
 *
 * The upload never waits for who reads its events. `Progress`, `Retrying`, `Resumed`, `Waiting` and `Finishing` tell of
 * a moment: of those that nobody has read yet the newest 128 are kept, and one `Progress` in a row. The others are never
 * left out.
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { UploadUrl } from "./UploadTarget.ts"

/**
 * - `Created`: the server has made the upload. `length` is undefined while nobody knows it.
 * - `Resumed`: the server told how far it is; sending goes on from `offset`.
 * - `Progress`: `sent` bytes have left, `acknowledged` ones are stored for good. Where the platform sends bodies as a
 *   whole, which bytes of one have left is not known: both are the same.
 * - `Retrying`: a request failed in a way that can heal; the next one follows after `delay`.
 * - `Waiting`: nothing is sent before `until`, in milliseconds since 1970, for the `reason` given.
 * - `Restarted`: what the journal knew of this upload was given up by order of the application; another one begins.
 * - `PartCompleted`: every byte of a part is stored, from `start` to `end`.
 * - `Finishing`: the last byte has left; the server stores, or puts parts together, and may take its time. Only told
 *   where the leaving of the last byte is known.
 * - `Completed`: every byte is stored.
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
 * An event without its capability: `Created` and `Completed` have no `url`, since whoever has it may write to the upload.
 * Every {@link UploadEvent} is one, so that it can be encoded as it is.
 *
 * **When to use**
 *
 * To send events to a page, as Server-Sent Events for example, or to store them: see {@link Json}. A program that needs
 * the URL itself at rest uses `UploadTarget.urlAtRest`.
 *
 * **Details**
 *
 * In the JSON form (`Schema.toCodecJson`) bytes are decimal text, `delay` and `until` are milliseconds, and an unknown
 * size is null.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Public = /* @__PURE__ */ Schema.TaggedUnion({
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
export const Json = /* @__PURE__ */ Schema.fromJsonString(/* @__PURE__ */ Schema.toCodecJson(Public))

/**
 * The URL and length, in bytes, of a finished upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadResult {
  readonly url: UploadUrl
  readonly length: bigint
}

/**
 * The result that the events of an upload end with.
 *
 * @example
 * Upload.events(target, source, options).pipe(Stream.tap(show), UploadEvent.result)
 *
 * @since 0.1.0
 * @category results
 */
export const result = <E, R>(events: Stream.Stream<UploadEvent, E, R>): Effect.Effect<UploadResult, E, R> =>
  events.pipe(Stream.filter($is("Completed")), Stream.runLast, Effect.map(Option.getOrThrow))
