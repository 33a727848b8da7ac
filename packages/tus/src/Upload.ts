/**
 * The resumable upload: created once, sent as a stream, continued from where the server is after a failure.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Events from "./internal/Events.ts"
import * as Interpreter from "./internal/Interpreter.ts"
import * as OptionRules from "./internal/Options.ts"
import * as Session from "./internal/Session.ts"
import * as StateStore from "./internal/StateStore.ts"
import type { UploadEvent, UploadResult } from "./UploadEvent.ts"
import type { UploadSource } from "./UploadSource.ts"
import * as UploadState from "./UploadState.ts"
import type { UploadTarget } from "./UploadTarget.ts"

export { CanStream } from "./internal/Session.ts"

/** What an upload can fail with. */
export type UploadError = Session.UploadError

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

const program = (
  target: UploadTarget,
  source: UploadSource,
  options: Options,
  emit: Events.Emit
): Effect.Effect<void, UploadError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    yield* OptionRules.check({ ...options, source })
    const { parallel = 1 } = options
    const plan = source._tag === "OneShot" ? UploadState.planned : UploadState.inParts(source.size, parallel)
    const session = yield* Session.make(target, options, emit, StateStore.forgetful(plan))
    yield* Interpreter.run({ session, source, concurrency: parallel })
  })

/**
 * Uploads a source and tells what happens. The upload runs at its own speed, however slowly the events are read;
 * leaving the stream ends the request and leaves a resumable upload.
 *
 * @example
 * Upload.events(target, source, { metadata: { filename: "cat.jpg", fieldname: "file" } }).pipe(
 *   Stream.runForEach((event) => Console.log(event._tag))
 * )
 */
export const events = (
  target: UploadTarget,
  source: UploadSource,
  options: Options
): Stream.Stream<UploadEvent, UploadError, HttpClient.HttpClient> =>
  Events.fromProgram((emit) => program(target, source, options, emit))

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
  Events.toResult((emit) => program(target, source, options, emit))
