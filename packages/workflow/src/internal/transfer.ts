/**
 * Creates the Assembly of an attempt and sends its files.
 *
 * Before a runner creates an Assembly or an upload, the runner announces the creation in the database. So a later
 * runner knows which Assembly and uploads may exist, and asks the service for them instead of creating them again.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as ApiError from "@assembly-effect/api/ApiError"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { UploadError } from "@assembly-effect/tus/TusError"
import type { Replayable, SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as PieceMemory from "@assembly-effect/tus/unstable/PieceMemory"
import * as Steps from "@assembly-effect/tus/unstable/Steps"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type * as DurableError from "../DurableError.ts"
import { isNotFound } from "./canceling.ts"
import type { Derive } from "./derive.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as Sources from "./sources.ts"
import type { Row, Store } from "./store.ts"
import * as StoreError from "./storeError.ts"

/** What the transfers of one runner share. */
export interface Sending {
  readonly store: Store
  readonly derive: Derive
  readonly upload: JobAtRest.UploadOptions
}

/**
 * What one transfer of an attempt needs from its runner.
 *
 * - `execution`: the execution of the attempt, from which the ids are derived.
 * - `files`: limits the files that are sent at the same time.
 * - `held`: waits until this runner surely holds the lock of the attempt's shard (see `lease.ts`). The transfer runs
 *   `held` before each request and each piece of a file.
 */
export interface Now {
  readonly execution: string
  readonly files: Semaphore.Semaphore
  readonly held: Effect.Effect<void>
}

/**
 * The attempt must not send bytes: it was canceled or has ended, or another runner has already stored all its bytes.
 */
export class Superseded {
  readonly _tag = "Superseded"
}

/** The errors of a transfer. */
export type TransferError =
  | Superseded
  | Sources.SourceAway
  | UploadError
  | SourceFailed
  | UploadTarget.InvalidTarget
  | DurableError.InvalidSecret
  | DurableError.StoreFailed
  | Assemblies.AssemblyError
  | Effect.Error<ReturnType<typeof Assemblies.create>>

/** How many files of one job are sent at the same time. */
const filesAtOnce = 4

const hasStatus =
  (status: number) =>
  (error: { readonly _tag: string; readonly status?: number }): boolean =>
    error.status === status

/**
 * The Assembly of an attempt. `isNew`: whether this transfer has created the Assembly, so that the Assembly has no
 * uploads yet.
 */
interface Begun {
  readonly status: Assembly.Status
  readonly isNew: boolean
}

/**
 * Creates the Assembly. Only this deployment can know the id, so the status 409 means that an earlier request of the
 * same attempt has created the Assembly.
 */
const create = (
  assemblyId: Assembly.AssemblyId,
  { files, params }: JobAtRest.JobAtRest
): Effect.Effect<Begun, Effect.Error<ReturnType<typeof Assemblies.create>>, AssemblyClient> =>
  Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length }).pipe(
    Effect.map((status) => ({ status, isNew: true })),
    Effect.catchIf(hasStatus(409), () => existing(assemblyId))
  )

const existing = (assemblyId: Assembly.AssemblyId) =>
  Effect.map(Assemblies.get(assemblyId), (status): Begun => ({ status, isNew: false }))

/**
 * The Assembly of the attempt. If an earlier transfer may have created the Assembly, the service is asked for it first.
 */
const assemblyOf = (row: Row, assemblyId: Assembly.AssemblyId, job: JobAtRest.JobAtRest) =>
  row.begins > 1
    ? Effect.catchIf(existing(assemblyId), isNotFound, () => create(assemblyId, job))
    : create(assemblyId, job)

/**
 * - `counts`: for each file, how often the creation of its upload was announced. Only one transfer changes these
 *   numbers.
 * - `mayExist`: whether announced uploads may exist. `mayExist` is false if this transfer has created the Assembly,
 *   which has no uploads yet.
 */
interface Announced {
  readonly counts: Array<number>
  readonly mayExist: boolean
}

/**
 * Records in the database that the upload of a file may be created once more, and returns the number of this creation.
 */
const announce = ({ store }: Sending, row: Row, { counts }: Announced, file: number) =>
  Effect.gen(function* () {
    const creation = (counts[file] ?? 0) + 1
    counts[file] = creation
    if (!(yield* store.announce(row, counts))) return yield* Effect.fail(new Superseded())
    return creation
  })

/** Creates the upload of a file, or finds the upload that an earlier transfer has created. */
const begin = (
  sending: Sending,
  row: Row,
  execution: string,
  announced: Announced,
  file: number,
  target: UploadTarget.UploadTarget,
  source: Replayable,
  options: Steps.UploadOptions
) => {
  const markerOf = (creation: number) => sending.derive.marker(row, execution, file, creation)
  const first = Effect.gen(function* () {
    const marker = yield* markerOf(yield* announce(sending, row, announced, file))
    return yield* Steps.create(target, source, { ...options, marker })
  })
  return Effect.gen(function* () {
    const known = announced.counts[file] ?? 0
    if (known === 0 || !announced.mayExist) return yield* first
    const marker = yield* markerOf(known)
    // `CreationUnknown` means that `recover` has read the receipts several times and found no upload. If the upload
    // appears later, no runner continues it, because the next creation has another marker.
    return yield* Effect.catchTag(Steps.recover(target, source, { ...options, marker }), "CreationUnknown", () => first)
  })
}

/** A source that returns bytes only while this runner holds the lock of the attempt's shard. */
const guarded = (source: Replayable, held: Effect.Effect<void>): Replayable => ({
  ...source,
  bytes: (start, end) => Stream.tap(source.bytes(start, end), () => held)
})

/** Delays each request until this runner surely holds the lock of the attempt's shard. */
const guardedClient = (held: Effect.Effect<void>) =>
  Effect.updateService(HttpClient.HttpClient, (client) => {
    const guard = HttpClient.mapRequestEffect(client, (request) => Effect.as(held, request))
    // The guard only delays a request, so it releases the pieces of a body exactly as `client` does.
    if (PieceMemory.isRegistered(client)) PieceMemory.register(guard)
    return guard
  })

/** Runs the attempt until all bytes are stored. `row` must be the row after `Store.begin`. */
export const run = (
  sending: Sending,
  row: Row,
  { execution, files, held }: Now
): Effect.Effect<void, TransferError, AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const job = yield* JobAtRest.decode(row)
    const sources = yield* Sources.reopen(job.files, row.sources)
    const assemblyId = yield* sending.derive.assemblyId(row, execution)
    yield* held
    const { isNew, status } = yield* assemblyOf(row, assemblyId, job)
    if (row.waiting !== undefined) yield* sending.store.wait(row, undefined)
    const outcome = Assemblies.outcome(status)
    if (Option.isSome(outcome)) {
      yield* Effect.fromResult(outcome.value)
      return
    }
    // Compares the URL in the Status with the derived id. With the URL of another Assembly, the files would be sent to
    // that Assembly.
    const target = yield* UploadTarget.fromAssembly({ ...status, assembly_id: assemblyId })
    const counts = job.files.map((_, file) => row.creations[file] ?? 0)
    const announced: Announced = { counts, mayExist: !isNew }
    yield* Effect.forEach(
      job.files,
      (file, index) =>
        Effect.gen(function* () {
          const opened = sources[index]
          if (opened === undefined) return
          const source = guarded(opened, held)
          // The runner waits for longer pauses, so that all jobs wait.
          const options = { maxWait: "1 minute" as const, ...sending.upload, metadata: JobAtRest.metadataOf(file) }
          const upload = yield* begin(sending, row, execution, announced, index, target, source, options)
          yield* Steps.finish(target, source, upload, options)
        }).pipe(Effect.mapError(Sources.mayReturn(file)), files.withPermit),
      { concurrency: filesAtOnce, discard: true }
    )
  }).pipe(guardedClient(held))

type PollError = Effect.Error<ReturnType<typeof Assemblies.awaitCompletion>>

/**
 * The HTTP status codes that refuse the credentials or the account: Unauthorized, Payment Required, and Proxy
 * Authentication Required.
 */
const ofAccount: ReadonlySet<number> = new Set([401, 402, 407])

/**
 * Whether an error is about the credentials, the account or the address of the service. Every job would fail with such
 * an error. Therefore a job waits without a time limit until somebody has corrected the cause.
 */
export const isRefusal = (error: TransferError | PollError): boolean => {
  switch (error._tag) {
    case "AuthenticationFailed":
      return true
    case "TransportFailure":
      return error.permanent
    case "ServiceFailure":
    case "UnexpectedResponse":
    case "UploadRefused":
      return ofAccount.has(error.status)
    default:
      return false
  }
}

/**
 * Whether an error says that this runner does not know the secret of the attempt. Another runner may know this secret.
 */
export const isUnknownSecret = ({ _tag }: TransferError): boolean => _tag === "InvalidSecret"

/**
 * The HTTP status codes that refuse only this request, even if a proxy in front of the service sent the response. Other
 * requests may succeed.
 */
const ofRequest: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 417, 422, 431])

/**
 * True if a response means that the service fails or is unreachable. False if the response means that the request is
 * wrong.
 */
const isPassing = (error: ApiError.ServiceFailure | ApiError.UnexpectedResponse): boolean =>
  error._tag === "UnexpectedResponse"
    ? !ofRequest.has(error.status)
    : error.status >= 500 || error.status === 429 || error.status === 403

/** Whether the same transfer may succeed later. */
export const isTemporary = (error: TransferError): boolean => {
  switch (error._tag) {
    case "Superseded":
    case "SourceFailed":
    case "InvalidRequest":
    case "AssemblyFailed":
    case "AssemblyCanceled":
    case "AssemblyAborted":
    case "AuthenticationFailed":
    case "InvalidSecret":
      return false
    case "StoreFailed":
      return !StoreError.isDamaged(error)
    case "SourceAway":
    case "TimedOut":
    // The service named a host for its uploads that this program does not trust. A later response may name another
    // host.
    case "InvalidTarget":
      return true
    case "ServiceFailure":
    case "UnexpectedResponse":
      return isPassing(error)
    default:
      return Steps.isTemporary(error)
  }
}

/**
 * Whether the error of a request for the Status is about the service only, so that the state of the Assembly stays
 * unknown.
 */
export const isAboutService = (error: PollError): boolean => {
  switch (error._tag) {
    case "TransportFailure":
    case "RateLimited":
    case "TimedOut":
      return true
    case "ServiceFailure":
    case "UnexpectedResponse":
      return isPassing(error) || isRefusal(error)
    default:
      return false
  }
}
