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

/** The URL and length, in bytes, of a finished upload. */
export interface UploadResult {
  readonly url: UploadUrl
  readonly length: bigint
}

/**
 * The result that the events of an upload end with.
 *
 * @example
 * Upload.events(target, source, options).pipe(Stream.tap(show), UploadEvent.result)
 */
export const result = <E, R>(events: Stream.Stream<UploadEvent, E, R>): Effect.Effect<UploadResult, E, R> =>
  events.pipe(Stream.filter($is("Completed")), Stream.runLast, Effect.map(Option.getOrThrow))
