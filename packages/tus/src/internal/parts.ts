/**
 * Uploads one source in parallel parts (spec.md, "Create a tus upload", concatenation).
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { Replayable } from "./source.ts"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"
import * as UploadState from "./uploadState.ts"
import * as Concat from "./concat.ts"
import * as Concatenation from "./concatenation.ts"
import { type Emit, sums } from "./events.ts"
import { hostOf } from "./host.ts"
import * as Outgoing from "./outgoing.ts"
import * as Piece from "./piece.ts"
import * as Removal from "./removal.ts"
import type * as Context from "./context.ts"

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
        new TusError.ProtocolViolation({
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
    yield* Concat.check(target, urls)
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
  { parts }: UploadState.Parts
): Effect.Effect<void, TusError.UploadError | E, HttpClient.HttpClient> => {
  const work = Effect.flatMap(store(upload, source, parts), (urls) => Concatenation.begin(upload, urls, source.size))
  return upload.store.settle !== undefined ? work : Removal.unlessDone(work, upload)
}
