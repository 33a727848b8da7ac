/**
 * The upload that survives a crash: a journal stores it, and the next run continues it from the offset of the server.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Stream from "effect/Stream"
import * as Events from "./internal/events.ts"
import * as Journaled from "./internal/journaled.ts"
import * as OptionRules from "./internal/options.ts"
import * as Telemetry from "./internal/telemetry.ts"
import type * as Upload from "./Upload.ts"
import type { ResumableUploadError } from "./UploadError.ts"
import type { UploadEvent, UploadResult } from "./UploadEvent.ts"
import type { NoSuchUpload, UploadJournal } from "./UploadJournal.ts"
import type { Replayable } from "./UploadSource.ts"
import type { UploadTarget } from "./UploadTarget.ts"

export type { ResumableUploadError }

/**
 * The options of an upload, see `Upload.Options`, and:
 *
 * - `restart`: discards the upload that the journal knows, tells `Restarted`, and begins another one. False by default.
 *   Use it after `UploadUntrusted`, or to upload the same bytes to the same Assembly twice. An incomplete upload is
 * removed
 *   from the server (answers other than 204, 404 and 410 fail); a complete one stays. Set it for one call only: each
 * call
 *   with it begins anew.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Upload.Options {
  readonly restart?: boolean | undefined
}

const program = (target: UploadTarget, source: Replayable, options: Options, emit: Events.Emit) =>
  Telemetry.observe("ResumableUpload", source, emit, (observed) =>
    OptionRules.check({ ...options, source, isReplayed: true }).pipe(
      Effect.andThen(Events.paced(observed, options.progressInterval)),
      Effect.flatMap((tell) => Journaled.start(target, source, options, tell))
    )
  )

/**
 * Uploads a source, or continues the upload of the same bytes for the same Assembly that the journal knows, and answers
 * when every byte is stored.
 *
 * **When to use**
 *
 * When the process may end during the upload. The next process sends only the bytes that the server does not have.
 *
 * **Details**
 *
 * Same bytes means the same `identity` of the source: path, size and modification time of a file, or the SHA-256 of the
 * content where there is nothing else. The journal answers for a complete upload until its entry expires, without a
 * request. The entry is removed when the upload is gone from the server for sure.
 *
 * The upload continues with the metadata that it was created with; other values of `metadata` than `filename` and
 * `fieldname`, such as a time stamp, do not make another upload. The origins of `target` decide where its bytes may go,
 * not the journal.
 *
 * One process at a time holds an upload. Another one tells `Waiting`, waits as long as the lease lasts (10 seconds),
 * and
 * then continues, answers with what the first completed, or fails with `UploadLeased`.
 *
 * @example
 * ResumableUpload.run(target, yield* UploadSource.fromPath("video.mp4"), {
 *   metadata: { filename: "video.mp4", fieldname: "file" }
 * }).pipe(Effect.provide(UploadJournal.layerFileSystem("/var/lib/my-app/uploads")))
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  target: UploadTarget,
  source: Replayable,
  options: Options
): Effect.Effect<UploadResult, ResumableUploadError, HttpClient.HttpClient | UploadJournal> =>
  Events.toResult((emit) => program(target, source, options, emit))

/**
 * Does what {@link run} does, and tells what happens. Leaving the stream ends the request and keeps the upload.
 *
 * @since 0.1.0
 * @category running
 */
export const events = (
  target: UploadTarget,
  source: Replayable,
  options: Options
): Stream.Stream<UploadEvent, ResumableUploadError, HttpClient.HttpClient | UploadJournal> =>
  Events.fromProgram((emit) => program(target, source, options, emit))

/**
 * The options of an upload that exists, which has its metadata, and:
 *
 * - `origins`: further origins that upload URLs may have, or patterns of them; see `AssemblyClient.Options`.
 *
 * @since 0.1.0
 * @category options
 */
export interface ResumeOptions extends Omit<Options, "metadata"> {
  readonly origins?: ReadonlyArray<string> | undefined
}

const resumption = (key: string, source: Replayable, options: ResumeOptions, emit: Events.Emit) =>
  Telemetry.observe("ResumableUpload", source, emit, (observed) =>
    OptionRules.check({ ...options, source, isReplayed: true }).pipe(
      Effect.andThen(Events.paced(observed, options.progressInterval)),
      Effect.flatMap((tell) => Journaled.resume(key, source, options, tell))
    )
  )

/**
 * Continues an upload of the journal by the key that `UploadJournal.list` tells. `UploadMismatch` refuses a source that
 * is not the one the upload was begun with, and names the difference.
 *
 * **Details**
 *
 * The journal does not decide where bytes go. The origins of the `AssemblyClient` count where one is provided; else the
 * origin of the Assembly, whose URL is part of the key, and those of the public service where it is one of its cells.
 * Another origin fails with `InvalidTarget` or `UnsafeLocation`, and an entry that does not belong to its key with
 * `JournalTorn`, before anything is sent.
 *
 * **Gotchas**
 *
 * An attacker who can write to the journal can add an entry, with its own key, for an upload to another Assembly.
 * Provide the
 * `AssemblyClient` where every key of `list` is resumed.
 *
 * @example ResumableUpload.resume(key, yield* UploadSource.fromPath("video.mp4"))
 *
 * @since 0.1.0
 * @category running
 */
export const resume = (
  key: string,
  source: Replayable,
  options: ResumeOptions = {}
): Effect.Effect<UploadResult, ResumableUploadError | NoSuchUpload, HttpClient.HttpClient | UploadJournal> =>
  Events.toResult((emit) => resumption(key, source, options, emit))

/**
 * Does what {@link resume} does, and tells what happens.
 *
 * @since 0.1.0
 * @category running
 */
export const resumeEvents = (
  key: string,
  source: Replayable,
  options: ResumeOptions = {}
): Stream.Stream<UploadEvent, ResumableUploadError | NoSuchUpload, HttpClient.HttpClient | UploadJournal> =>
  Events.fromProgram((emit) => resumption(key, source, options, emit))
