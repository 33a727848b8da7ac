/**
 * The steps of an upload, one function each, for a host that keeps the state itself: a durable workflow, for example.
 *
 * A host decides on a marker, keeps it, and then calls {@link create}. Where its process ended before the answer came, it
 * calls {@link recover} with the same marker, and never {@link create} again. {@link finish} sends the bytes that the
 * server does not have, as often as it is called.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Stream from "effect/Stream"
import * as Continuation from "./internal/continuation.ts"
import * as Events from "./internal/events.ts"
import * as Interpreter from "./internal/interpreter.ts"
import * as OptionRules from "./internal/options.ts"
import * as Session from "./internal/session.ts"
import * as StateStore from "./internal/stateStore.ts"
import type * as Upload from "./Upload.ts"
import type { UploadEvent, UploadResult } from "./UploadEvent.ts"
import type { Replayable } from "./UploadSource.ts"
import type * as UploadState from "./UploadState.ts"
import type { UploadTarget } from "./UploadTarget.ts"

/**
 * The options of an upload at one URL: see `Upload.Options`.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Omit<Upload.Options, "parallel">

/**
 * The options of an upload, see `Upload.Options`, and:
 *
 * - `marker`: a text of one character at least that no other upload has. It is sent with the creation, in the metadata key
 *   `upload_marker`, and finds the upload again. Who knows it cannot write: it may be derived from a key of the host.
 *
 * @since 0.1.0
 * @category options
 */
export interface CreateOptions extends Options {
  readonly marker: string
}

/**
 * An upload that exists: its URL, and the marker that it was created with. `transfer` is where its bytes stand. A host
 * that keeps the upload for a later process leaves `transfer` out: that process asks the server.
 *
 * @since 0.1.0
 * @category models
 */
export type Existing = Omit<UploadState.Created, "_tag">

const markerIssues = (marker: string): ReadonlyArray<ApiError.Issue> =>
  marker.length > 0 ? [] : [{ path: ["marker"], message: "Expected at least one character" }]

const begin = (
  target: UploadTarget,
  source: Replayable,
  { marker, ...options }: CreateOptions,
  piece: UploadState.Planned | UploadState.Creating
): Effect.Effect<UploadState.Created, Upload.UploadError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const issues = [...OptionRules.issues({ ...options, source, isReplayed: true }), ...markerIssues(marker)]
    yield* OptionRules.refuse("UploadSteps", issues)
    const session = yield* Session.make(target, options, () => undefined, StateStore.forgetful(piece))
    return yield* Interpreter.begin({ session, source, concurrency: 1 }, piece, marker)
  }).pipe(Effect.scoped)

/**
 * Creates an upload with a marker of the caller's. A small source goes along. When the answer is lost, the receipts of
 * the Assembly are asked; where they do not tell, the error is `CreationUnknown`.
 *
 * **Gotchas**
 *
 * Keep the marker before the call, and call once for each marker: a second call makes a second upload.
 *
 * @example
 * UploadSteps.create(target, source, { marker, metadata: { filename: "a.txt", fieldname: "file" } })
 *
 * @since 0.1.0
 * @category running
 */
export const create = (
  target: UploadTarget,
  source: Replayable,
  options: CreateOptions
): Effect.Effect<UploadState.Created, Upload.UploadError, HttpClient.HttpClient> =>
  begin(target, source, options, { _tag: "Planned" })

/**
 * Finds the upload whose creation an earlier process has sent, or may have sent, by the receipts of the Assembly. Creates
 * nothing. The error is `CreationUnknown` where the receipts do not tell: the creation may never have been sent, and
 * whether to {@link create} with another marker is for the caller to decide.
 *
 * @example
 * UploadSteps.recover(target, source, { marker, metadata: { filename: "a.txt", fieldname: "file" } })
 *
 * @since 0.1.0
 * @category running
 */
export const recover = (
  target: UploadTarget,
  source: Replayable,
  options: CreateOptions
): Effect.Effect<UploadState.Created, Upload.UploadError, HttpClient.HttpClient> =>
  // The question carries no bytes, so that it needs no checksum.
  begin(target, source, { ...options, checksum: undefined }, { _tag: "Creating", marker: options.marker })

const finishing = (target: UploadTarget, source: Replayable, upload: Existing, options: Options, emit: Events.Emit) =>
  Continuation.send({ name: "UploadSteps", target, source, upload, isReplayed: true }, options, emit)

/**
 * Sends the bytes that the server does not have of an upload that exists, and answers when every byte is stored.
 *
 * **Details**
 *
 * Without `transfer` the server is asked where it stands. Before a byte is sent, the length and the metadata that it
 * tells are compared with `options.metadata` and the marker: another upload is `UploadMismatch`. A URL that the host has
 * kept as text becomes one again through `UploadTarget.urlAtRest`.
 *
 * @example
 * Effect.flatMap(UploadSteps.recover(target, source, { metadata, marker }), (upload) =>
 *   UploadSteps.finish(target, source, upload, { metadata })
 * )
 *
 * @since 0.1.0
 * @category running
 */
export const finish = (
  target: UploadTarget,
  source: Replayable,
  upload: Existing,
  options: Options
): Effect.Effect<UploadResult, Upload.UploadError, HttpClient.HttpClient> =>
  Events.toResult((emit) => finishing(target, source, upload, options, emit))

/**
 * Does what {@link finish} does, and tells what happens. Leaving the stream ends the request and keeps the upload.
 *
 * @since 0.1.0
 * @category running
 */
export const finishEvents = (
  target: UploadTarget,
  source: Replayable,
  upload: Existing,
  options: Options
): Stream.Stream<UploadEvent, Upload.UploadError, HttpClient.HttpClient> =>
  Events.fromProgram((emit) => finishing(target, source, upload, options, emit))
