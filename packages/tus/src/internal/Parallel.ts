/**
 * One source in parts that are sent side by side, and put together at the end (spec.md, "Create a tus upload",
 * concatenation). Only the final file becomes an input of the Assembly.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { Replayable } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Concatenation from "./Concatenation.ts"
import * as Concat from "./Concat.ts"
import * as Creation from "./Creation.ts"
import type { Emit } from "./Events.ts"
import * as Outgoing from "./Outgoing.ts"
import * as Parts from "./Parts.ts"
import * as Receipts from "./Receipts.ts"
import type { Part } from "./Recorder.ts"
import * as Run from "./Run.ts"
import type * as Session from "./Session.ts"
import { inTime } from "./Timeout.ts"

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

/** Where a part is, if anybody knows: one whose creation was left is looked for once. */
const urlOf = <E>({ metadata, target }: Session.Session<E>, part: Part) => {
  switch (part._tag) {
    case "Planned":
      return Effect.undefined
    case "Created":
      return Effect.succeed(part.url)
    case "Creating":
      return Effect.map(
        Receipts.byMarker(target, part.marker, { metadata, size: part.end - part.start }),
        (receipt) => Option.getOrUndefined(receipt)?.url
      )
  }
}

/** Frees what the server stored of parts that nobody will put together; where it cannot in time, they expire. */
const abandon = <E>(session: Session.Session<E>, parts: ReadonlyArray<Part>) =>
  Effect.forEach(
    parts,
    (part) =>
      Effect.flatMap(urlOf(session, part), (url) => (url === undefined ? Effect.void : Tus.terminate(url))).pipe(
        Effect.timeout(session.policy.stallTimeout),
        Effect.ignore
      ),
    { concurrency: 8, discard: true }
  )

/** A part is no file, whatever its server has of it: nobody puts it together with the others. */
const ofPart = ({ problem }: TusError.UploadUntrusted) => new TusError.UploadUntrusted({ problem, mayBeWhole: false })

/** Who leaves does not want to wait. */
const farewell = Duration.seconds(1)

/**
 * Sends the parts, those that were begun earlier from where they are, and puts them together. `keep` leaves the parts
 * of an upload that failed, or was left, on the server, for a later resume.
 */
export const run = <E extends { readonly _tag: string }>(
  session: Session.Session<E>,
  source: Replayable,
  planned: ReadonlyArray<Part>,
  { concurrency, keep }: { readonly concurrency: number; readonly keep: boolean }
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    const { chunkSize, emit, metadata, policy, recorder, seal, streams, target } = session
    const ledger = Parts.ledger(planned, recorder)
    const emitOf = progressOf(planned, emit)
    const free = Effect.suspend(() => (keep ? Effect.void : abandon(session, ledger.parts())))

    const send = ({ end, start, state, url, verify }: Parts.Begun, index: number) => {
      const untrusted = (error: TusError.UploadUntrusted) => recorder.untrusted(ofPart(error))
      const outgoing = Outgoing.replayable(source, { start, end, chunkSize, streams })
      const job = { target, metadata, url, outgoing, seal, policy, emit: emitOf(index), verify, untrusted }
      return Run.toEnd(job, state).pipe(
        Effect.map(() => emit(UploadEvent.PartCompleted({ part: index, start, end }))),
        Effect.mapError((error) => (error instanceof TusError.UploadUntrusted ? ofPart(error) : error))
      )
    }

    const store = Effect.gen(function* () {
      if (planned.every(({ _tag }) => _tag === "Planned")) yield* checkOffered(session)
      // Each creation comes to its end, whatever becomes of the others: one that was left would not be known.
      const results = yield* Effect.forEach(
        planned,
        (part, index) => Effect.result(Parts.begin(session, ledger, part, index)),
        { concurrency }
      )
      const begun = yield* Effect.forEach(results, Effect.fromResult)
      const urls = begun.map(({ url }) => url)
      yield* checkDistinct(urls)
      // Before a byte is sent: it could never become one file.
      yield* Concat.check(urls)
      yield* Effect.forEach(begun, send, { concurrency, discard: true })
      // Told before it is written: who leaves at this event has not sent the request that cannot be repeated.
      emit(UploadEvent.Finishing({ total: source.size }))
      yield* Effect.yieldNow
      return urls
    }).pipe(
      Effect.tapCause(() => free),
      Effect.onInterrupt(() => Effect.timeoutOption(free, farewell))
    )

    return Effect.gen(function* () {
      const urls = yield* store
      const marker = yield* Creation.newMarker
      yield* recorder.concatenating(marker, urls)
      // From here on the parts may be a file, which is not ours to remove, until the server says that they are none.
      const created = yield* Concatenation.create(session, urls, marker, source.size).pipe(
        Effect.tapError((error) =>
          Creation.isRefusal(error) ? Effect.andThen(Effect.ignore(ledger.record), free) : Effect.void
        )
      )
      yield* Concatenation.finish(session, created, source.size)
    })
  })
