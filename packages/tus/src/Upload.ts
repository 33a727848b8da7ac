/**
 * The resumable upload: created once, sent as a stream, continued from where the server is after a failure.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Events from "./internal/Events.ts"
import * as Journaled from "./internal/Journaled.ts"
import * as OptionRules from "./internal/Options.ts"
import * as Parallel from "./internal/Parallel.ts"
import * as Parts from "./internal/Parts.ts"
import * as Recorder from "./internal/Recorder.ts"
import * as Session from "./internal/Session.ts"
import * as Single from "./internal/Single.ts"
import * as UploadEvent from "./UploadEvent.ts"
import type * as UploadJournal from "./UploadJournal.ts"
import type { Replayable, UploadSource } from "./UploadSource.ts"
import type { UploadTarget, UploadUrl } from "./UploadTarget.ts"

export { CanStream } from "./internal/Session.ts"

/** What an upload can fail with. */
export type UploadError = Session.UploadError

/** What an upload that a journal keeps can fail with. */
export type JournaledError = Journaled.JournaledError

/**
 * - `metadata`: `filename` and `fieldname`, and whatever else the Assembly's Steps want to know.
 * - `maxRetries`: how many failures in a row are healed, 8 by default; progress refills it.
 * - `retryDelay`: the pause after the first failure, 500 ms by default; it doubles up to 30 seconds, with jitter.
 * - `stallTimeout`: without any movement for so long a request has failed, 30 seconds by default.
 * - `finishTimeout`: the same after the last byte, when the server stores the upload; 10 minutes by default.
 * - `maxWait`: the longest wait that a server may ask for, 1 hour by default; beyond it the upload fails with the error
 *   that asked, which tells the wait.
 * - `chunkSize`: the most that one request sends, in bytes. By default a source that can be read again goes in one
 *   request, and a one-shot stream keeps a window of 8 MiB.
 * - `checksum`: each body is sent with its checksum where the server offers this algorithm, which is asked first; bytes
 *   that changed on the way (460) are sent again. A body is in memory for it, so that `chunkSize` is 8 MiB by default,
 *   and small sources do not come with the creation. Where the server does not offer it, nothing is checked:
 *   `Tus.discover` tells. None by default.
 * - `parallel`: in how many parts side by side, of 1 MiB at least, that the server puts together at the end. The
 *   source must be one that can be read again. 1 by default.
 */
export interface Options extends Session.Options {
  readonly parallel?: number | undefined
}

/**
 * - `restart`: gives up the upload that the journal knows, and begins another one, which `Restarted` tells. False by
 *   default. It is the way out of `UploadUntrusted`, and the way to upload the same bytes to the same Assembly twice. What
 *   is not complete is removed from the server (204, 404 and 410 are fine, any other answer fails); a complete upload
 *   stays there. Set it for one call: each call that sets it begins anew.
 */
export interface ResumableOptions extends Options {
  readonly restart?: boolean | undefined
}

const program = (
  target: UploadTarget,
  source: UploadSource,
  options: Options,
  emit: Events.Emit
): Effect.Effect<void, UploadError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    yield* OptionRules.check({ ...options, source })
    const { parallel = 1 } = options
    const session = yield* Session.make(target, options, emit, Recorder.none)
    if (parallel === 1 || source._tag === "OneShot") return yield* Single.start(session, source)
    const parts = Parts.plan(source, parallel)
    return parts.length === 1
      ? yield* Single.start(session, source)
      : yield* Parallel.run(session, source, parts, { concurrency: parallel, keep: false })
  })

/**
 * Uploads a source and tells what happens. The upload runs at its own speed, however slowly the events are read;
 * leaving the stream ends the request and leaves a resumable upload.
 *
 * @example
 * Upload.upload(target, source, { metadata: { filename: "cat.jpg", fieldname: "file" } }).pipe(
 *   Stream.runForEach((event) => Console.log(event._tag))
 * )
 */
export const upload = (
  target: UploadTarget,
  source: UploadSource,
  options: Options
): Stream.Stream<UploadEvent.UploadEvent, UploadError, HttpClient.HttpClient> =>
  Events.fromProgram((emit) => program(target, source, options, emit))

/**
 * Uploads a source, and goes on with the upload of the same bytes for the same Assembly that the journal knows.
 *
 * **When to use**
 *
 * When the process may end in the middle: what the server has is not sent again by the next one.
 *
 * **Details**
 *
 * Same bytes means the same `identity` of the source: path, size and modification time of a file, or the content's
 * SHA-256 where there is nothing else. A complete upload is answered with its `Completed` until its entry expires, without
 * a request. The entry is removed when the upload is gone from the server for sure.
 *
 * The upload that the journal knows continues with the metadata that it was created with; other values of `metadata` than
 * `filename` and `fieldname`, a time stamp for example, do not make another upload. Where its bytes may go is decided by
 * the origins of `target`, not by the journal.
 *
 * One process at a time holds an upload. Another one tells `Waiting`, waits as long as the lease lasts (10 seconds), and
 * then continues, answers with what the first completed, or fails with `UploadLeased`.
 */
export const resumable = (
  target: UploadTarget,
  source: Replayable,
  options: ResumableOptions
): Stream.Stream<UploadEvent.UploadEvent, JournaledError, HttpClient.HttpClient | UploadJournal.UploadJournal> =>
  Events.fromProgram((emit) =>
    Effect.andThen(OptionRules.check({ ...options, source }), Journaled.start(target, source, options, emit))
  )

/**
 * - `origins`: further origins that upload URLs may have, or patterns of them; see `AssemblyClient.Options`.
 */
export interface ResumeOptions extends Omit<ResumableOptions, "metadata"> {
  readonly origins?: ReadonlyArray<string> | undefined
}

/**
 * Goes on with an upload of the journal, by the key that `UploadJournal.list` tells. A source that is not the one the
 * upload was begun with is refused with what differs.
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
 * Who can write into the journal can add an upload to another Assembly under a key of its own. Provide the
 * `AssemblyClient` where every key of `list` is resumed.
 */
export const resume = (
  key: string,
  source: Replayable,
  options: ResumeOptions = {}
): Stream.Stream<
  UploadEvent.UploadEvent,
  JournaledError | UploadJournal.NoSuchUpload,
  HttpClient.HttpClient | UploadJournal.UploadJournal
> =>
  Events.fromProgram((emit) =>
    Effect.andThen(OptionRules.check({ ...options, source }), Journaled.resume(key, source, options, emit))
  )

/** The URL and length, in bytes, of a finished upload. */
export interface UploadResult {
  readonly url: UploadUrl
  readonly length: bigint
}

/** The result that the events of an upload end with. */
export const result = <E, R>(events: Stream.Stream<UploadEvent.UploadEvent, E, R>): Effect.Effect<UploadResult, E, R> =>
  events.pipe(Stream.filter(UploadEvent.$is("Completed")), Stream.runLast, Effect.map(Option.getOrThrow))

/**
 * Uploads a source and answers when every byte is stored.
 *
 * @example Upload.run(target, UploadSource.fromBytes(bytes), { metadata: { filename: "a.txt", fieldname: "file" } })
 */
export const run = (
  target: UploadTarget,
  source: UploadSource,
  options: Options
): Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    let completed: UploadResult | undefined
    const remember: Events.Emit = (event) => {
      if (event._tag === "Completed") completed = event
    }
    return program(target, source, options, remember).pipe(
      Effect.scoped,
      Effect.map(() => Option.getOrThrow(Option.fromUndefinedOr(completed)))
    )
  })
