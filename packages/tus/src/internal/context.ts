/**
 * The context of the engine, which the steps of one upload share. It is made from the options of the upload: which
 * failures are temporary and how long to pause after them, whether request bodies are streamed, and whether they have
 * checksums. tus 1.0.0 (checksum) defines these checksums; the specification of the service does not.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Tus from "../Tus.ts"
import type * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import type { Emit } from "./events.ts"
import * as Options from "./options.ts"
import * as Outgoing from "./outgoing.ts"
import { inTime } from "./requests.ts"
import type { SourceFailed, UploadSource } from "./source.ts"
import type { StateStore } from "./uploadState.ts"

/**
 * The retry policy and the time limits of one upload. `retryDelay` is the first pause of {@link pollDelay}.
 */
export interface Policy {
  readonly retry: RetryPolicy.Policy
  readonly retryDelay: Duration.Duration
  readonly stallTimeout: Duration.Duration
  readonly finishTimeout: Duration.Duration
}

/** The errors of a request after the creation. */
export type RequestError =
  | TusError.AnswerError
  | ApiError.TransportFailure
  | TusError.Stalled
  | TusError.UploadMismatch
  | TusError.UploadUntrusted
  | SourceFailed

/**
 * The context of the engine: what all steps of one upload share.
 *
 * - `metadataHeader`: see `Options.metadataHeader`.
 * - `checksum`: the algorithm of the checksums, if the bodies have checksums.
 * - `concurrency`: the number of parts that are sent in parallel.
 */
export interface Upload<E> {
  readonly target: UploadTarget
  readonly source: UploadSource
  readonly metadataHeader: string
  readonly chunkSize: number | undefined
  readonly streams: boolean
  readonly checksum: Algorithm | undefined
  readonly concurrency: number
  readonly policy: Policy
  readonly emit: Emit
  readonly store: StateStore<E>
}

const healing: ReadonlySet<string> = new Set([
  "TransportFailure",
  "ServerFailure",
  "RateLimited",
  "UploadLocked",
  "OffsetConflict",
  "ChecksumMismatch",
  "Stalled",
  // An invalid response says nothing about the bytes, so the offset is requested.
  "ProtocolViolation"
] satisfies ReadonlyArray<RequestError["_tag"]>)

/**
 * Whether it may help to request the offset and to continue from this offset. A retry does not help if the network, the
 * runtime or the HTTP client would refuse the next request too (`permanent`).
 */
const canHeal = (error: { readonly _tag: string; readonly permanent?: boolean }): boolean =>
  healing.has(error._tag) && error.permanent !== true

/**
 * Whether a later run of the same job may succeed after this error of an upload: the failure was temporary, or it is
 * not known whether a request arrived.
 *
 * @since 0.1.0
 * @category running
 */
export const isTemporary = (error: { readonly _tag: string; readonly permanent?: boolean }): boolean =>
  error._tag === "CreationUnknown" || canHeal(error)

const maxDelay = Duration.seconds(30)

/**
 * The policy of an upload with these options. `said` is the `RetryPolicy` that the program provides, which the options
 * limit further.
 */
export const policyOf = (said: RetryPolicy.Policy | undefined, options: Options.SharedOptions): Policy => {
  const { finishTimeout = Duration.minutes(10), maxRetries, maxWait, stallTimeout = Duration.seconds(30) } = options
  const retryDelay = Duration.fromInputUnsafe(options.retryDelay ?? 500)
  const longest = maxWait === undefined ? Infinity : Duration.toMillis(maxWait)
  const isOver = ({ failures, wait }: RetryPolicy.Failure): boolean =>
    failures > (maxRetries ?? Infinity) || Option.exists(wait, (time) => Duration.toMillis(time) > longest)
  const own = { retries: maxRetries ?? 8, base: retryDelay, maxPause: maxDelay, maxWait: maxWait ?? Duration.hours(1) }
  return {
    retry: said === undefined ? RetryPolicy.make(own) : Schedule.while(said, ({ input }) => !isOver(input)),
    retryDelay,
    stallTimeout: Duration.fromInputUnsafe(stallTimeout),
    finishTimeout: Duration.fromInputUnsafe(finishTimeout)
  }
}

/** The wait that a server requests, if this wait is not zero. */
const asked = (error: RequestError): Option.Option<Duration.Duration> => {
  const wait = "retryAfter" in error ? error.retryAfter : undefined
  return wait === undefined || Duration.isZero(wait) ? Option.none() : Option.some(wait)
}

/**
 * Makes a function that pauses after the given number of consecutive failures, as the policy decides, and fails with the
 * error if a retry does not help any more. If the next request waits in the budget of the account for the pause that the
 * server requested, the failure does not count.
 */
export const retrying = <Store>({ emit, policy }: Upload<Store>) => {
  let pauseAfter: ReturnType<typeof RetryPolicy.pauses> | undefined
  let held = 0
  return <E extends RequestError>(count: number, error: E) =>
    Effect.gen(function* () {
      const isHeld = Budget.holds(yield* Budget.Budget, error)
      held = (count === 1 ? 0 : held) + (isHeld ? 1 : 0)
      const failures = Math.max(1, count - held)
      const wait = isHeld ? Option.none() : asked(error)
      const failure = { operation: "Upload", retry: "resumes", failures, error, wait } as const
      // Most uploads have no failure, so the function is made only when it is needed.
      pauseAfter ??= RetryPolicy.pauses(policy.retry)
      const pause = canHeal(error) ? yield* pauseAfter(failure) : Option.none()
      if (Option.isNone(pause)) return yield* Effect.fail(error)
      emit(UploadEvent.Retrying({ attempt: failures, delay: pause.value, reason: error.message }))
      yield* Effect.sleep(pause.value)
    })
}

/** The pause between two requests for a state that another side changes, which doubles with each request. */
export const pollDelay = ({ retryDelay }: Policy, questions: number): Duration.Duration =>
  Duration.millis(Math.min(Duration.toMillis(retryDelay) * 2 ** (questions - 1), Duration.toMillis(maxDelay)))

/** The name of a checksum algorithm in tus 1.0.0. */
type Algorithm = NonNullable<Options.RequestOptions["checksum"]>

const algorithms: { readonly [A in Algorithm]: Digest.Algorithm } = {
  sha1: Digest.sha1,
  sha256: Digest.sha256,
  sha384: Digest.sha384,
  sha512: Digest.sha512
}

/** Whether the server supports this algorithm. The request to the server is retried after a temporary failure. */
const isOffered = Effect.fnUntraced(function* <E>(upload: Upload<E>, algorithm: Algorithm) {
  const pauseAfter = retrying(upload)
  for (let failures = 1; ; failures++) {
    const found = yield* Effect.result(inTime(upload.policy.stallTimeout, Tus.discover(upload.target)))
    if (Result.isSuccess(found)) {
      const { checksumAlgorithms, extensions } = found.success
      return extensions.includes("checksum") && checksumAlgorithms.includes(algorithm)
    }
    yield* pauseAfter(failures, found.failure)
  }
})

/**
 * Reads a body, which has at most `chunkSize` bytes, into memory, and computes its checksum if the upload has checksums.
 * The bytes are read only once, because the source may change between two reads. If the platform cannot stream, the body
 * is an array, never a Blob: a `fetch` that does not know the class of the Blob would send the text `[object Blob]`.
 */
export const sealed = Effect.fnUntraced(function* <E>(body: Outgoing.Body, { checksum, streams }: Upload<E>) {
  const held = yield* Outgoing.inMemory(body.bytes)
  const bytes = streams ? { stream: Outgoing.inPieces(held), length: BigInt(held.length) } : held
  if (checksum === undefined) return { ...body, bytes }
  const digest = yield* Digests.digest(algorithms[checksum], held)
  return { ...body, bytes, checksum: `${checksum} ${Base64.encode(digest)}` }
})

/**
 * Whether this code runs in a page or in a worker of a browser. The HTML standard defines this value of `appCodeName`,
 * and no other runtime has it.
 */
const isPage = (): boolean =>
  typeof navigator === "object" && "appCodeName" in navigator && navigator.appCodeName === "Mozilla"

/**
 * Whether request bodies are streamed: true by default, except in a page or a worker of a browser. Without streaming, a
 * source is sent in slices. The first slice has at most 256 KiB. The slices grow up to `chunkSize` (8 MiB by default)
 * while a larger slice would take less than a second, or hardly longer than the last slice.
 *
 * **Details**
 *
 * By default, a page or a worker of a browser does not stream, for two reasons. Over HTTP/1.1, even browsers that
 * support streaming refuse a streamed body and report a broken connection. No browser reports how many bytes of a
 * streamed body were sent. In a page, set `CanStream` to `true` only if all browsers of its users support streaming,
 * and the server supports HTTP/2 or HTTP/3. On any other runtime whose HTTP client does not accept a stream as a
 * request body, set `CanStream` to `false`.
 *
 * @since 0.1.0
 * @category references
 */
export const CanStream = Context.Reference<boolean>("@assembly-effect/tus/CanStream", {
  defaultValue: () => !isPage()
})

type Making<E> = Effect.Effect<Upload<E>, RequestError | InvalidRequest, HttpClient.HttpClient>

/**
 * Makes the context. If the server does not offer the requested checksum algorithm, no checksums are sent. `header` is
 * the metadata as a header, if it is known.
 */
export const make = <E>({ emit, options, source, target }: Options.Given, store: StateStore<E>, header?: string) =>
  // Every small upload passes here, so this is no generator, whose memory would be a part of its cost.
  Effect.contextWith((context: Context.Context<HttpClient.HttpClient>): Making<E> => {
    const streams = Context.get(context, CanStream)
    const policy = policyOf(Context.get(context, RetryPolicy.RetryPolicy), options)
    const { checksum, chunkSize, metadata, parallel: concurrency = 1 } = options
    const encoded = header === undefined ? Options.metadataHeader(metadata) : Result.succeed(header)
    if (Result.isFailure(encoded)) {
      return Effect.fail(new InvalidRequest({ operation: "Upload", issues: encoded.failure }))
    }
    const shared = { target, source, metadataHeader: encoded.success, streams, concurrency, policy, emit, store }
    const plain = { ...shared, chunkSize, checksum: undefined }
    if (checksum === undefined) return Effect.succeed(plain)
    const checked = { ...shared, chunkSize: chunkSize ?? Outgoing.defaultSize, checksum }
    return Effect.map(isOffered(plain, checksum), (isThere) => (isThere ? checked : plain))
  })
