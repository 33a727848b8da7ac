/**
 * Uploads one source in parallel parts, and concatenates them (spec.md, "Create a tus upload", concatenation). The final
 * upload is created once. If the response to this creation does not report an offset that equals the length, the
 * response shows only that the server has started to concatenate. The client then requests the state of the final upload
 * until the server reports that it is complete.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CreationUnknown, ProtocolViolation, type UploadError, UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"
import type * as Context from "./context.ts"
import * as Creation from "./creation.ts"
import { type Emit, sums } from "./events.ts"
import { checkConcat, inTime, send } from "./requests.ts"
import { hostOf } from "./host.ts"
import * as Outgoing from "./outgoing.ts"
import * as Piece from "./piece.ts"
import * as Policy from "./policy.ts"
import * as Receipts from "./receipts.ts"
import * as Removal from "./removal.ts"
import type { Replayable } from "./source.ts"
import * as UploadState from "./uploadState.ts"

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
const look = <E>(upload: Context.Upload<E>, url: UploadUrl, length: bigint) =>
  Effect.gen(function* () {
    const found = yield* inTime(
      upload.policy.stallTimeout,
      send({
        request: "offset",
        url,
        headers: { "tus-resumable": TusUpload.tusVersion },
        read: FinalHeaders,
        told: Effect.succeed
      })
    )
    const { "upload-length": told, "upload-offset": offset } = found
    if (told === length && offset === length) return undefined
    const toError = (description: string) =>
      new ProtocolViolation({ request: "offset", host: hostOf(url), status: 200, description })
    const isDeferred = told === undefined && found["upload-defer-length"] !== undefined
    if (isDeferred || (told !== undefined && told !== length)) {
      const other = isDeferred ? "deferred" : `${told}`
      const description = `the parts have ${length} bytes, but the upload-length of the final upload is ${other}`
      return yield* new UploadUntrusted({
        host: hostOf(url),
        description: toError(description).message,
        mayBeWhole: true
      })
    }
    return toError(`upload-offset ${offset ?? "missing"}, upload-length ${told ?? "missing"}`)
  })

/** How often the server may report that it does not have a final upload, whose receipt may come late. */
const mostGone = 5

type Why = Pick<CreationUnknown, "description" | "cause">

const unknown = ({ target }: { readonly target: UploadTarget }, why: Why) =>
  new CreationUnknown({ host: hostOf(target.tusUrl), ...why })

/** Requests the state until the final upload is complete, for at most `finishTimeout`. */
const prove = <E>(
  upload: Context.Upload<E>,
  url: UploadUrl,
  length: bigint
): Effect.Effect<void, CreationUnknown | UploadUntrusted | E, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    const { emit, policy, store } = upload
    const pauseAfter = Policy.retrying(policy, emit)
    let why: Why = { description: "the server did not report the offset of the final upload" }
    const loop = Effect.gen(function* () {
      for (let asked = 1, failures = 0, gone = 0; ; asked++) {
        const looked = yield* Effect.result(look(upload, url, length))
        const error = Result.merge(looked)
        if (error === undefined) return
        // A server may remove the URL of a complete upload.
        if (error._tag === "UploadGone" && (yield* Receipts.isFinished(upload, url, length))) return
        if (error._tag === "UploadUntrusted") {
          yield* Effect.uninterruptible(store.update(UploadState.untrusted(error)))
          return yield* error
        }
        why = { description: error.message, cause: error }
        if (Result.isSuccess(looked) || (error._tag === "UploadGone" && ++gone < mostGone)) {
          const delay = Policy.pollDelay(policy, asked)
          const now = yield* Clock.currentTimeMillis
          emit(UploadEvent.Waiting({ reason: error.message, until: now + Duration.toMillis(delay) }))
          yield* Effect.sleep(delay)
        } else {
          yield* Effect.mapError(pauseAfter(++failures, error), () => unknown(upload, why))
        }
      }
    })
    return Budget.timeoutOrElse(loop, {
      duration: policy.finishTimeout,
      orElse: () => Effect.fail(unknown(upload, why))
    })
  })

/**
 * Adds the URL of the final upload to the state. If the response or a receipt shows that the final upload is complete,
 * the upload has completed, because no further request is necessary.
 */
const found =
  (length: bigint) =>
  ({ finished, url }: Creation.Created): UploadState.Change =>
    finished ? UploadState.completed(url, length) : UploadState.concatenated(url)

/**
 * Creates the final upload, and adds its URL to the state. After a lost response, the creation is not repeated, and the
 * final upload is searched for in the receipts. If the server refuses the creation, the state from before the creation
 * is restored.
 */
const concatenate = <E>(upload: Context.Upload<E>, parts: ReadonlyArray<UploadUrl>, length: bigint) =>
  Effect.gen(function* () {
    const { emit, store } = upload
    const marker = yield* Creation.newMarker
    const before = store.state()
    const sending = UploadState.concatenating(marker, parts, length)
    const isPart = (url: UploadUrl) => parts.some((part) => Redacted.value(part) === Redacted.value(url))
    const ledger: Creation.Ledger = {
      sending,
      refused: UploadState.replaced(before),
      created: (final) => (isPart(final.url) ? sending : found(length)(final))
    }
    const { url } = yield* Creation.once(upload, { parts, size: length, marker, ledger })
    if (isPart(url)) return yield* unknown(upload, { description: "the final upload has the Location of a part" })
    emit(UploadEvent.Created({ url, length }))
  })

/**
 * Performs the next step of a final upload. If its URL is known, this step requests the state until the final upload is
 * complete. The URL is unknown if an earlier run ended after it may have sent the creation. In this case the step
 * only searches for the final upload in the receipts, and adds its URL to the state.
 */
export const finish = <E>(upload: Context.Upload<E>, { length, marker, url }: UploadState.Of<"Concatenating">) => {
  if (url !== undefined)
    return Effect.andThen(prove(upload, url, length), upload.store.update(UploadState.completed(url, length)))
  return Creation.recover(upload, { marker, size: length }, Creation.ended).pipe(
    Effect.flatMap((created) => upload.store.update(found(length)(created)))
  )
}

/** Converts the events of one part to events of the whole upload. */
const emitOf = (parts: ReadonlyArray<UploadState.Part>, total: bigint, emit: Emit): ((index: number) => Emit) => {
  const sumOf = sums(parts.length)
  return (index) => (event) => {
    switch (event._tag) {
      case "Progress":
        return emit(UploadEvent.Progress({ ...sumOf(index, event), total }))
      case "Resumed":
        return emit(UploadEvent.Resumed({ offset: (parts[index]?.start ?? 0n) + event.offset }))
      case "Retrying":
        return emit(event)
      default:
    }
  }
}

/**
 * Fails if two parts have the same URL. Two parts with the same URL would mix their bytes, and the total length might
 * not show this error.
 */
const checkDistinct = ({ tusUrl }: UploadTarget, urls: ReadonlyArray<UploadUrl>) =>
  new Set(urls.map((url) => Redacted.value(url))).size === urls.length
    ? Effect.void
    : Effect.fail(
        new ProtocolViolation({
          request: "create",
          host: hostOf(tusUrl),
          status: 201,
          description: "two parts have the same Location"
        })
      )

/**
 * Sends every part until the server has stored it, and continues parts that an earlier process has started. Returns the
 * URLs of all parts.
 */
const store = <E>(upload: Context.Upload<E>, source: Replayable, parts: ReadonlyArray<UploadState.Part>) =>
  Effect.gen(function* () {
    const { concurrency, emit, streams, target } = upload
    const emitOfPart = emitOf(parts, source.size, emit)
    const planned = parts.map(({ end, piece, start }, index) => ({
      start,
      end,
      state: piece,
      piece: {
        ...upload,
        outgoing: Outgoing.replayable(source, { start, end, streams }),
        place: UploadState.part(index),
        isPart: true,
        emit: emitOfPart(index)
      }
    }))
    // A creation is not interrupted when another creation fails, because its part could then exist at an unknown URL.
    const results = yield* Effect.forEach(
      planned,
      (part) =>
        Piece.begin(part.piece, part.state).pipe(
          Effect.map((created) => ({ ...part, created })),
          Effect.result
        ),
      { concurrency }
    )
    const begun = yield* Effect.forEach(results, Effect.fromResult)
    const urls = begun.map(({ created }) => created.url)
    yield* checkDistinct(target, urls)
    // The URLs are checked before a byte is sent, because parts whose URLs are too long can never be concatenated.
    yield* checkConcat(target, urls)
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
export const run = <E>(
  upload: Context.Upload<E>,
  source: Replayable,
  { parts }: UploadState.Of<"Parts">
): Effect.Effect<void, UploadError | E, HttpClient.HttpClient> => {
  const work = Effect.flatMap(store(upload, source, parts), (urls) => concatenate(upload, urls, source.size))
  return upload.store.settle !== undefined ? work : Removal.unlessDone(work, upload)
}
