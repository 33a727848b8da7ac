/**
 * One source in parts that are sent side by side (spec.md, "Create a tus upload", concatenation).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { Replayable } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as UploadState from "../UploadState.ts"
import * as Concatenation from "./Concatenation.ts"
import * as Creation from "./Creation.ts"
import type { Emit } from "./Events.ts"
import * as Outgoing from "./Outgoing.ts"
import * as Piece from "./Piece.ts"
import { sums } from "./progress.ts"
import * as Removal from "./Removal.ts"
import type * as Session from "./Session.ts"
import { inTime } from "./Timeout.ts"

/** Tells what happens to a part as what happens to the whole. */
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

/** Whether the server says that it cannot put parts together. One that does not say what it offers may. */
const checkOffered = <E>({ policy, target }: Session.Session<E>) =>
  inTime("discover", policy.stallTimeout, Tus.discover(target)).pipe(
    Effect.map(({ extensions }) => extensions),
    // What was not answered says nothing: the final upload is proven anyway.
    Effect.orElseSucceed((): ReadonlyArray<string> => []),
    Effect.flatMap((offered) =>
      offered.length === 0 || offered.includes("concatenation")
        ? Effect.void
        : Effect.fail(new TusError.ExtensionMissing({ option: "parallel", extension: "concatenation", offered }))
    )
  )

/** Two parts at one URL would overwrite each other, and the length of the whole would not tell. */
const checkDistinct = (urls: ReadonlyArray<UploadUrl>) =>
  new Set(urls.map((url) => Redacted.value(url))).size === urls.length
    ? Effect.void
    : Effect.fail(
        new TusError.ProtocolViolation({ request: "create", status: 201, problem: "one Location for two parts" })
      )

/** Sends every part to its end, those that were begun earlier from where they are. Answers their URLs. */
const store = <E>(
  session: Session.Session<E>,
  source: Replayable,
  parts: ReadonlyArray<UploadState.Part>,
  concurrency: number
) =>
  Effect.gen(function* () {
    const { chunkSize, emit, streams } = session
    const emitOfPart = emitOf(parts, source.size, emit)
    const planned = parts.map(({ end, piece, start }, index) => ({
      start,
      end,
      piece,
      job: {
        session,
        source,
        outgoing: Outgoing.replayable(source, { start, end, chunkSize, streams }),
        place: UploadState.part(index),
        isPart: true,
        emit: emitOfPart(index)
      }
    }))
    if (parts.every(({ piece }) => piece._tag === "Planned")) yield* checkOffered(session)
    // Each creation comes to its end, whatever becomes of the others: one that was left would not be known.
    const results = yield* Effect.forEach(
      planned,
      (part) =>
        Piece.begin(part.job, part.piece).pipe(
          Effect.map((created) => ({ ...part, created })),
          Effect.result
        ),
      { concurrency }
    )
    const begun = yield* Effect.forEach(results, Effect.fromResult)
    const urls = begun.map(({ created }) => created.url)
    yield* checkDistinct(urls)
    // Before a byte is sent: it could never become one file.
    yield* Tus.checkConcat(urls)
    yield* Effect.forEach(
      begun,
      ({ created, end, job, start }, part) =>
        Effect.map(Piece.send(job, created), () => emit(UploadEvent.PartCompleted({ part, start, end }))),
      { concurrency, discard: true }
    )
    // Told before it is written: who leaves at this event has not sent the request that cannot be repeated.
    emit(UploadEvent.Finishing({ total: source.size }))
    yield* Effect.yieldNow
    return urls
  })

/** Who leaves does not want to wait. */
const farewell = Duration.seconds(1)

/**
 * Stores every part, and sends the final creation. Where no later run could go on with them, the parts of an upload that
 * failed, or was left, are removed from the server.
 */
export const run = <E extends { readonly _tag: string }>(
  session: Session.Session<E>,
  source: Replayable,
  { parts }: UploadState.Parts,
  concurrency: number
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const free = Effect.suspend(() => (session.store.isKept ? Effect.void : Removal.tryToRemove(session)))
    const urls = yield* store(session, source, parts, concurrency).pipe(
      Effect.tapCause(() => free),
      Effect.onInterrupt(() => Effect.timeoutOption(free, farewell))
    )
    // From here on the parts may be a file, which is not ours to remove, until the server says that they are none.
    yield* Concatenation.begin(session, urls, source.size).pipe(
      Effect.tapError((error) => (Creation.isRefusal(error) ? free : Effect.void))
    )
  })
