/**
 * Uploads that survive a crash. A journal stores the upload, and the next run continues the upload at the offset that
 * the server reports.
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
 * - `restart`: starts a new upload. If the journal has an earlier upload, that upload is discarded, and `Restarted` is
 *   emitted. False by default. Use `restart` after `UploadUntrusted`, or to upload the same bytes to the same Assembly
 *   twice. An untrusted upload is removed from the server. An incomplete upload is removed too, unless the server may
 *   already have concatenated its parts. If the removal fails, the call fails; an upload that is already gone (404 or
 *   410) counts as removed. A complete upload stays on the server. Set `restart` for one call only, because each call
 *   with `restart` starts a new upload.
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
 * Uploads a source and returns when all bytes are stored. If the journal has an upload of the same bytes, with the same
 * `filename` and `fieldname`, for the same Assembly, the run continues that upload.
 *
 * **When to use**
 *
 * Use `ResumableUpload` if the process may end during the upload. The next process sends only the bytes that the server
 * does not have.
 *
 * **Details**
 *
 * Two sources count as the same bytes if they have the same `identity` and size. The identity of
 * `UploadSource.fromPath` is the path, size and modification time of the file. If a source has no `identity`, a digest
 * of its content is used (`UploadSource.identifiedByContent`). For a complete upload, the result comes from the journal
 * without a request, until the entry expires. If a run fails with `UploadGone`, the entry is removed, and the next run
 * starts a new upload.
 *
 * The upload continues with the metadata of its creation. Changed values of `metadata` other than `filename` and
 * `fieldname`, such as a time stamp, do not start a new upload. The origins of `target`, not the journal, decide where
 * the bytes may be sent.
 *
 * One process at a time holds the lease of an upload. A second process emits `Waiting`. It waits until the lease is
 * released, at most until the time when the lease would expire (10 seconds after its last renewal by default), and
 * never longer than a minute. Then the second process continues the upload, or returns the result of the first process.
 * If the first process still holds the lease, the second process fails with `UploadLeased`.
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
 * Runs the same upload as {@link run}, and emits its events. Interrupting the stream ends the running request and keeps
 * the upload. If this request creates the upload, the interruption waits at most 2 seconds for the response.
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
 * The options of {@link resume}. {@link resume} has no option `metadata`, because the upload keeps the metadata of its
 * creation.
 *
 * - `origins`: further permitted origins of upload URLs, or patterns of origins; see `AssemblyClient.Options`.
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
 * Continues the upload with this key in the journal. `UploadJournal.list` lists the keys. If the source differs from
 * the original source, the call fails with `UploadMismatch`, which names the difference.
 *
 * **Details**
 *
 * The journal does not decide where bytes are sent. If the context has an `AssemblyClient`, its origins are permitted.
 * Otherwise, the origin of the Assembly is permitted: the URL of the Assembly is part of the key, so an edited entry
 * cannot change this origin. If the Assembly is on a host of the public service, all cells (hosts) of the public
 * service are permitted. For `localhost`, `127.0.0.1` and `[::1]` are permitted too. If a URL of the entry has any
 * other origin, which `origins` does not permit either, the call fails with `InvalidTarget` or `UnsafeLocation`. If the
 * entry does not match its key, the call fails with `JournalTorn`. In both cases nothing is sent.
 *
 * **Gotchas**
 *
 * An attacker who can write to the journal can add an entry, with a matching key, for an upload to another Assembly.
 * If you resume every key of `list`, provide the `AssemblyClient`: entries for other origins are then refused. An entry
 * for another Assembly of the same service is still accepted, so only the user of the program may have write access to
 * the journal.
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
 * Runs the same upload as {@link resume}, and emits its events.
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
