/**
 * The resumable upload: created once, sent as a stream, continued from where the server is after a failure.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { exactly } from "./internal/exactly.ts"
import * as Tus from "./Tus.ts"
import * as TusError from "./TusError.ts"
import * as UploadEvent from "./UploadEvent.ts"
import type { SourceFailed, UploadSource } from "./UploadSource.ts"
import type { UnsafeLocation, UploadTarget, UploadUrl } from "./UploadTarget.ts"

/**
 * - `metadata`: `filename` and `fieldname`, and whatever else the Assembly's Steps want to know.
 * - `maxRetries`: how many failures in a row are healed, 8 by default; progress refills it.
 * - `retryDelay`: the pause after the first failure, 500 ms by default; it doubles up to 30 seconds, with jitter.
 */
export interface Options {
  readonly metadata: { readonly filename: string; readonly fieldname: string } & Readonly<Record<string, string | null>>
  readonly maxRetries?: number | undefined
  readonly retryDelay?: Duration.Input | undefined
}

/** What an upload can fail with. */
export type UploadError =
  | Tus.AnswerError
  | TusError.CreationUnknown
  | TusError.UploadMismatch
  | UnsafeLocation
  | SourceFailed
  | ApiError.InvalidRequest
  | ApiError.TransportFailure

/** Where an upload stands: how much the server has stored, and how many requests have failed since it last grew. */
interface Transfer {
  readonly url: UploadUrl
  readonly acknowledged: bigint
  readonly failures: number
}

/** What the transitions share and nobody changes. */
interface Job {
  readonly source: UploadSource
  readonly maxRetries: number
  readonly retryDelay: Duration.Duration
  readonly emit: (event: UploadEvent.UploadEvent) => Effect.Effect<void>
}

const maxDelay = Duration.seconds(30)

/** A lost answer leaves the creation unknown; any other failure is an answer. */
const begin = (job: Job, target: UploadTarget, metadata: Options["metadata"]) =>
  Tus.create(target, { length: job.source.size, metadata }).pipe(
    Effect.catchTag("TransportFailure", ({ problem }) => Effect.fail(new TusError.CreationUnknown({ problem }))),
    Effect.tap(({ url }) => job.emit(UploadEvent.Created({ url, length: job.source.size }))),
    Effect.map(({ offset, url }): Transfer => ({ url, acknowledged: offset, failures: 0 }))
  )

/** Sends everything from the acknowledged offset in one request. */
const send = Effect.fnUntraced(function* (job: Job, { acknowledged, url }: Transfer) {
  const { size } = job.source
  const body = exactly(job.source.bytes(acknowledged), size - acknowledged, (count) =>
    job.emit(UploadEvent.Progress({ sent: acknowledged + count, acknowledged, total: size }))
  )
  const offset = yield* Tus.append(url, {
    offset: acknowledged,
    body: body.stream,
    contentLength: size - acknowledged
  }).pipe(
    // A source that fails breaks the request; the HTTP client reports that as a broken connection.
    Effect.catch((error) =>
      Effect.flatMap(body.failure, (failure) => Effect.fail(Option.getOrElse(failure, () => error)))
    )
  )
  yield* job.emit(UploadEvent.Progress({ sent: offset, acknowledged: offset, total: size }))
  return offset
})

/** The transfer after the server told its offset. An offset beyond the end, or another length, is another upload. */
const advance = (
  job: Job,
  transfer: Transfer,
  found: { readonly offset: bigint; readonly length?: bigint | undefined }
) => {
  const { size } = job.source
  if (found.length !== undefined && found.length !== size) {
    return Effect.fail(
      new TusError.UploadMismatch({ field: "upload-length", expected: `${size}`, found: `${found.length}` })
    )
  }
  if (found.offset > size || found.offset < transfer.acknowledged) {
    return Effect.fail(
      new TusError.UploadMismatch({
        field: "upload-offset",
        expected: `${transfer.acknowledged} to ${size}`,
        found: `${found.offset}`
      })
    )
  }
  const grew = found.offset > transfer.acknowledged
  return Effect.succeed<Transfer>({
    url: transfer.url,
    acknowledged: found.offset,
    failures: grew ? 0 : transfer.failures
  })
}

const canHeal = (error: UploadError): boolean =>
  error._tag === "TransportFailure" ||
  error._tag === "ServerFailure" ||
  error._tag === "UploadLocked" ||
  error._tag === "OffsetConflict"

/** The pause after so many failures in a row: doubling, capped, and between half and the whole of it. */
const pause = (job: Job, failures: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (chance) =>
    Duration.times(
      Duration.min(Duration.times(job.retryDelay, 2 ** Math.min(failures - 1, 16)), maxDelay),
      0.5 + chance / 2
    )
  )

/** Counts a failure, or gives up: on one that cannot heal, or when the budget is used up. */
const backOff = <E extends UploadError>(job: Job, transfer: Transfer, error: E) =>
  Effect.gen(function* () {
    const failures = transfer.failures + 1
    if (!canHeal(error) || failures > job.maxRetries) return yield* error
    const delay = yield* pause(job, failures)
    yield* job.emit(UploadEvent.Retrying({ attempt: failures, delay, reason: error.message }))
    yield* Effect.sleep(delay)
    return { ...transfer, failures }
  })

/** Asks the server how far it is, as often as it takes. */
const recover = (job: Job, transfer: Transfer): Effect.Effect<Transfer, UploadError, HttpClient.HttpClient> =>
  Tus.offset(transfer.url).pipe(
    Effect.matchEffect({
      onFailure: (error) => Effect.flatMap(backOff(job, transfer, error), (next) => recover(job, next)),
      onSuccess: (found) =>
        Effect.tap(advance(job, transfer, found), ({ acknowledged }) =>
          job.emit(UploadEvent.Resumed({ offset: acknowledged }))
        )
    })
  )

/** One step nearer to the end: bytes are sent, or a failure is healed. */
const step = (job: Job, transfer: Transfer): Effect.Effect<Transfer, UploadError, HttpClient.HttpClient> =>
  send(job, transfer).pipe(
    Effect.matchEffect({
      onFailure: (error) => Effect.flatMap(backOff(job, transfer, error), (next) => recover(job, next)),
      onSuccess: (offset) => advance(job, transfer, { offset })
    })
  )

const transfer = Effect.fnUntraced(function* (job: Job, begun: Transfer) {
  let current = begun
  while (current.acknowledged < job.source.size) {
    current = yield* step(job, current)
  }
  yield* job.emit(UploadEvent.Completed({ url: current.url, length: job.source.size }))
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
  Stream.callback((queue) => {
    const job: Job = {
      source,
      maxRetries: options.maxRetries ?? 8,
      retryDelay: Duration.fromInputUnsafe(options.retryDelay ?? "500 millis"),
      emit: (event) => Effect.asVoid(Queue.offer(queue, event))
    }
    return begin(job, target, options.metadata).pipe(
      Effect.flatMap((begun) => transfer(job, begun)),
      Effect.matchCauseEffect({
        onFailure: (cause) => Queue.failCause(queue, cause),
        onSuccess: () => Queue.end(queue)
      })
    )
  })

/** The URL and length, in bytes, of a finished upload. */
export interface UploadResult {
  readonly url: UploadUrl
  readonly length: bigint
}

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
  upload(target, source, options).pipe(
    Stream.filter(UploadEvent.$is("Completed")),
    Stream.runLast,
    Effect.map(Option.getOrThrow)
  )
