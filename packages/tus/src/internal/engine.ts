/**
 * The engine of all uploads: selects the next step from the state and performs it, until all bytes are stored. Uploads
 * with and without a journal, and durable uploads, differ only in the store of the state.
 *
 * A source is uploaded at one URL, or in parallel parts, which are concatenated (spec.md, "Create a tus upload",
 * concatenation). The final upload of the parts is created once. If the response to this creation does not report an
 * offset that equals the length, the response shows only that the server has started to concatenate. The client then
 * requests the state of the final upload until the server reports that it is complete.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Unique from "@assembly-effect/auth/unstable/Unique"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Tus from "../Tus.ts"
import { ProtocolViolation, type UploadError, UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Context from "./context.ts"
import * as Creation from "./creation.ts"
import { type Emit, paced, sums } from "./events.ts"
import * as Options from "./options.ts"
import * as Outgoing from "./outgoing.ts"
import * as Piece from "./piece.ts"
import { concat, hostOf, inTime, sendOffset } from "./requests.ts"
import type { Replayable } from "./source.ts"
import { observe } from "./telemetry.ts"
import * as UploadState from "./uploadState.ts"

/**
 * Terminates each orphan. A completed upload is a file of the Assembly, and so may be the parts of an upload whose
 * creation of the final upload may have been sent. An upload at an unknown URL expires on the server.
 */
const eachOrphan = <E>(
  state: UploadState.UploadState,
  terminate: (url: UploadUrl) => Effect.Effect<void, E, HttpClient.HttpClient>
) =>
  Effect.forEach(
    state._tag === "Completed" || state._tag === "Concatenating" ? [] : UploadState.urlsOf(state),
    terminate,
    { concurrency: 8, discard: true }
  )

/** Removes the orphans of an upload. An orphan that is already gone counts as removed. */
export const remove = (state: UploadState.UploadState, { stallTimeout }: Context.Policy) =>
  eachOrphan(state, (url) => Effect.catchTag(inTime(stallTimeout, Tus.terminate(url)), "UploadGone", () => Effect.void))

/**
 * If the work of an upload fails or is interrupted, the orphans of its upload are removed. A failure and an interruption
 * wait for the removal only for a limited time.
 */
const unlessDone = <A, E, R, S>(work: Effect.Effect<A, E, R>, { store }: Context.Upload<S>) => {
  // Failures are ignored: orphans that remain stay on the server until they expire.
  const free = Effect.suspend(() => eachOrphan(store.state(), (url) => Effect.option(Tus.terminate(url))))
  return work.pipe(
    Effect.tapCause(() => Effect.timeoutOption(free, "5 seconds")),
    Effect.onInterrupt(() => Effect.timeoutOption(free, "1 second"))
  )
}

/**
 * The response to HEAD of a final upload. A server should omit `Upload-Offset` until the upload is complete. This rule
 * is from tus 1.0.0, and is not in the specification of the service.
 */
const FinalHeaders = Schema.Struct({
  ...TusUpload.OffsetHeaders.fields,
  "upload-offset": Schema.optionalKey(TusUpload.Offset)
})

/**
 * Requests the state of a final upload. Returns undefined if the upload is complete, and otherwise why it is not known to
 * be complete. Fails with `UploadUntrusted` if the reported length is deferred, or is not the total length of the parts:
 * the server may treat the final upload as a complete file of that length.
 */
const look = Effect.fnUntraced(function* <E>(upload: Context.Upload<E>, url: UploadUrl, length: bigint) {
  const found = yield* inTime(upload.policy.stallTimeout, sendOffset(url, FinalHeaders))
  const { "upload-length": told, "upload-offset": offset } = found
  if (told === length && offset === length) return undefined
  const host = hostOf(url)
  const toError = (description: string) => new ProtocolViolation({ request: "offset", host, status: 200, description })
  const other = told ?? (found["upload-defer-length"] && "deferred")
  if (other !== undefined && other !== length) {
    const violation = toError(`the parts have ${length} bytes, but the upload-length of the final upload is ${other}`)
    return yield* new UploadUntrusted({ host, description: violation.message, mayBeWhole: true })
  }
  return toError(`upload-offset ${offset ?? "missing"}, upload-length ${told ?? "missing"}`)
})

/** How often the server may report that it does not have a final upload, whose receipt may come late. */
const mostGone = 5

/** Requests the state until the final upload is complete, for at most `finishTimeout`. */
const prove = Effect.fnUntraced(function* <E>(upload: Context.Upload<E>, url: UploadUrl, length: bigint) {
  const { emit, policy, store } = upload
  const pauseAfter = Context.retrying(upload)
  let why: Creation.Why = { description: "the server did not report the offset of the final upload" }
  const loop = Effect.gen(function* () {
    for (let asked = 1, failures = 0, gone = 0; ; asked++) {
      const looked = yield* Effect.result(look(upload, url, length))
      const error = Result.merge(looked)
      if (error === undefined) return
      // A server may remove the URL of a complete upload.
      if (error._tag === "UploadGone" && (yield* Creation.isFinished(upload, url, length))) return
      if (error._tag === "UploadUntrusted") {
        yield* Effect.uninterruptible(store.update(UploadState.untrusted(error)))
        return yield* error
      }
      why = { description: error.message, cause: error }
      if (Result.isSuccess(looked) || (error._tag === "UploadGone" && ++gone < mostGone)) {
        const delay = Context.pollDelay(policy, asked)
        const now = yield* Clock.currentTimeMillis
        emit(UploadEvent.Waiting({ reason: error.message, until: now + Duration.toMillis(delay) }))
        yield* Effect.sleep(delay)
      } else {
        yield* Effect.mapError(pauseAfter(++failures, error), () => Creation.unknown(upload, why))
      }
    }
  })
  yield* Budget.timeoutOrElse(loop, {
    duration: policy.finishTimeout,
    orElse: () => Effect.fail(Creation.unknown(upload, why))
  })
})

/**
 * Adds the URL of the final upload to the state. If the response or a receipt shows that the final upload is complete,
 * the upload has completed, because no further request is necessary.
 */
const found = ({ finished, url }: Creation.Created, length: bigint): UploadState.Change =>
  finished ? UploadState.completed(url, length) : UploadState.concatenated(url)

/**
 * Creates the final upload, and adds its URL to the state. After a lost response, the creation is not repeated, and the
 * final upload is searched for in the receipts. If the server refuses the creation, the state from before the creation
 * is restored.
 */
const concatenate = <E>(upload: Context.Upload<E>, parts: ReadonlyArray<UploadUrl>, length: bigint) =>
  Effect.gen(function* () {
    const { emit, store } = upload
    const marker = yield* Unique.text
    const before = store.state()
    const sending = UploadState.concatenating(marker, parts, length)
    const isPart = (url: UploadUrl) => parts.some((part) => Redacted.value(part) === Redacted.value(url))
    const { url } = yield* Creation.once(upload, {
      parts,
      size: length,
      marker,
      sending,
      refused: UploadState.replaced(before),
      created: (final) => (isPart(final.url) ? sending : found(final, length))
    })
    if (isPart(url))
      return yield* Creation.unknown(upload, { description: "the final upload has the Location of a part" })
    emit(UploadEvent.Created({ url, length }))
  })

/**
 * Performs the next step of a final upload. If its URL is known, this step requests the state until the final upload is
 * complete. The URL is unknown if an earlier run ended after it may have sent the creation. In this case the step
 * only searches for the final upload in the receipts, and adds its URL to the state.
 */
const finish = <E>(upload: Context.Upload<E>, { length, marker, url }: UploadState.Of<"Concatenating">) =>
  url === undefined
    ? Effect.flatMap(Creation.recover(upload, { marker, size: length }), (created) =>
        upload.store.update(found(created, length))
      )
    : Effect.andThen(prove(upload, url, length), upload.store.update(UploadState.completed(url, length)))

/** Converts the events of one part to events of the whole upload. */
const emitOf = (parts: ReadonlyArray<UploadState.Part>, total: bigint, emit: Emit): ((index: number) => Emit) => {
  const sumOf = sums(parts.length)
  return (index) => (event) => {
    if (event._tag === "Progress") emit(UploadEvent.Progress({ ...sumOf(index, event), total }))
    if (event._tag === "Resumed") emit(UploadEvent.Resumed({ offset: (parts[index]?.start ?? 0n) + event.offset }))
    if (event._tag === "Retrying") emit(event)
  }
}

/** The maximum length of the header `upload-concat` (spec.md, "Limits"). */
const longest = 8192

/**
 * Sends every part until the server has stored it, and continues parts that an earlier process has started. Returns the
 * URLs of all parts.
 */
const storeParts = <E>(upload: Context.Upload<E>, source: Replayable, parts: ReadonlyArray<UploadState.Part>) =>
  Effect.gen(function* () {
    const { concurrency, emit, target } = upload
    const emitOfPart = emitOf(parts, source.size, emit)
    // A creation is not interrupted when another creation fails, because its part could then exist at an unknown URL.
    const results = yield* Effect.forEach(
      parts,
      ({ end, piece: state, start }, index) => {
        const outgoing = Outgoing.replayable(source, start, end)
        const piece = { ...upload, outgoing, place: UploadState.part(index), isPart: true, emit: emitOfPart(index) }
        return Effect.result(Effect.map(Piece.begin(piece, state), (created) => ({ start, end, piece, created })))
      },
      { concurrency }
    )
    const begun = yield* Effect.forEach(results, Effect.fromResult)
    const urls = begun.map(({ created }) => created.url)
    // Two parts with the same URL would mix their bytes, and the total length might not show this error.
    if (new Set(urls.map((url) => Redacted.value(url))).size < urls.length) {
      const description = "two parts have the same Location"
      return yield* new ProtocolViolation({ request: "create", host: hostOf(target.tusUrl), status: 201, description })
    }
    // The URLs are checked before a byte is sent, because parts whose URLs are too long can never be concatenated.
    const { length } = concat(target, urls)
    const tooLong = `Expected at most ${longest} characters of upload URLs, got ${length} for ${urls.length} parts`
    yield* Options.refuse("Tus.create", Options.broken(length > longest, ["upload-concat"], tooLong))
    yield* Effect.forEach(
      begun,
      ({ created, end, piece, start }, part) =>
        Effect.map(Piece.finish(piece, created), () => emit(UploadEvent.PartCompleted({ part, start, end }))),
      { concurrency, discard: true }
    )
    // `Finishing` is emitted before the state changes to `Concatenating`, so that an interruption at this event is
    // safe.
    emit(UploadEvent.Finishing({ total: source.size }))
    yield* Effect.yieldNow
    return urls
  })

/**
 * Sends every part, and then the creation of the final upload. After a failure or an interruption, the parts are
 * removed from the server, unless a later run can continue them, or the server may already have concatenated them.
 */
const runParts = <E>(upload: Context.Upload<E>, source: Replayable, { parts }: UploadState.Of<"Parts">) => {
  const work = Effect.flatMap(storeParts(upload, source, parts), (urls) => concatenate(upload, urls, source.size))
  return upload.store.settle !== undefined ? work : unlessDone(work, upload)
}

/** Creates the upload of the whole source, or finds it, and sends its bytes. */
const sendWhole = <E>(upload: Context.Upload<E>, state: UploadState.Piece) => {
  const { chunkSize = Outgoing.defaultSize, source, store } = upload
  const sendFrom = (outgoing: Outgoing.Outgoing) => {
    const piece = { ...upload, outgoing, place: UploadState.whole, isPart: false }
    return Effect.flatMap(Piece.begin(piece, state), (created) =>
      Effect.flatMap(Piece.finish(piece, created), (length) => store.update(UploadState.completed(created.url, length)))
    )
  }
  return source._tag === "OneShot"
    ? Effect.scoped(Effect.flatMap(Outgoing.oneShot(source, chunkSize), sendFrom))
    : sendFrom(Outgoing.replayable(source, 0n, source.size))
}

/**
 * The result of an upload that has ended. Fails with `UploadUntrusted` if its bytes are untrusted. Sends no request.
 */
export const ended = (
  { emit, target }: Pick<Options.Given, "emit" | "target">,
  state: UploadState.Of<"Completed" | "Untrusted">
): Effect.Effect<UploadEvent.UploadResult, UploadUntrusted> =>
  Effect.suspend(() => {
    if (state._tag === "Untrusted") {
      const { mayBeWhole, description } = state
      return Effect.fail(new UploadUntrusted({ host: hostOf(target.tusUrl), description, mayBeWhole }))
    }
    const { length, url } = state
    emit(UploadEvent.Completed({ url, length }))
    return Effect.succeed({ url, length })
  })

/** Performs all steps until the upload has completed. */
export const perform = <E extends { readonly _tag: string }>(upload: Context.Upload<E>) => {
  const { source, store } = upload
  const next = (): Effect.Effect<UploadEvent.UploadResult, UploadError | E, HttpClient.HttpClient> => {
    const state = store.state()
    switch (state._tag) {
      case "Completed":
      case "Untrusted":
        return ended(upload, state)
      case "Parts":
        return Effect.flatMap(Options.replayable(source), (again) =>
          Effect.flatMap(runParts(upload, again, state), next)
        )
      case "Concatenating":
        return Effect.flatMap(finish(upload, state), next)
      default:
        return Effect.flatMap(sendWhole(upload, state), next)
    }
  }
  return Effect.tapError(Effect.suspend(next), ({ _tag }) =>
    _tag === "UploadGone" ? Effect.option(store.update(UploadState.replaced(UploadState.planned))) : Effect.void
  )
}

/** Checks the options, and runs an upload within its span. */
export const observed = <E extends { readonly _tag: string }, R>(
  { emit, options, source }: Omit<Options.Given<Partial<Options.Options>>, "target">,
  isReplayed: boolean,
  program: (emit: Emit, header: string | undefined) => Effect.Effect<UploadEvent.UploadResult, E, R>
) =>
  observe(source, emit, (tell, clock) =>
    Effect.flatMap(Options.check(source, options, isReplayed), (header) => {
      const calm = paced(tell, options.progressInterval, clock)
      return Budget.telling(program(calm, header), {
        waits: (waiting) => Effect.sync(() => calm(UploadEvent.Waiting(waiting)))
      })
    })
  )

/**
 * - `existing`: the upload that the server already has, if it is not a new upload.
 * - `isTerminated`: whether an upload that failed or was interrupted is removed from the server.
 */
interface Beginning {
  readonly existing?: UploadState.Of<"Created">
  readonly isTerminated?: boolean
}

const start = (given: Options.Given, { existing, isTerminated = false }: Beginning, header?: string) => {
  const { options, source } = given
  const store = UploadState.forgetful(existing ?? UploadState.inParts(source.size, options.parallel))
  return Effect.flatMap(Context.make(given, store, header), (upload) =>
    isTerminated ? unlessDone(perform(upload), upload) : perform(upload)
  )
}

/** Runs an upload whose state is only in memory. */
export const run = (given: Options.Given, beginning: Beginning = {}) =>
  observed(given, false, (emit, header) => start({ ...given, emit }, beginning, header))

/** Runs an upload of a job, whose options were checked with those of the job. */
export const runFile = (given: Options.Given) =>
  observe(given.source, given.emit, (emit) => start({ ...given, emit }, {}))
