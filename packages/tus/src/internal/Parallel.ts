/**
 * One source in parts that are sent side by side, and put together at the end (spec.md, "Create a tus upload",
 * concatenation). Only the final file becomes an input of the Assembly.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as Transfer from "../Transfer.ts"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { Replayable } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Creation from "./Creation.ts"
import type { Emit } from "./Events.ts"
import * as Outgoing from "./Outgoing.ts"
import * as Receipts from "./Receipts.ts"
import type { Part } from "./Recorder.ts"
import * as Run from "./Run.ts"
import * as Session from "./Session.ts"

/** A part below this gains less by running beside others than its requests cost. */
const smallestPart = 1024n * 1024n

/** The ranges of so many parts, or fewer when the source is small. They cover the source, in order, without a gap. */
export const split = (size: bigint, count: number): ReadonlyArray<{ readonly start: bigint; readonly end: bigint }> => {
  const most = size / smallestPart
  const parts = most < 1n ? 1n : most < BigInt(count) ? most : BigInt(count)
  return Array.from({ length: Number(parts) }, (_, index) => ({
    start: (size * BigInt(index)) / parts,
    end: (size * BigInt(index + 1)) / parts
  }))
}

interface KnownPart extends Part {
  readonly url: UploadUrl
  readonly begun: Transfer.Transfer
  readonly verify: Run.Job["verify"]
}

/** What the parts have sent, all together. */
const progressOf = (parts: ReadonlyArray<Part>, emit: Emit): ((index: number) => Emit) => {
  const total = parts.at(-1)?.end ?? 0n
  const sent = parts.map(() => 0n)
  const acknowledged = parts.map(() => 0n)
  const sum = (numbers: ReadonlyArray<bigint>) => numbers.reduce((a, b) => a + b, 0n)
  return (index) => (event) => {
    switch (event._tag) {
      case "Progress":
        sent[index] = event.sent
        acknowledged[index] = event.acknowledged
        return emit(UploadEvent.Progress({ sent: sum(sent), acknowledged: sum(acknowledged), total }))
      case "Resumed":
        return emit(UploadEvent.Resumed({ offset: (parts[index]?.start ?? 0n) + event.offset }))
      case "Retrying":
        return emit(event)
      default:
    }
  }
}

/**
 * The upload of a part. One whose answer was lost may be made again, unlike a whole upload: what nobody puts into a
 * final one is no input of the Assembly.
 */
const createPart = <E>(session: Session.Session<E>, part: Part) =>
  Creation.create({
    target: session.target,
    creation: { _tag: "Fixed", length: part.end - part.start, metadata: session.metadata, partial: true },
    marker: part.marker,
    policy: session.policy,
    emit: session.emit
  })

/** Where a part of an earlier time is. The process may have ended before the answer came that told it. */
const findPart = <E>(
  { target }: Session.Session<E>,
  { marker, url }: Part
): Effect.Effect<UploadUrl | undefined, never, HttpClient.HttpClient> =>
  url === undefined
    ? Effect.map(Receipts.byMarker(target, marker), (found) => Option.getOrUndefined(found)?.url)
    : Effect.succeed(url)

const known = <E>(
  session: Session.Session<E>,
  part: Part,
  isReopened: boolean
): Effect.Effect<KnownPart, Creation.CreationError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const length = part.end - part.start
    const earlier = isReopened ? yield* findPart(session, part) : undefined
    if (earlier !== undefined) {
      const verify = Session.verifyMetadata(session.metadata, part.marker)
      return { ...part, url: earlier, begun: Transfer.reopened(length), verify }
    }
    const { offset, url } = yield* Effect.catchTag(createPart(session, part), "CreationUnknown", () =>
      createPart(session, part)
    )
    return { ...part, url, begun: Transfer.created({ offset, length }), verify: Session.trusted }
  })

/** Frees what the server stored of parts that nobody will put together; where it cannot, they expire. */
const abandon = <E>(session: Session.Session<E>, parts: ReadonlyArray<Part>) =>
  Effect.forEach(
    parts,
    ({ url }) =>
      url === undefined ? Effect.void : Effect.ignore(Effect.timeout(Tus.terminate(url), session.policy.stallTimeout)),
    { concurrency: 8, discard: true }
  )

/** The one final creation. It is never repeated: after a lost answer the receipts decide. */
const concatenate = <E>(session: Session.Session<E>, urls: ReadonlyArray<UploadUrl>, marker: string) =>
  Creation.create({
    target: session.target,
    creation: { _tag: "Final", parts: urls, metadata: session.metadata },
    marker,
    policy: session.policy,
    emit: session.emit
  }).pipe(
    Effect.catchTag("CreationUnknown", ({ problem }) => Effect.fail(new TusError.ConcatenationUnknown({ problem })))
  )

const finish = <E>(session: Session.Session<E>, urls: ReadonlyArray<UploadUrl>, length: bigint) =>
  Effect.gen(function* () {
    const { emit, recorder } = session
    const marker = yield* Creation.newMarker
    // Told before it is written: who leaves at this event has not sent the request that cannot be repeated.
    emit(UploadEvent.Finishing({ total: length }))
    yield* Effect.yieldNow
    yield* recorder.concatenating(marker, urls)
    const { url } = yield* concatenate(session, urls, marker)
    emit(UploadEvent.Created({ url, length }))
    emit(UploadEvent.Completed({ url, length }))
  })

/** New parts for a source. */
export const plan = (source: Replayable, count: number): Effect.Effect<ReadonlyArray<Part>> =>
  Effect.forEach(split(source.size, count), ({ end, start }) =>
    Effect.map(Creation.newMarker, (marker): Part => ({ marker, url: undefined, start, end }))
  )

/**
 * Sends the parts, those that were begun earlier from where they are, and puts them together. `keep` leaves the parts
 * of a failed upload on the server, for a later resume; `reopened` ones are of such an earlier upload.
 */
export const run = <E>(
  session: Session.Session<E>,
  source: Replayable,
  planned: ReadonlyArray<Part>,
  options: { readonly concurrency: number; readonly keep: boolean; readonly reopened?: boolean | undefined }
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    const { chunkSize, emit, policy, recorder, seal, streams, target } = session
    const { concurrency, keep, reopened = false } = options
    let parts: ReadonlyArray<Part> = planned
    // One write at a time, each of what is known then: a late one must not undo a newer one.
    const recording = Semaphore.makeUnsafe(1)
    const record = recording.withPermits(1)(Effect.suspend(() => recorder.parts(parts)))
    const emitOf = progressOf(planned, emit)

    const send = (part: KnownPart, index: number) => {
      const outgoing = Outgoing.replayable(source, { start: part.start, end: part.end, chunkSize, streams })
      const job: Run.Job = { target, url: part.url, outgoing, seal, policy, emit: emitOf(index), verify: part.verify }
      return Effect.tap(Run.toEnd(job, part.begun), () =>
        Effect.sync(() => emit(UploadEvent.PartCompleted({ part: index, start: part.start, end: part.end })))
      )
    }

    return Effect.gen(function* () {
      yield* record
      const begun = yield* Effect.forEach(
        planned,
        (part, index) =>
          Effect.tap(known(session, part, reopened), ({ url }) => {
            parts = parts.map((other, at) => (at === index ? { ...other, url } : other))
            return record
          }),
        { concurrency }
      )
      const urls = begun.map(({ url }) => url)
      // Before a byte is sent: it could never become one file.
      yield* Tus.checkConcat(urls)
      yield* Effect.forEach(begun, send, { concurrency, discard: true })
      yield* finish(session, urls, source.size)
    }).pipe(
      Effect.onExit((exit) =>
        Exit.isFailure(exit) && !keep && !mayBeWhole(exit) ? abandon(session, parts) : Effect.void
      )
    )
  })

/** Whether the parts may be a file by now: then they are not ours to remove. */
const mayBeWhole = (exit: Exit.Exit<void, { readonly _tag: string } | unknown>): boolean =>
  Option.match(Exit.findErrorOption(exit), {
    onNone: () => true,
    onSome: (error) =>
      typeof error === "object" && error !== null && "_tag" in error && error._tag === "ConcatenationUnknown"
  })

/** The final creation of an earlier time may have been sent: only the receipts tell. */
export const recoverFinal = <E>(
  session: Session.Session<E>,
  marker: string,
  length: bigint
): Effect.Effect<void, TusError.ConcatenationUnknown, HttpClient.HttpClient> =>
  Creation.recover(session.target, marker, session.policy, "the process ended before it came").pipe(
    Effect.mapError(({ problem }) => new TusError.ConcatenationUnknown({ problem })),
    Effect.map(({ url }) => session.emit(UploadEvent.Completed({ url, length })))
  )
