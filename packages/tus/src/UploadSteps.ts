/**
 * The single steps of an upload, for a program that keeps the state itself, such as a durable workflow.
 *
 * The program generates a marker (a unique text), stores the marker, and then calls {@link create}. If the process ends
 * before the response, the next process calls {@link recover} with the same marker, and not {@link create}.
 * {@link finish} sends the bytes that the server does not have. {@link finish} may be called any number of times.
 */
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Stream from "effect/Stream"
import * as Continuation from "./internal/continuation.ts"
import * as Events from "./internal/events.ts"
import * as Interpreter from "./internal/interpreter.ts"
import * as OptionRules from "./internal/options.ts"
import * as Policy from "./internal/policy.ts"
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
 * The options of an upload at one URL, see {@link Options}, and:
 *
 * - `marker`: a unique text of at least one character. The marker is sent with the creation, in the metadata key
 *   `upload_marker`, and is used to find the upload again. The marker does not grant write access, so it may be derived
 *   from an id that the program already has.
 *
 * @since 0.1.0
 * @category options
 */
export interface CreateOptions extends Options {
  readonly marker: string
}

/**
 * An existing upload: its URL and the marker of its creation. `transfer` is the state of the transfer of its bytes. A
 * program that stores the upload for a later process omits `transfer`; the later process then requests the offset from
 * the server.
 *
 * @since 0.1.0
 * @category models
 */
export type Existing = Omit<UploadState.Created, "_tag">

/**
 * The rules that the options of an upload break, each with the path of the field. A program that stores an upload in
 * order to send it later should first check the options.
 *
 * @example UploadSteps.issues({ metadata: { filename: "a.txt", fieldname: "file" } })
 *
 * @since 0.1.0
 * @category options
 */
export const issues = (options: Options): ReadonlyArray<Issue> => OptionRules.issues(options)

/**
 * Whether a later attempt may succeed after this error: the failure was temporary, or it is not known whether the
 * creation arrived (`CreationUnknown`). In the second case, call {@link recover} next.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isTemporary = (error: Upload.UploadError): boolean =>
  error._tag === "CreationUnknown" || Policy.canHeal(error)

const markerIssues = (marker: string): ReadonlyArray<Issue> =>
  marker.length > 0 ? [] : [{ path: ["marker"], message: "Expected at least one character" }]

const begin = (
  target: UploadTarget,
  source: Replayable,
  { marker, ...options }: CreateOptions,
  piece: UploadState.Planned | UploadState.Creating
): Effect.Effect<UploadState.Created, Upload.UploadError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const broken = [...OptionRules.issues({ ...options, source, isReplayed: true }), ...markerIssues(marker)]
    yield* OptionRules.refuse("UploadSteps", broken)
    const session = yield* Session.make(target, options, () => undefined, StateStore.forgetful(piece))
    return yield* Interpreter.begin({ session, source, concurrency: 1 }, piece, marker)
  }).pipe(Effect.scoped)

/**
 * Creates an upload with the caller's marker. Without `checksum`, a small source is sent with the creation request. If
 * the response is lost, the upload is searched for in the receipts of the Assembly (`tus_uploads`). If the receipts do
 * not show the upload, the error is `CreationUnknown`.
 *
 * **Gotchas**
 *
 * Store the marker before the call, and call `create` once for each marker: a second call can create a second upload.
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
 * Searches the receipts of the Assembly (`tus_uploads`) for an upload whose creation an earlier process may have sent.
 * Creates nothing. If the receipts do not show the upload, the error is `CreationUnknown`. In this case the creation
 * may never have been sent, and the caller decides whether to call {@link create} with a new marker.
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
  // No bytes are sent here, so no checksum is needed.
  begin(target, source, { ...options, checksum: undefined }, { _tag: "Creating", marker: options.marker })

const finishing = (target: UploadTarget, source: Replayable, upload: Existing, options: Options, emit: Events.Emit) =>
  Continuation.send({ name: "UploadSteps", target, source, upload, isReplayed: true }, options, emit)

/**
 * Sends the bytes of an existing upload that the server does not have, and returns when all bytes are stored.
 *
 * **Details**
 *
 * Without `transfer`, the call first requests the offset from the server. Before a byte is sent, the call then compares
 * the length that the server reports with the size of the source, and the metadata that the server reports with
 * `options.metadata` and the marker. If the length or the metadata differs, the call fails with `UploadMismatch`.
 * Decode a stored URL with `UploadTarget.urlAtRest`.
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
 * Runs the same steps as {@link finish}, and emits their events. Interrupting the stream ends the request and keeps the
 * upload.
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
