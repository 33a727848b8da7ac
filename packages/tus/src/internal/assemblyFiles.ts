/**
 * Sends the files of one Assembly: as uploads in parallel, or in a form, inside the request that creates the Assembly. If
 * uploads fail, decides whether the Assembly is canceled.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Creation from "@assembly-effect/api/unstable/Creation"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Gathering from "@assembly-effect/auth/unstable/Gathering"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as StreamSender from "@assembly-effect/auth/unstable/StreamSender"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Semaphore from "effect/Semaphore"
import { type FileOutcome, FilesFailed, FormBroken } from "./jobError.ts"
import * as AssemblyUploadEvent from "../AssemblyUploadEvent.ts"
import { type UploadError, UploadUntrusted } from "../TusError.ts"
import type * as UploadEvent from "../UploadEvent.ts"
import * as UploadTarget from "../UploadTarget.ts"
import { UploadBandwidth } from "./bandwidth.ts"
import { CanStream } from "./context.ts"
import * as Events from "./events.ts"
import type { Delivered, File, Options as JobOptions } from "./job.ts"
import type { AssemblyEntry } from "./journal.ts"
import { type Given, type Options, replayable } from "./options.ts"
import { inPieces, moving, readWhole } from "./outgoing.ts"
import { hostOf } from "./requests.ts"
import type { UploadSource } from "./source.ts"

/**
 * Delivers an event of a job.
 *
 * @since 0.1.0
 * @category models
 */
export type Emit = Events.Emit<AssemblyUploadEvent.AssemblyUploadEvent>

/**
 * A job whose options are valid, with its open sources. `uploadOne` uploads one file, whose index is `file`.
 */
export interface Job {
  readonly options: JobOptions<unknown>
  readonly sources: ReadonlyArray<UploadSource>
  readonly uploadOne: (
    given: Given<Options & { readonly file: number }>
  ) => Effect.Effect<UploadEvent.UploadResult, UploadError, HttpClient.HttpClient>
  readonly emit: Emit
}

/**
 * Limits the files that several jobs send at the same time. Without a value, only the `concurrency` of each job is a
 * limit.
 *
 * @since 0.1.0
 * @category references
 */
export const Permits = Context.Reference<Semaphore.Semaphore | undefined>(
  "@assembly-effect/tus/assemblyFiles/Permits",
  { defaultValue: () => undefined }
)

/** Runs one upload, or one form, when a permit is free. */
const permitted = <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Permits, (permits) => (permits === undefined ? request : permits.withPermit(request)))

/** Makes a function that adds the progress of one file to the progress of all files, and emits the sum. */
const totals = ({ emit, sources }: Job) => {
  const sumOf = Events.sums(sources.length)
  const sizes = sources.flatMap(({ size }) => (size === undefined ? [] : [size]))
  const total = sizes.length === sources.length ? sizes.reduce((all, size) => all + size, 0n) : undefined
  return (file: number, now: Events.Progress) => emit(AssemblyUploadEvent.Progress({ ...sumOf(file, now), total }))
}

/**
 * Whether the other files may continue after this error. The other files must stop if the server may treat wrong bytes
 * as a complete file and start processing it.
 */
const isBearable = (error: UploadError): boolean => error._tag !== "UploadUntrusted" || !error.mayBeWhole

/**
 * Uploads every file, and returns how the upload of each file ended, and its URL. The first permanent failure stops the
 * uploads of the other files. If `onFailure` is "keep", only a failure that is not bearable (see `isBearable`) stops
 * them. Two files at the same upload URL would become one file, and no other check detects this.
 */
const uploadAll = (job: Job, target: UploadTarget.UploadTarget) => {
  const { emit, options, sources } = job
  const outcomes = options.files.map(({ filename }): FileOutcome => ({ filename, outcome: "Stopped" }))
  const delivered = options.files.map(({ fieldname, filename }): Delivered => ({ filename, fieldname }))
  const progress = totals(job)
  const urls = new Set<string>()

  const one = ([{ fieldname, filename, metadata }, source]: [File<unknown>, UploadSource], file: number) =>
    Effect.gen(function* () {
      const { length, url } = yield* job.uploadOne({
        target,
        source,
        options: { ...options.upload, metadata: { ...metadata, filename, fieldname: fieldname ?? "file" }, file },
        emit: (event) =>
          event._tag === "Progress" ? progress(file, event) : emit(AssemblyUploadEvent.FileEvent({ file, event }))
      })
      if (urls.size === urls.add(Redacted.value(url)).size) {
        const description = "two files have the same Location"
        return yield* new UploadUntrusted({ host: hostOf(target.tusUrl), description, mayBeWhole: true })
      }
      outcomes[file] = { filename, outcome: "Completed" }
      delivered[file] = { filename, fieldname, url }
      progress(file, { sent: length, acknowledged: length })
      emit(AssemblyUploadEvent.FileCompleted({ file, length }))
    }).pipe(
      Effect.catch((error) => {
        outcomes[file] = { filename, outcome: "Failed", error }
        emit(AssemblyUploadEvent.FileFailed({ file, error }))
        return options.onFailure === "keep" && isBearable(error) ? Effect.void : Effect.fail(error)
      })
    )

  return Effect.forEach(Arr.zip(options.files, sources), (given, file) => permitted(one(given, file)), {
    concurrency: options.concurrency ?? 4,
    discard: true
  }).pipe(Effect.ignore, Effect.as({ outcomes, delivered }))
}

/** The maximum time of a cancellation, and of the request for the Status in `ownError`. */
const patience = "30 seconds"

/**
 * Cancels the Assembly, and returns whether it is canceled. Returns false if the Assembly has ended in another way, or
 * if the cancellation fails.
 */
export const cancel = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.map((status) => Assembly.state(status) === "Canceled"),
    Effect.timeout(patience),
    Effect.orElseSucceed(() => false)
  )

/** The Status of an Assembly. Fails with the error of the Assembly if it has failed, was canceled or was aborted. */
export const unlessFailed = (status: Assembly.Status): Effect.Effect<Assembly.Status, Assemblies.AssemblyError> =>
  Effect.fromResult(Option.getOrElse(Assemblies.outcome(status), () => Result.succeed(status)))

/**
 * Reads the Status if the server responded to the upload of a file with an error. Fails with the error of the Assembly
 * if the Assembly has failed, was canceled or was aborted. Such an Assembly refuses its files, so the error of the
 * Assembly is more useful than the errors of the files.
 */
const ownError = Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId, errors: ReadonlyArray<UploadError>) {
  if (!errors.some((error) => "status" in error)) return
  const found = yield* Effect.option(Effect.timeout(Assemblies.get(assemblyId), patience))
  if (Option.isSome(found)) yield* unlessFailed(found.value)
})

/**
 * Uploads all files into an Assembly. If files fail, or if the Status names no permitted URL for them, the Assembly is
 * canceled, unless `onFailure` is "keep" and every failure is bearable (see `isBearable`).
 */
export const fill = (job: Job, status: Assembly.Status, assemblyId: Assembly.AssemblyId) => {
  const keeps = job.options.onFailure === "keep"
  return Effect.gen(function* () {
    const target = yield* Effect.tapError(
      // Checks that the URL in the Status belongs to this Assembly. Otherwise the files could be sent to another
      // Assembly.
      UploadTarget.fromAssembly({ ...status, assembly_id: assemblyId }),
      () => (keeps ? Effect.void : cancel(assemblyId))
    )
    const { delivered, outcomes: files } = yield* uploadAll(job, target)
    if (files.every(({ outcome }) => outcome === "Completed")) return delivered
    const errors = files.flatMap((file) => (file.outcome === "Failed" ? [file.error] : []))
    yield* ownError(assemblyId, errors)
    const isKept = keeps && errors.every(isBearable)
    const assembly = isKept ? "kept" : (yield* cancel(assemblyId)) ? "canceled" : "not canceled"
    return yield* new FilesFailed({ assemblyId, files, assembly })
  }).pipe(
    // After a defect during the uploads, the Assembly is canceled, even if `onFailure` is "keep".
    Effect.onExit((exit) => (Exit.hasDies(exit) ? cancel(assemblyId) : Effect.void))
  )
}

/** A form with more bytes is streamed, if the platform permits it: its progress becomes visible, and a stall too. */
const inMemory = 256 * 1024

const encoder = new TextEncoder()

/**
 * Makes the function that sends a form: its fields, then `parts`. A streamed form fails with `Late` if the client requests
 * no piece for a while, or at the end of its time.
 */
const senderOf =
  (parts: ReadonlyArray<Uint8Array>, boundary: string, onSent: (bytes: number) => void): StreamSender.FormSender =>
  (http, request, fields, { left, ...limits }) =>
    Effect.gen(function* () {
      const begin = encoder.encode(Creation.toFields(fields, boundary))
      const content = Bytes.join([begin, ...parts, encoder.encode(`--${boundary}--\r\n`)])
      const contentType = `multipart/form-data; boundary=${boundary}`
      if (content.length <= inMemory || !(yield* CanStream)) {
        yield* (yield* UploadBandwidth)?.whole(content.length) ?? Effect.void
        return yield* Sender.of(http)({ ...request, body: { content, contentType } }, limits)
      }
      const { late, stream } = yield* moving(inPieces(content), onSent, () => limits.millis)
      const streamed = HttpClientRequest.post(request.origin + request.path, { headers: request.headers }).pipe(
        HttpClientRequest.setBody(HttpBody.stream(stream, contentType, content.length))
      )
      const isLate = Effect.andThen(Effect.raceFirst(late, Effect.sleep(left)), Effect.fail(new Gathering.Late()))
      return (yield* StreamSender.send(http, streamed, limits.maxBytes, isLate)).answer
    })

/** Whether an Assembly with this id exists already. */
export const isConflict = (error: { readonly _tag: string; readonly status?: number | undefined }): boolean =>
  error.status === 409

/** An Assembly of a job, and the Assemblies whose forms broke before. */
type Sent = Pick<AssemblyEntry, "assemblyId" | "earlier">

export const broken = ({ assemblyId, earlier = [] }: Sent, isOver: boolean, description: string) =>
  new FormBroken({ assemblyIds: Arr.append(earlier, assemblyId), isOver, description })

/**
 * Reads the files into memory. Returns the request that creates the Assembly with its files. After a lost response, the
 * Status of the Assembly is the result, if the service knows it. The request fails with `FormBroken` if only the service
 * knows whether the Assembly exists.
 */
export const formOf = Effect.fnUntraced(function* ({ emit, options: { files, params }, sources }: Job, about: Sent) {
  const contents = yield* Effect.forEach(sources, (source) => Effect.flatMap(replayable(source), readWhole))
  const boundary = yield* Assemblies.newId
  const parts = files.flatMap(({ fieldname = "file", filename }, index) => [
    // The names need no escape.
    encoder.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="${fieldname}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`
    ),
    contents[index] ?? new Uint8Array(0),
    encoder.encode("\r\n")
  ])
  const size = contents.reduce((sum, { length }) => sum + length, 0)
  const onSent = (bytes: number) => {
    const sent = BigInt(Math.min(bytes, size))
    emit(AssemblyUploadEvent.Progress({ sent, acknowledged: 0n, total: BigInt(size) }))
  }
  const sender = senderOf(parts, boundary, onSent)
  let isSent = false
  const send: StreamSender.FormSender = (...request) => {
    isSent = true
    return sender(...request)
  }
  const { assemblyId } = about
  return Effect.mapError(permitted(Creation.createWith({ ...params, assemblyId }, send)), (error) =>
    // The service has refused an id that somebody else uses.
    isSent && Creation.isLost(error) && !isConflict(error) ? broken(about, false, error.message) : error
  )
})
