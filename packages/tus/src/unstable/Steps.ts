/**
 * The single steps of an upload, for `@assembly-effect/workflow`, which keeps the state itself.
 *
 * The program generates a marker (a unique text), stores the marker, and then calls {@link create}. If the process ends
 * before the response, the next process calls {@link recover} with the same marker, and not {@link create}.
 * {@link finish} sends the bytes that the server does not have. {@link finish} may be called any number of times.
 */
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Context from "../internal/context.ts"
import * as Engine from "../internal/engine.ts"
import * as InMemory from "../internal/inMemory.ts"
import * as Options from "../internal/options.ts"
import * as Policy from "../internal/policy.ts"
import type { Replayable } from "../internal/source.ts"
import * as StateStore from "../internal/stateStore.ts"
import type * as UploadState from "../internal/uploadState.ts"
import type { UploadError } from "../TusError.ts"
import type { UploadResult } from "../UploadEvent.ts"
import type { UploadTarget } from "../UploadTarget.ts"

export type { Asking, Done, Progress, Sending } from "../internal/transfer.ts"
export type { Created } from "../internal/uploadState.ts"

/**
 * The options of an upload at one URL.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadOptions extends Options.RequestOptions {
  readonly metadata: Options.Metadata
}

/**
 * An upload that exists on the server.
 *
 * @since 0.1.0
 * @category models
 */
export type Existing = Omit<UploadState.Created, "_tag">

/**
 * The rules that the options of an upload break, each with the path of the field.
 *
 * @since 0.1.0
 * @category running
 */
export const issues = (options: UploadOptions): ReadonlyArray<Issue> => Options.issues(options, options.metadata)

/**
 * Whether a later attempt may succeed after this error: the failure was temporary, or it is not known whether the
 * creation arrived (`CreationUnknown`). In the second case, call {@link recover} next.
 *
 * @since 0.1.0
 * @category running
 */
export const isTemporary = (error: UploadError): boolean => error._tag === "CreationUnknown" || Policy.canHeal(error)

const begin =
  (toState: (marker: string) => UploadState.Planned | UploadState.Creating) =>
  (
    target: UploadTarget,
    source: Replayable,
    { marker, ...options }: UploadOptions & { readonly marker: string }
  ): Effect.Effect<UploadState.Created, UploadError, HttpClient.HttpClient> =>
    Effect.gen(function* () {
      yield* Options.check(source, options, true)
      const state = toState(marker)
      const store = StateStore.forgetful(state)
      return yield* Engine.begin(yield* Context.make(target, source, options, () => undefined, store), state, marker)
    }).pipe(Effect.scoped)

/**
 * Creates an upload with the caller's marker. A small source is sent with the creation request. If the response is lost,
 * the upload is searched for in the receipts of the Assembly (`tus_uploads`). If the receipts do not show the upload, the
 * error is `CreationUnknown`. Store the marker before the call, and call `create` once for each marker.
 *
 * @since 0.1.0
 * @category running
 */
export const create = begin(() => ({ _tag: "Planned" }))

const find = begin((marker) => ({ _tag: "Creating", marker }))

/**
 * Searches the receipts of the Assembly for an upload whose creation an earlier process may have sent. Creates nothing.
 * If the receipts do not show the upload, the error is `CreationUnknown`.
 *
 * @since 0.1.0
 * @category running
 */
export const recover: typeof find = (target, source, options) =>
  // No bytes are sent here, so no checksum is needed.
  find(target, source, { ...options, checksum: undefined })

/**
 * Sends the bytes of an existing upload that the server does not have, and returns when all bytes are stored. Without
 * `transfer`, the call first requests the offset from the server, and compares the length and the metadata.
 *
 * @since 0.1.0
 * @category running
 */
export const finish = (
  target: UploadTarget,
  source: Replayable,
  upload: Existing,
  options: UploadOptions
): Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient> =>
  InMemory.run(target, source, options, () => undefined, { existing: { ...upload, _tag: "Created" } })
