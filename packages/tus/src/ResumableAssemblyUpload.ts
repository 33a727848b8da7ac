/**
 * Uploads the files of an Assembly in a job that survives its process. A journal stores the Assembly and its uploads,
 * and the next run continues them.
 */
import * as Input from "@assembly-effect/api/unstable/Input"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Transport from "@assembly-effect/api/unstable/Transport"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as SchemaParser from "effect/SchemaParser"
import type * as Stream from "effect/Stream"
import type { File, Job } from "./AssemblyUpload.ts"
import type { ResumableAssemblyUploadError } from "./AssemblyUploadError.ts"
import * as AssemblyUploadEvent from "./AssemblyUploadEvent.ts"
import * as AssemblyFiles from "./internal/assemblyFiles.ts"
import * as AssemblyOptions from "./internal/assemblyOptions.ts"
import * as Events from "./internal/events.ts"
import * as Hold from "./internal/hold.ts"
import * as Journaled from "./internal/journaled.ts"
import * as Telemetry from "./internal/telemetry.ts"
import * as UploadJournal from "./UploadJournal.ts"
import type { Replayable } from "./UploadSource.ts"

/**
 * The options of a job whose sources can be read again, see `AssemblyJob.Job`, and:
 *
 * - `onFailure`: `keep` by default, so that the next run continues. `cancel` cancels the Assembly if a file fails
 *   permanently, and the next run creates a new Assembly.
 * - `restart`: cancels the Assembly in the journal and creates a new one. False by default. If the Assembly cannot be
 *   canceled, the call fails and nothing is created. Set `restart` for one call only, because each call with `restart`
 *   creates a new Assembly.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<R = never> extends Job<File<R, Replayable>> {
  readonly restart?: boolean | undefined
}

/** A job that this process runs: its key, its lease, and the entries of jobs in the journal. */
interface Held {
  readonly entries: UploadJournal.UploadJournal["Service"]["assemblies"]
  readonly key: string
  readonly lease: UploadJournal.Lease
}

const record = ({ entries, key, lease }: Held, _tag: "Creating" | "Created", assemblyId: Assembly.AssemblyId) =>
  Effect.gen(function* () {
    yield* lease.check
    yield* entries.put(key, { _tag, assemblyId, writtenAt: yield* Clock.currentTimeMillis })
  })

const forget = ({ entries, key, lease }: Held) => Effect.andThen(lease.check, entries.forget(key))

const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

type CreationError = Effect.Error<ReturnType<typeof Assemblies.create>>

const isConflict = (error: CreationError): boolean => "status" in error && error.status === 409

/** Whether the error shows that this request created no Assembly. */
const isRefused = (error: CreationError): boolean =>
  error._tag === "InvalidRequest" || ("status" in error && (Transport.isRefusal(error.status) || isConflict(error)))

const create = <R>(
  held: Held,
  { files, params }: Options<R>,
  assemblyId: Assembly.AssemblyId,
  emit: AssemblyFiles.Emit
) =>
  Effect.gen(function* () {
    yield* record(held, "Creating", assemblyId)
    const status = yield* Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length }).pipe(
      // Only this job knows a generated id, so the conflict comes from an earlier request of this job.
      Effect.catchIf(
        (error) => isConflict(error) && params.assemblyId === undefined,
        () => Assemblies.get(assemblyId)
      ),
      Effect.tapError((error) => (isRefused(error) ? Effect.ignore(forget(held)) : Effect.void))
    )
    yield* record(held, "Created", assemblyId)
    emit(AssemblyUploadEvent.AssemblyCreated({ status }))
    return status
  })

/**
 * The Status of the Assembly in the journal. If the creation request never reached the service, the Assembly is created
 * now.
 */
const reopen = <R>(
  held: Held,
  options: Options<R>,
  { _tag, assemblyId }: UploadJournal.AssemblyEntry,
  emit: AssemblyFiles.Emit
) =>
  Assemblies.get(assemblyId).pipe(
    Effect.tap((status) =>
      Effect.andThen(
        _tag === "Creating" ? record(held, "Created", assemblyId) : Effect.void,
        Effect.sync(() => emit(AssemblyUploadEvent.AssemblyResumed({ status })))
      )
    ),
    Effect.catchIf(isNotFound, (error) =>
      _tag === "Creating"
        ? create(held, options, assemblyId, emit)
        : // A new Assembly may repeat work that is already done, so the caller decides.
          Effect.andThen(forget(held), Effect.fail(error))
    )
  )

/**
 * Cancels the Assembly in the journal. Fails unless that Assembly has ended or no longer exists, so that no new
 * Assembly is created beside it.
 */
const giveUp = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.filterOrFail(
      Assembly.isOver,
      () =>
        new ApiError.UnexpectedResponse({
          operation: "Assemblies.cancel",
          assemblyId,
          status: 200,
          problem: "the Assembly has not ended after its cancellation",
          excerpt: ""
        })
    ),
    Effect.asVoid,
    Effect.catchIf(isNotFound, () => Effect.void)
  )

/** Whether an Assembly has ended without completing, or with other bytes than those that were read. */
const isFinal = (error: ResumableAssemblyUploadError): boolean =>
  error._tag === "AssemblyFailed" ||
  error._tag === "AssemblyCanceled" ||
  error._tag === "AssemblyAborted" ||
  error._tag === "DeliveryMismatch" ||
  (error._tag === "FilesFailed" && error.assembly === "canceled")

const job = <R>(held: Held, options: Options<R>, sources: ReadonlyArray<Replayable>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const found = yield* held.entries.get(held.key)
    if (Option.isSome(found) && options.restart === true) {
      yield* giveUp(found.value.assemblyId)
      yield* forget(held)
    }
    const known = options.restart === true ? undefined : Option.getOrUndefined(found)
    const assemblyId = known?.assemblyId ?? options.params.assemblyId ?? (yield* Assemblies.newId)
    const status = yield* known === undefined
      ? create(held, options, assemblyId, emit)
      : reopen(held, options, known, emit)

    const outcome = Assemblies.outcome(status)
    if (Option.isSome(outcome)) {
      const completed = yield* Effect.fromResult(outcome.value)
      yield* AssemblyFiles.check(options, completed, yield* AssemblyFiles.prove(options, sources), [])
      return emit(AssemblyUploadEvent.Completed({ status: completed }))
    }
    const uploadOne: AssemblyFiles.UploadOne<Replayable, HttpClient.HttpClient | UploadJournal.UploadJournal> = (
      target,
      source,
      upload,
      file
    ) =>
      Events.fromProgram((observed) =>
        Telemetry.observe("ResumableUpload", source, observed, (tell) =>
          Journaled.start(target, source, { ...upload, file }, tell)
        )
      )
    yield* AssemblyFiles.finish({ onFailure: "keep", ...options }, status, assemblyId, sources, uploadOne, emit)
  }).pipe(Effect.tapError((error) => (isFinal(error) ? Effect.ignore(forget(held)) : Effect.void)))

const encodeParams = SchemaParser.encodeUnknownEffect(Assembly.CreateParams)

/** The key of a job. Two runs with the same service, params and files have the same key. */
const keyOf = <R>({ files, params }: Options<R>, sources: ReadonlyArray<Replayable>) =>
  Effect.gen(function* () {
    const { origins } = yield* AssemblyClient
    const { assemblyId, ...rest } = params
    const encoded = yield* Effect.mapError(encodeParams(rest), (issue) => Input.invalidRequest("AssemblyUpload", issue))
    const identities = yield* Effect.forEach(sources, Journaled.identify)
    return yield* UploadJournal.assemblyKeyOf([
      origins.entries[0] ?? "",
      assemblyId ?? null,
      encoded,
      files.map(({ fieldname = "file", filename, metadata = {} }, file) => [
        filename,
        fieldname,
        metadata,
        String(sources[file]?.size),
        identities[file] ?? null
      ])
    ])
  })

const program = <R>(options: Options<R>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const sources = yield* AssemblyOptions.prepare(options, { isReplayed: true })
    const journal = yield* UploadJournal.UploadJournal
    const key = yield* keyOf(options, sources)
    const tell = yield* Events.paced(emit, options.progressInterval)
    const lease = yield* Hold.hold(journal, key, tell)
    const held = { entries: journal.assemblies, key, lease }
    yield* Hold.during(lease, job(held, options, sources, tell))
  })

/**
 * Runs the same job as {@link run}, and emits its events. Interrupting the stream keeps the Assembly and the uploaded
 * bytes.
 *
 * @since 0.1.0
 * @category running
 */
export const events = <R = never>(
  options: Options<R>
): Stream.Stream<
  AssemblyUploadEvent.AssemblyUploadEvent,
  ResumableAssemblyUploadError,
  AssemblyClient | HttpClient.HttpClient | UploadJournal.UploadJournal | R
> => Events.fromProgram((emit: AssemblyFiles.Emit) => program(options, emit), AssemblyFiles.isTransient)

/**
 * Creates an Assembly, uploads its files, waits until the Assembly has completed, and returns the Status. If an earlier
 * run has started the same job, this run continues it.
 *
 * **When to use**
 *
 * Use `ResumableAssemblyUpload` if the process may end during the job. The next run with the same options continues the
 * job.
 *
 * **Details**
 *
 * Two runs belong to the same job if they have the same service, `params`, and files (names, metadata, size, and the
 * `identity` of the source). The journal stores the Assembly and the upload of each file. The next run requests the
 * Assembly from the service:
 *
 * - If the Assembly still accepts files, stored files are not sent again. Other files continue at the offset that the
 *   server reports.
 * - If the Assembly is executing, the run waits until it has ended.
 * - If the Assembly has completed, the run returns the Status. After the entry of the journal has expired, a run starts
 *   a new job.
 * - If the Assembly failed or was canceled, the run fails with that error, and the following run creates a new
 *   Assembly. The same holds after a `DeliveryMismatch` (`verify`).
 *
 * One process at a time holds a job. Another process emits `Waiting`, waits while the lease lasts (10 seconds), and
 * then continues or fails with `UploadLeased`.
 *
 * **Gotchas**
 *
 * An attacker who can write to the journal can make an entry name another Assembly of the same service. Store the
 * journal as a secret.
 *
 * @example
 * ResumableAssemblyUpload.run({
 *   params: { templateId: "my-template" },
 *   files: [{ source: UploadSource.fromPath("video.mp4"), filename: "video.mp4" }]
 * }).pipe(Effect.provide(UploadJournal.layerFileSystem("/var/lib/my-app/uploads")))
 *
 * @since 0.1.0
 * @category running
 */
export const run = <R = never>(
  options: Options<R>
): Effect.Effect<
  Assembly.Status,
  ResumableAssemblyUploadError,
  AssemblyClient | HttpClient.HttpClient | UploadJournal.UploadJournal | R
> => AssemblyUploadEvent.result(events(options))
