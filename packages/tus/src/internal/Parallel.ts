/**
 * One source in parts that are sent side by side, and put together at the end (spec.md, "Create a tus upload",
 * concatenation). Only the final file becomes an input of the Assembly.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { Replayable } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Creation from "./Creation.ts"
import type { Emit } from "./Events.ts"
import * as Outgoing from "./Outgoing.ts"
import * as Parts from "./Parts.ts"
import type { Part } from "./Recorder.ts"
import * as Run from "./Run.ts"
import type * as Session from "./Session.ts"

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

/** Frees what the server stored of parts that nobody will put together; where it cannot, they expire. */
const abandon = <E>(session: Session.Session<E>, parts: ReadonlyArray<Part>) =>
  Effect.forEach(
    parts,
    (part) =>
      part._tag === "Created"
        ? Effect.ignore(Effect.timeout(Tus.terminate(part.url), session.policy.stallTimeout))
        : Effect.void,
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

const finish = <E>(
  session: Session.Session<E>,
  ledger: Parts.Ledger<E>,
  urls: ReadonlyArray<UploadUrl>,
  length: bigint
) =>
  Effect.gen(function* () {
    const { emit, recorder } = session
    const marker = yield* Creation.newMarker
    // Told before it is written: who leaves at this event has not sent the request that cannot be repeated.
    emit(UploadEvent.Finishing({ total: length }))
    yield* Effect.yieldNow
    yield* recorder.concatenating(marker, urls)
    const { url } = yield* concatenate(session, urls, marker).pipe(
      // The parts are still parts, and may be put together later.
      Effect.tapError((error) => (Creation.isRefusal(error) ? Effect.ignore(ledger.record) : Effect.void))
    )
    emit(UploadEvent.Created({ url, length }))
    emit(UploadEvent.Completed({ url, length }))
  })

/**
 * Sends the parts, those that were begun earlier from where they are, and puts them together. `keep` leaves the parts
 * of a failed upload on the server, for a later resume.
 */
export const run = <E extends { readonly _tag: string }>(
  session: Session.Session<E>,
  source: Replayable,
  planned: ReadonlyArray<Part>,
  { concurrency, keep }: { readonly concurrency: number; readonly keep: boolean }
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    const { chunkSize, emit, policy, recorder, seal, streams, target } = session
    const ledger = Parts.ledger(planned, recorder)
    const emitOf = progressOf(planned, emit)

    const send = ({ end, start, state, url, verify }: Parts.Begun, index: number) => {
      const { untrusted } = recorder
      const outgoing = Outgoing.replayable(source, { start, end, chunkSize, streams })
      return Effect.map(
        Run.toEnd({ target, url, outgoing, seal, policy, emit: emitOf(index), verify, untrusted }, state),
        () => emit(UploadEvent.PartCompleted({ part: index, start, end }))
      )
    }

    return Effect.gen(function* () {
      // Each creation comes to its end, whatever becomes of the others: one that was left would not be known.
      const results = yield* Effect.forEach(
        planned,
        (part, index) => Effect.result(Parts.begin(session, ledger, part, index)),
        { concurrency }
      )
      const begun = yield* Effect.forEach(results, Effect.fromResult)
      const urls = begun.map(({ url }) => url)
      // Before a byte is sent: it could never become one file.
      yield* Tus.checkConcat(urls)
      yield* Effect.forEach(begun, send, { concurrency, discard: true })
      yield* finish(session, ledger, urls, source.size)
    }).pipe(
      // Parts that may be a file by now are not ours to remove.
      Effect.tapError(({ _tag }) =>
        keep || _tag === "ConcatenationUnknown" ? Effect.void : abandon(session, ledger.parts())
      )
    )
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
