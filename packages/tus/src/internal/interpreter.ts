/**
 * Runs an upload: selects the next step from the state and performs it, until all bytes are stored.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import { UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import { SourceFailed, type UploadSource } from "../UploadSource.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import * as UploadState from "../UploadState.ts"
import * as Concatenation from "./concatenation.ts"
import type { Emit } from "./events.ts"
import { hostOf } from "./host.ts"
import { ignored } from "./ignored.ts"
import * as Outgoing from "./outgoing.ts"
import * as Parts from "./parts.ts"
import * as Piece from "./piece.ts"
import type * as Session from "./session.ts"
import * as Window from "./window.ts"

/** Divides the bytes of a source into the bodies of requests. */
const toOutgoing = (
  source: UploadSource,
  { chunkSize, streams }: Session.Session<unknown>
): Effect.Effect<Outgoing.Outgoing, SourceFailed, Scope.Scope> =>
  source._tag === "OneShot"
    ? Outgoing.oneShot(source, { windowSize: chunkSize ?? Window.defaultSize, streams })
    : Effect.succeed(Outgoing.replayable(source, { start: 0n, end: source.size, chunkSize, streams }))

/** The dependencies of a running upload. */
export interface Work<E> {
  readonly session: Session.Session<E>
  readonly source: UploadSource
  /** The number of parts that are sent in parallel. */
  readonly concurrency: number
}

/** The job of an upload without parts: one piece, which contains the whole source and has one URL. */
const wholeOf = <E>({ session, source }: Work<E>): Effect.Effect<Piece.Job<E>, SourceFailed, Scope.Scope> =>
  Effect.map(toOutgoing(source, session), (outgoing) => ({
    session,
    source,
    outgoing,
    place: UploadState.whole,
    isPart: false,
    emit: session.emit
  }))

/**
 * Creates the upload of the whole source with this marker, or finds the upload if its creation may have been sent. Does
 * not send the remaining bytes.
 */
export const begin = <E>(work: Work<E>, piece: UploadState.Planned | UploadState.Creating, marker: string) =>
  Effect.flatMap(wholeOf(work), (job) => Piece.begin(job, piece, Effect.succeed(marker)))

/** Creates the upload of the whole source, or finds it, and sends its bytes. */
const sendWhole = <E>(work: Work<E>, piece: UploadState.Piece) =>
  Effect.gen(function* () {
    const job = yield* wholeOf(work)
    const created = yield* Piece.begin(job, piece)
    const length = yield* Piece.send(job, created)
    yield* work.session.store.update(UploadState.completed(created.url, length))
  })

type StepError<E> = Session.UploadError | E
type StepServices = HttpClient.HttpClient | Scope.Scope

/**
 * Emits `Completed` if the upload has completed, and fails with `UploadUntrusted` if its bytes are untrusted. Sends no
 * request.
 */
export const ended = (
  { emit, target }: { readonly emit: Emit; readonly target: UploadTarget },
  state: UploadState.Ended
): Effect.Effect<void, UploadUntrusted> => {
  if (state._tag === "Completed") {
    const { length, url } = state
    return Effect.sync(() => emit(UploadEvent.Completed({ url, length })))
  }
  const { mayBeWhole, description } = state
  return Effect.fail(new UploadUntrusted({ host: hostOf(target.tusUrl), description, mayBeWhole }))
}

/** Performs the step that the state determines, and stores the new state. */
const step = <E extends { readonly _tag: string }>(
  work: Work<E>,
  state: UploadState.Unfinished
): Effect.Effect<void, StepError<E>, StepServices> => {
  const { concurrency, session, source } = work
  switch (state._tag) {
    case "Planned":
    case "Creating":
    case "Created":
      return sendWhole(work, state)
    case "Parts":
      return source._tag === "OneShot"
        ? Effect.fail(
            new SourceFailed({
              kind: "NotReplayable",
              description: "a one-shot stream cannot be read in parallel parts"
            })
          )
        : Parts.run(session, source, state, concurrency)
    case "Concatenating":
      return Concatenation.finish(session, state)
  }
}

/** Performs all steps until the upload has completed. */
export const run = <E extends { readonly _tag: string }>(
  work: Work<E>
): Effect.Effect<void, StepError<E>, StepServices> =>
  Effect.gen(function* () {
    const { session } = work
    const { store } = session
    for (;;) {
      const state = store.state()
      if (UploadState.isEnded(state)) return yield* ended(session, state)
      yield* step(work, state)
    }
  }).pipe(
    Effect.tapError((error) =>
      error._tag === "UploadGone" ? ignored(work.session.store.update(UploadState.gone)) : Effect.void
    )
  )
