/**
 * Reads a file with as many requests as necessary, and checks that all bytes belong to the same file.
 */
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Schema from "effect/Schema"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import * as ResultError from "../ResultError.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import * as Telemetry from "./Telemetry.ts"
import { AssemblyClient } from "./Operation.ts"
import * as Exchange from "./Exchange.ts"
import * as Md5 from "./Md5.ts"
import * as Reading from "./Reading.ts"

const Settings = Schema.Struct({
  stallTimeout: Schema.optional(Rules.duration),
  maxBytes: Schema.optional(Rules.whole(0)),
  offset: Schema.optional(Rules.whole(0))
})

/**
 * - `stallTimeout`: the maximum time without a response or a byte, 30 seconds by default. The time that the reader of
 *   the stream needs does not count towards this limit.
 * - `maxBytes`: the maximum size of the file. If the Status or the server reports a larger size, the error is
 *   `ResultTooLarge`, and nothing is read. There is no maximum by default.
 * - `offset`: the first byte of the file that is downloaded, 0 by default. With another offset, the bytes before it are
 *   unknown, so the MD5 in the Status is not compared.
 *
 * @since 0.1.0
 * @category options
 */
export interface DownloadOptions extends Schema.Codec.Encoded<typeof Settings> {}

const optionIssues = Rules.checker(Settings)

/** The values in the Status that a download uses. A missing value is permitted. */
const statusIssues = Rules.checker(
  Schema.Struct({
    size: Schema.optional(Schema.NullOr(Rules.whole(0))),
    md5hash: Schema.optional(
      Schema.NullOr(
        Schema.String.check(Schema.isPattern(/^([a-f0-9]{32})?$/i, { expected: "an MD5 of 32 hexadecimal digits" }))
      )
    )
  })
)

type Pieces = Arr.NonEmptyReadonlyArray<Uint8Array>

/** An error, or a response that is no file. The retry policy decides after which of them the download continues. */
type Problem = Exclude<ResultError.DownloadError, InvalidRequest> | Reading.Refused

/**
 * A response whose body is being read.
 *
 * - `skip`: the number of bytes at the start of the body that were already emitted from an earlier response. `skipped`
 *   is the MD5 of these bytes.
 * - `left`: the number of announced bytes that have not arrived yet, if the response announced a length.
 */
interface Attempt {
  readonly subject: Reading.Subject
  readonly status: number
  readonly pull: Pull.Pull<Pieces, ApiError.TransportFailure | ApiError.TimedOut>
  readonly close: Effect.Effect<void>
  readonly skipped: Md5.Md5 | undefined
  skip: number
  left: number | undefined
}

/**
 * The state of a download.
 *
 * - `received`: the number of emitted bytes. `sum` is the MD5 of these bytes, if it is needed.
 * - `seen`: the first response, with which later responses are compared.
 * - `total`: the size of the file, once it is known.
 */
interface State {
  received: number
  sum: Md5.Md5 | undefined
  seen: Reading.Representation | undefined
  total: number | undefined
  attempt: Attempt | undefined
  isDone: boolean
}

const nameOf = ({ id, name }: Assembly.File): string => Redaction.code(name || id || "the file")

/**
 * Whether http URLs on loopback are permitted. Without an `AssemblyClient` in the context, they are permitted. A
 * service that is not on loopback must not make the program send requests to the machine of the program.
 */
const allowsHttp = Effect.map(
  Effect.serviceOption(AssemblyClient),
  (client) => Option.isNone(client) || client.value.origins.entries.some((origin) => origin.startsWith("http:"))
)

/**
 * The input that is the same for all requests of a download.
 *
 * - `file`: the name of the file in errors.
 * - `size` and `md5hash`: the values that are known before the first request.
 * - `sums`: whether the MD5 is computed even if no MD5 is known.
 * - `offset`: the first byte that is read.
 * - `range`: the end of the bytes that are read (exclusive), and the file to which they must belong. Without it, the
 *   file is read to its end, and the first response says what the file is.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job extends Reading.Resource {
  readonly file: string
  readonly size: number | undefined
  readonly md5hash?: string | undefined
  readonly sums?: boolean
  readonly maxBytes?: number
  readonly offset: number
  readonly range?: { readonly end: number; readonly of: Reading.Representation }
}

const checkSize = ({ file, maxBytes = Infinity }: Job, subject: Exchange.Subject, size = 0) =>
  size <= maxBytes ? Effect.void : Effect.fail(new ResultError.ResultTooLarge({ ...subject, file, size, maxBytes }))

const changed = ({ file }: Job, subject: Reading.Subject, field: ResultError.ResultChanged["field"]) =>
  new ResultError.ResultChanged({ ...subject, file, field })

const mismatch = (
  { file }: Job,
  subject: Reading.Subject,
  field: ResultError.ResultMismatch["field"],
  expected: string | number,
  actual: string | number
) => new ResultError.ResultMismatch({ ...subject, file, field, expected: String(expected), actual: String(actual) })

/**
 * The first byte of the next request. The rest of the file is requested only if its bytes can be combined with the
 * earlier bytes. This is possible if a strong validator proves that the file is the same, or if the MD5 will prove this
 * at the end of the download. Without such a proof, the download starts again, and the repeated bytes are compared.
 */
const firstOf = ({ md5hash, offset }: Job, { received, seen }: State): number =>
  seen?.validator === undefined && md5hash === undefined ? offset : received

const headersOf = ({ range }: Job, first: number, { seen }: State): Readonly<Record<string, string>> =>
  first === 0 && range === undefined
    ? {}
    : {
        range: `bytes=${first}-${range === undefined ? "" : range.end - 1}`,
        ...(seen?.validator === undefined ? undefined : { "if-range": seen.validator })
      }

/**
 * The error of a 416 response (range not satisfiable). Usually the file has fewer bytes than an earlier response or the
 * Status says.
 */
const unsatisfied = (job: Job, { seen }: State, subject: Reading.Subject, size: number | undefined) => {
  if (size === undefined) return Exchange.unexpected(subject, 416, "a refused range without the size of the file")
  if (seen?.total !== undefined && seen.total !== size) return changed(job, subject, "length")
  if (job.size !== undefined && job.size !== size) return mismatch(job, subject, "size", job.size, size)
  return Exchange.unexpected(subject, 416, "a refused range, although the file has these bytes")
}

/** Compares a response with the Status and with earlier responses. */
const check = Effect.fnUntraced(function* (
  job: Job,
  state: State,
  subject: Reading.Subject,
  status: number,
  representation: Reading.Representation
): Effect.fn.Return<void, Problem> {
  if (state.received === job.offset) {
    // No byte has been emitted, so this response may differ from an earlier response.
    state.seen = job.range?.of
    state.total = job.size
  }
  const field = state.seen === undefined ? undefined : Reading.difference(state.seen, representation)
  if (field !== undefined) return yield* changed(job, subject, field)
  const { total } = representation
  if (total !== undefined && state.total !== undefined && total !== state.total) {
    return yield* mismatch(job, subject, "size", state.total, total)
  }
  if (state.seen === undefined) {
    state.seen = representation
    const isNeeded = job.sums === true || job.md5hash !== undefined || representation.validator === undefined
    state.sum = isNeeded ? yield* Md5.make : undefined
  }
  state.total ??= total
  if (state.total === undefined) {
    return yield* Exchange.unexpected(subject, status, "a file whose size is unknown")
  }
  yield* checkSize(job, subject, state.total)
})

/** Sends the next request, and reads the headers of its response. */
const open = Effect.fnUntraced(function* (
  job: Job,
  state: State,
  parent: Scope.Scope
): Effect.fn.Return<Attempt, Problem> {
  const scope = yield* Scope.fork(parent)
  return yield* Effect.gen(function* () {
    const { range } = job
    const first = firstOf(job, state)
    const { isRedirected, response, subject } = yield* Reading.send(job, headersOf(job, first, state))
    const { status } = response
    if (status === 416) {
      return yield* unsatisfied(job, state, subject, Reading.sizeOfUnsatisfied(response.headers))
    }
    // Validators are comparable only between responses from one URL, and a redirect may lead to another URL each time.
    const headers = isRedirected ? Headers.removeMany(response.headers, ["etag", "last-modified"]) : response.headers
    const part = Reading.read({ status, headers }, first)
    if (Result.isFailure(part)) return yield* Exchange.unexpected(subject, status, part.failure)
    const { end, representation, start } = part.success
    yield* check(job, state, subject, status, representation)
    if (range !== undefined && (status !== 206 || (end ?? 0) > range.end)) {
      return yield* Exchange.unexpected(subject, status, "other bytes than the requested range")
    }
    const skip = state.received - start
    return {
      subject,
      status,
      pull: yield* Reading.pullBody(job, subject, response),
      close: Scope.close(scope, Exit.void),
      skipped: skip > 0 && state.sum !== undefined ? yield* Md5.make : undefined,
      skip,
      left: end === undefined ? undefined : end - start
    } satisfies Attempt
  }).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
})

/** The number of bytes after which the download is complete. */
const endOf = ({ range }: Job, { total = 0 }: State): number => range?.end ?? total

/**
 * Checks a piece of a body, and returns the bytes that were not emitted before. Fails if the repeated bytes differ from
 * the emitted bytes, or if the response has more bytes than announced.
 */
const take = (
  job: Job,
  state: State,
  attempt: Attempt,
  whole: Uint8Array
): Result.Result<Uint8Array, ResultError.ResultChanged | ApiError.UnexpectedResponse> => {
  const old = whole.subarray(0, attempt.skip)
  const piece = whole.subarray(old.length)
  if (old.length > 0) {
    // The bytes before the offset of the download are not in the sum.
    attempt.skipped?.add(old.subarray(Math.max(0, job.offset - (state.received - attempt.skip))))
    attempt.skip -= old.length
    if (attempt.skip === 0 && state.received > job.offset && attempt.skipped?.hex() !== state.sum?.hex()) {
      return Result.fail(changed(job, attempt.subject, "content"))
    }
  }
  if (attempt.left !== undefined) attempt.left -= whole.length
  if (state.received + piece.length > endOf(job, state) || (attempt.left ?? 0) < 0) {
    return Result.fail(Exchange.unexpected(attempt.subject, attempt.status, "more bytes than announced"))
  }
  state.received += piece.length
  state.sum?.add(piece)
  return Result.succeed(piece)
}

/** Handles the end of a body: fails if bytes are missing, or if the MD5 of a complete file differs. */
const ended = (job: Job, state: State, { left, subject }: Attempt): Effect.Effect<void, Problem> => {
  const { received, sum } = state
  const end = endOf(job, state)
  if (received < end) {
    // A server may send a shorter range than the requested range. The rest of the range is then requested.
    const description = `the body ended after ${received} of ${end} bytes`
    return left === 0 ? Effect.void : Effect.fail(new ApiError.TransportFailure({ ...subject, description }))
  }
  state.isDone = true
  const { md5hash } = job
  const actual = sum?.hex() ?? md5hash
  return md5hash === undefined || actual === undefined || md5hash === actual
    ? Effect.void
    : Effect.fail(mismatch(job, subject, "md5hash", md5hash, actual))
}

/**
 * Reads the next pieces. The result is empty if the body has ended, or if the pieces only repeat bytes that were
 * emitted before.
 */
const read = Effect.fnUntraced(function* (
  job: Job,
  state: State,
  scope: Scope.Scope
): Effect.fn.Return<ReadonlyArray<Uint8Array>, Problem> {
  const attempt = (state.attempt ??= yield* open(job, state, scope))
  const pieces = yield* attempt.pull.pipe(
    // The file is complete, so it does not matter how the connection ends.
    Effect.catchIf(
      (error) => !Cause.isDone(error) && state.received === endOf(job, state) && attempt.skip === 0,
      () => Cause.done()
    ),
    Pull.catchDone(() => Effect.succeed([]))
  )
  if (pieces.length === 0) {
    yield* ended(job, state, attempt)
    yield* attempt.close
    state.attempt = undefined
    return []
  }
  const taken: Array<Uint8Array> = []
  for (const whole of pieces) {
    const piece = take(job, state, attempt, whole)
    // The earlier pieces in `taken` are not emitted, because this failure ends the download.
    if (Result.isFailure(piece)) return yield* piece.failure
    if (piece.success.length > 0) taken.push(piece.success)
  }
  return taken
})

/**
 * A download whose bytes are read with `next`. `read` describes the bytes that `next` has returned.
 *
 * @since 0.1.0
 * @category models
 */
export interface Download {
  readonly next: Pull.Pull<Pieces, ResultError.DownloadError>
  readonly read: () => { readonly size: number; readonly md5hash: string | undefined }
}

/**
 * Starts a download. Nothing is sent before the first call of `next`.
 *
 * @since 0.1.0
 * @category reading
 */
export const start = Effect.fnUntraced(function* (
  operation: string,
  file: Assembly.File,
  { sums, ...options }: DownloadOptions & { readonly sums: boolean }
): Effect.fn.Return<Download, ResultError.DownloadError, HttpClient.HttpClient | Scope.Scope> {
  const issues = [...optionIssues(options), ...statusIssues(file)]
  if (issues.length > 0) return yield* new InvalidRequest({ operation, issues })
  const name = nameOf(file)
  const url = Reading.urlOf(file, { allowsHttp: yield* allowsHttp, name })
  if (Result.isFailure(url)) return yield* new InvalidRequest({ operation, issues: [url.failure] })
  yield* Effect.annotateCurrentSpan(Telemetry.serverOf(url.success))
  const { maxBytes = Infinity, offset = 0, stallTimeout = "30 seconds" } = options
  const job: Job = {
    operation,
    sums,
    file: name,
    url: url.success,
    followsRedirects: true,
    size: file.size ?? undefined,
    md5hash: offset === 0 ? Md5.ofFile(file) : undefined,
    stallTimeout: Duration.fromInputUnsafe(stallTimeout),
    maxBytes,
    offset,
    http: yield* HttpClient.HttpClient
  }
  yield* checkSize(job, { operation }, job.size)
  return yield* begin(job)
})

/** Starts a download as {@link start} does, from input that was checked. */
const begin = Effect.fnUntraced(function* (job: Job): Effect.fn.Return<Download, never, Scope.Scope> {
  const { operation } = job
  const scope = yield* Effect.scope
  const state: State = {
    received: job.offset,
    sum: undefined,
    seen: job.range?.of,
    total: job.size,
    attempt: undefined,
    isDone: false
  }
  const pauseAfter = RetryPolicy.pauses((yield* RetryPolicy.RetryPolicy) ?? RetryPolicy.standard)
  let failures = 0
  /** The number of bytes that were emitted before the last failure. New bytes reset the count of failures. */
  let { received } = state

  const next: Download["next"] = Effect.gen(function* () {
    while (!state.isDone) {
      const outcome = yield* Effect.result(read(job, state, scope))
      if (Result.isSuccess(outcome)) {
        if (Arr.isReadonlyArrayNonEmpty(outcome.success)) return outcome.success
        continue
      }
      if (state.attempt !== undefined) yield* state.attempt.close
      state.attempt = undefined
      const { failure } = outcome
      const { error, wait } = "_tag" in failure ? { error: failure, wait: Option.none() } : failure
      failures = state.received > received ? 1 : failures + 1
      received = state.received
      // A download continues after its last byte, so it may also do so after a 500, whose cause may have ended.
      const retry = "status" in error && error.status >= 500 ? "resumes" : "safe"
      const pause = yield* pauseAfter({ operation, retry, failures, error, wait })
      if (Option.isNone(pause)) return yield* Effect.fail(error)
      yield* Telemetry.retried(operation, error)
      yield* Effect.sleep(pause.value)
    }
    return yield* Cause.done()
  })
  return { next, read: () => ({ size: state.received, md5hash: state.sum?.hex() }) }
})

/** The bytes of a job, which are sent on as they arrive. */
const stream = <E, R>(
  download: Effect.Effect<Download, E, R>
): Stream.Stream<Uint8Array, ResultError.DownloadError | E, Exclude<R, Scope.Scope>> =>
  Stream.unwrap(Effect.map(download, ({ next }) => Stream.fromPull(Effect.succeed(next))))

/**
 * Reads the bytes of a range, with retries. Each response must belong to the file of the range.
 *
 * @since 0.1.0
 * @category reading
 */
export const range = (job: Job): Stream.Stream<Uint8Array, ResultError.DownloadError> => stream(begin(job))

/**
 * Downloads a file piece by piece. At most a few pieces are in memory. `file` is a file of `Results.of`, or any other
 * file with `ssl_url` or `url`.
 *
 * **Details**
 *
 * - After a failed request or a lost connection, the `RetryPolicy` of the call, or `RetryPolicy.standard` by default,
 *   decides whether and when the download continues with the next byte. New bytes reset the count of failures.
 * - Bytes of two responses are combined only if they belong to the same file. The proof is a strong ETag, or, at the end
 *   of the download, the MD5 in the Status. Without such a proof, or if the server ignores ranges, the file is read
 *   again from its start, without emitting the same bytes again. If no strong ETag proves that the file is the same,
 *   these bytes are compared with the bytes that were emitted before.
 * - The validators (ETag and Last-Modified) of a redirected response are not used, because the next redirect may lead
 *   to another file.
 * - The size of the file must be known: from the Status or from the response. The stream ends after exactly this number
 *   of bytes. If the Status has an MD5 (`md5hash`) that the bytes do not match, the stream fails with `ResultMismatch`
 *   at its end. If the Status has a `size` or `md5hash` that no file can have, the download fails with `InvalidRequest`
 *   before anything is sent.
 *
 * **Gotchas**
 *
 * The stream may emit bytes and then fail. Use `Results.save` if nobody may see an incomplete file.
 *
 * If a web page downloads a file, the server must permit the headers `range` and `if-range`, and expose `content-range`
 * and `etag` (CORS). Without these permissions, a download in a page cannot continue after a failure: it fails, or
 * reads the file again from its start. Browsers do not show where a redirect leads, so a download in a page does not
 * follow redirects.
 *
 * @example
 * Results.download(file).pipe(Stream.runForEach((piece) => Effect.log(piece.length)))
 *
 * @example
 * Results.download(file, { maxBytes: 1024 * 1024 }).pipe(RetryPolicy.none, Stream.decodeText, Stream.mkString)
 *
 * @since 0.1.0
 * @category results
 */
export const download = (
  file: Assembly.File,
  options: DownloadOptions = {}
): Stream.Stream<Uint8Array, ResultError.DownloadError, HttpClient.HttpClient> =>
  Stream.withSpan(stream(start("Results.download", file, { ...options, sums: false })), "Results.download", {
    kind: "client"
  })
