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

/** Starts a download from input that was checked. Nothing is sent before the first call of `next`. */
const begin = Effect.fnUntraced(function* (job: Job): Effect.fn.Return<Download, never, Scope.Scope> {
  const { file, md5hash, offset, operation, range } = job
  const parent = yield* Effect.scope
  /** The number of emitted bytes, and the MD5 of these bytes, if it is needed. The bytes before `offset` count as emitted. */
  let received = offset
  let sum: Md5.Md5 | undefined
  /** The first response, with which later responses are compared, and the size of the file, once it is known. */
  let seen = range?.of
  let total = job.size
  let attempt: Attempt | undefined
  let isDone = false

  /** The number of bytes after which the download is complete. */
  const goal = () => range?.end ?? total ?? 0

  const changed = (subject: Reading.Subject, field: ResultError.ResultChanged["field"]) =>
    new ResultError.ResultChanged({ ...subject, file, field })

  const mismatch = (subject: Reading.Subject, field: "size" | "md5hash", expected: string, actual: string) =>
    new ResultError.ResultMismatch({ ...subject, file, field, expected, actual })

  const headersFrom = (first: number): Readonly<Record<string, string>> =>
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
  const unsatisfied = (subject: Reading.Subject, size: number | undefined) => {
    if (size === undefined) return Exchange.unexpected(subject, 416, "a refused range without the size of the file")
    if (seen?.total !== undefined && seen.total !== size) return changed(subject, "length")
    if (job.size !== undefined && job.size !== size) return mismatch(subject, "size", `${job.size}`, `${size}`)
    return Exchange.unexpected(subject, 416, "a refused range, although the file has these bytes")
  }

  /** Compares a response with the Status and with earlier responses. */
  const check = Effect.fnUntraced(function* (subject: Reading.Subject, status: number, now: Reading.Representation) {
    if (received === offset) {
      // No byte has been emitted, so this response may differ from an earlier response.
      seen = range?.of
      total = job.size
    }
    const field = seen === undefined ? undefined : Reading.difference(seen, now)
    if (field !== undefined) return yield* changed(subject, field)
    if (now.total !== undefined && total !== undefined && now.total !== total) {
      return yield* mismatch(subject, "size", `${total}`, `${now.total}`)
    }
    if (seen === undefined) {
      seen = now
      sum = job.sums === true || md5hash !== undefined || now.validator === undefined ? yield* Md5.make : undefined
    }
    total ??= now.total
    if (total === undefined) return yield* Exchange.unexpected(subject, status, "a file whose size is unknown")
    yield* checkSize(job, subject, total)
  })

  /**
   * Sends the next request, and reads the headers of its response. The rest of the file is requested only if its bytes
   * can be combined with the earlier bytes. This is possible if a strong validator proves that the file is the same, or
   * if the MD5 will prove this at the end of the download. Without such a proof, the download starts again, and the
   * repeated bytes are compared.
   */
  const open = Effect.fnUntraced(function* (scope: Scope.Closeable): Effect.fn.Return<Attempt, Problem, Scope.Scope> {
    const first = seen?.validator === undefined && md5hash === undefined ? offset : received
    const { isRedirected, response, subject } = yield* Reading.send(job, headersFrom(first))
    const { status } = response
    if (status === 416) return yield* unsatisfied(subject, Reading.sizeOfUnsatisfied(response.headers))
    // Validators are comparable only between responses from one URL, and a redirect may lead to another URL each time.
    const headers = isRedirected ? Headers.removeMany(response.headers, ["etag", "last-modified"]) : response.headers
    const part = Reading.read({ status, headers }, first)
    if (Result.isFailure(part)) return yield* Exchange.unexpected(subject, status, part.failure)
    const { end, representation, start } = part.success
    yield* check(subject, status, representation)
    if (range !== undefined && (status !== 206 || (end ?? 0) > range.end)) {
      return yield* Exchange.unexpected(subject, status, "other bytes than the requested range")
    }
    const skip = received - start
    return {
      subject,
      status,
      pull: yield* Reading.pullBody(job, subject, response),
      close: Scope.close(scope, Exit.void),
      skipped: skip > 0 && sum !== undefined ? yield* Md5.make : undefined,
      skip,
      left: end === undefined ? undefined : end - start
    }
  })

  const opened = Effect.flatMap(Scope.fork(parent), (scope) =>
    open(scope).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  )

  /** Handles the end of a body: fails if bytes are missing, or if the MD5 of a complete file differs. */
  const ended = ({ left, subject }: Attempt): Effect.Effect<void, Problem> => {
    if (received < goal()) {
      // A server may send a shorter range than the requested range. The rest of the range is then requested.
      const description = `the body ended after ${received} of ${goal()} bytes`
      return left === 0 ? Effect.void : Effect.fail(new ApiError.TransportFailure({ ...subject, description }))
    }
    isDone = true
    const actual = sum?.hex() ?? md5hash
    return md5hash === undefined || actual === undefined || md5hash === actual
      ? Effect.void
      : Effect.fail(mismatch(subject, "md5hash", md5hash, actual))
  }

  /**
   * Reads the next pieces, and returns the bytes that were not emitted before: none if the body has ended, or if the
   * pieces only repeat emitted bytes. Fails if the repeated bytes differ from the emitted bytes, or if the response has
   * more bytes than announced.
   */
  const read = Effect.gen(function* (): Effect.fn.Return<ReadonlyArray<Uint8Array>, Problem> {
    const from = (attempt ??= yield* opened)
    const pieces = yield* from.pull.pipe(
      // The file is complete, so it does not matter how the connection ends.
      Effect.catchIf(
        (error) => !Cause.isDone(error) && received === goal() && from.skip === 0,
        () => Cause.done()
      ),
      Pull.catchDone(() => Effect.succeed([]))
    )
    if (pieces.length === 0) {
      yield* ended(from)
      yield* from.close
      attempt = undefined
      return []
    }
    const taken: Array<Uint8Array> = []
    // If a piece fails, the earlier pieces in `taken` are not emitted, because the failure ends the download.
    for (const whole of pieces) {
      const old = whole.subarray(0, from.skip)
      const piece = whole.subarray(old.length)
      if (old.length > 0) {
        // The bytes before the offset of the download are not in the sum.
        from.skipped?.add(old.subarray(Math.max(0, offset - (received - from.skip))))
        from.skip -= old.length
        const isCompared = from.skip === 0 && received > offset
        if (isCompared && from.skipped?.hex() !== sum?.hex()) return yield* changed(from.subject, "content")
      }
      if (from.left !== undefined) from.left -= whole.length
      if (received + piece.length > goal() || (from.left ?? 0) < 0) {
        return yield* Exchange.unexpected(from.subject, from.status, "more bytes than announced")
      }
      received += piece.length
      sum?.add(piece)
      if (piece.length > 0) taken.push(piece)
    }
    return taken
  })

  const pauseAfter = RetryPolicy.pauses((yield* RetryPolicy.RetryPolicy) ?? RetryPolicy.standard)
  let failures = 0
  /** The number of bytes that were emitted before the last failure. New bytes reset the count of failures. */
  let before = received

  const next: Download["next"] = Effect.gen(function* () {
    for (;;) {
      if (isDone) return yield* Cause.done()
      const outcome = yield* Effect.result(read)
      if (Result.isSuccess(outcome)) {
        if (Arr.isReadonlyArrayNonEmpty(outcome.success)) return outcome.success
        continue
      }
      if (attempt !== undefined) yield* attempt.close
      attempt = undefined
      const { failure } = outcome
      const { error, wait } = "_tag" in failure ? { error: failure, wait: Option.none() } : failure
      failures = received > before ? 1 : failures + 1
      before = received
      // A download continues after its last byte, so it may also do so after a 500, whose cause may have ended.
      const retry = "status" in error && error.status >= 500 ? "resumes" : "safe"
      const pause = yield* pauseAfter({ operation, retry, failures, error, wait })
      if (Option.isNone(pause)) return yield* Effect.fail(error)
      yield* Telemetry.retried(operation, error, failures)
      yield* Effect.sleep(pause.value)
    }
  })
  return { next, read: () => ({ size: received, md5hash: sum?.hex() }) }
})

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
