/**
 * Creates the Assembly of an attempt and sends its files.
 *
 * Before a runner creates an Assembly or an upload, the runner announces the creation in the database. So a later
 * runner knows what may exist, and asks the service for it instead of creating the same thing again.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as ApiError from "@assembly-effect/api/ApiError"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { UploadError } from "@assembly-effect/tus/UploadError"
import type { Replayable, SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as UploadSteps from "@assembly-effect/tus/UploadSteps"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Semaphore from "effect/Semaphore"
import type * as DurableError from "../DurableError.ts"
import type { Derive } from "./derive.ts"
import type { UploadOptions } from "../Durable.ts"
import * as JobAtRest from "./jobAtRest.ts"
import * as Sources from "./sources.ts"
import type { Row, Store } from "./store.ts"

/** What the transfers of one runner share. `files` limits the files that are sent at the same time. */
export interface Sending {
  readonly store: Store
  readonly derive: Derive
  readonly files: Semaphore.Semaphore
  readonly upload: UploadOptions
}

/** The attempt was canceled, or another runner has ended it. */
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

/** The fingerprint of the secret of an attempt that has begun. */
export const secretOf = ({ secret }: Row): string => secret ?? ""

const hasStatus =
  (status: number) =>
  (error: { readonly _tag: string; readonly status?: number }): boolean =>
    error.status === status

/** Whether the service answered that the Assembly does not exist. */
export const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

/**
 * The Assembly of an attempt. `isNew`: whether this runner has just created the Assembly. A new Assembly has no
 * uploads.
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
 * The Assembly of the attempt. If an earlier runner may have created the Assembly, the service is asked for it first.
 */
const assemblyOf = (row: Row, assemblyId: Assembly.AssemblyId, job: JobAtRest.JobAtRest) =>
  row.begins > 1
    ? Effect.catchIf(existing(assemblyId), isNotFound, () => create(assemblyId, job))
    : create(assemblyId, job)

/**
 * - `counts`: for each file, how often the creation of its upload was announced. Only one transfer changes these
 *   numbers.
 * - `mayExist`: whether uploads that were announced may exist.
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

/** Creates the upload of a file, or finds the upload that an earlier runner has created. */
const begin = (
  sending: Sending,
  row: Row,
  execution: string,
  announced: Announced,
  file: number,
  target: UploadTarget.UploadTarget,
  source: Replayable,
  options: UploadSteps.Options
) => {
  const markerOf = (creation: number) => sending.derive.marker(secretOf(row), execution, file, creation)
  const first = Effect.gen(function* () {
    const marker = yield* markerOf(yield* announce(sending, row, announced, file))
    return yield* UploadSteps.create(target, source, { ...options, marker })
  })
  return Effect.gen(function* () {
    const known = announced.counts[file] ?? 0
    if (known === 0 || !announced.mayExist) return yield* first
    const marker = yield* markerOf(known)
    // `CreationUnknown` means that `recover` has read the receipts several times and found no upload. If the upload
    // appears later, it stays empty, because the next creation has another marker.
    return yield* Effect.catchTag(
      UploadSteps.recover(target, source, { ...options, marker }),
      "CreationUnknown",
      () => first
    )
  })
}

/**
 * Runs an attempt that has begun, until all bytes are stored.
 *
 * @param execution the execution of the attempt, from which the ids are derived
 */
export const run = (
  sending: Sending,
  row: Row,
  execution: string
): Effect.Effect<void, TransferError, AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const job = yield* JobAtRest.decode(row.job)
    const sources = yield* Sources.reopen(job.files, row.sources)
    const assemblyId = yield* sending.derive.assemblyId(secretOf(row), execution)
    const { isNew, status } = yield* assemblyOf(row, assemblyId, job)
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
          const source = sources[index]
          if (source === undefined) return
          const options = { ...sending.upload, metadata: JobAtRest.metadataOf(file) }
          const upload = yield* begin(sending, row, execution, announced, index, target, source, options)
          yield* UploadSteps.finish(target, source, upload, options)
        }).pipe(Effect.mapError(Sources.mayReturn(file)), sending.files.withPermit),
      { concurrency: filesAtOnce, discard: true }
    )
  })

/** Whether the same transfer may succeed later. */
export const isTemporary = (error: TransferError): boolean => {
  switch (error._tag) {
    case "Superseded":
    case "InvalidSecret":
    case "InvalidTarget":
    case "SourceFailed":
    case "InvalidRequest":
    case "AssemblyFailed":
    case "AssemblyCanceled":
    case "AssemblyAborted":
    case "AuthenticationFailed":
      return false
    case "SourceAway":
    case "StoreFailed":
    case "TimedOut":
      return true
    case "ServiceFailure":
    case "UnexpectedResponse":
      return isPassing(error)
    default:
      return UploadSteps.isTemporary(error)
  }
}

/** Whether a response says that the service fails, and not that the request is wrong. */
export const isPassing = ({ status }: Pick<ApiError.ServiceFailure | ApiError.UnexpectedResponse, "status">): boolean =>
  status >= 500 || status === 429
