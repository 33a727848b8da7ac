/**
 * The engine of all uploads: selects the next step from the state and performs it, until all bytes are stored. Uploads
 * with and without a journal, and durable uploads, differ only in the store of the state.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import { type UploadError, UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type * as Context from "./context.ts"
import * as Concatenation from "./concatenation.ts"
import type { Emit } from "./events.ts"
import { hostOf } from "./host.ts"
import { ignored } from "./ignored.ts"
import * as Outgoing from "./outgoing.ts"
import * as Parts from "./parts.ts"
import * as Piece from "./piece.ts"
import { SourceFailed } from "./sourceFailed.ts"
import * as UploadState from "./uploadState.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import * as Window from "./window.ts"

/** The piece of an upload without parts, which contains the whole source. */
const wholeOf = <E>(upload: Context.Upload<E>): Effect.Effect<Piece.Piece<E>, SourceFailed, Scope.Scope> => {
  const { chunkSize: windowSize = Window.defaultSize, source, streams } = upload
  const outgoing =
    source._tag === "OneShot"
      ? Outgoing.oneShot(source, { windowSize, streams })
      : Effect.succeed(Outgoing.replayable(source, { start: 0n, end: source.size, streams }))
  return Effect.map(outgoing, (made) => ({ ...upload, outgoing: made, place: UploadState.whole, isPart: false }))
}

/** Creates the upload of the whole source, or finds it, and sends its bytes. */
const sendWhole = <E>(upload: Context.Upload<E>, state: UploadState.Piece) =>
  Effect.gen(function* () {
    const piece = yield* wholeOf(upload)
    const created = yield* Piece.begin(piece, state)
    const length = yield* Piece.finish(piece, created)
    yield* upload.store.update(UploadState.completed(created.url, length))
  })

type StepError<E> = UploadError | E
type StepServices = HttpClient.HttpClient | Scope.Scope

/**
 * The result of an upload that has ended. Fails with `UploadUntrusted` if its bytes are untrusted. Sends no request.
 */
export const ended = (
  { emit, target }: { readonly emit: Emit; readonly target: UploadTarget },
  state: UploadState.Completed | UploadState.Untrusted
): Effect.Effect<UploadEvent.UploadResult, UploadUntrusted> => {
  if (state._tag === "Untrusted") {
    const { mayBeWhole, description } = state
    return Effect.fail(new UploadUntrusted({ host: hostOf(target.tusUrl), description, mayBeWhole }))
  }
  const { length, url } = state
  return Effect.sync(() => {
    emit(UploadEvent.Completed({ url, length }))
    return { url, length }
  })
}

/** Performs all steps until the upload has completed. */
export const run = <E extends { readonly _tag: string }>(
  upload: Context.Upload<E>
): Effect.Effect<UploadEvent.UploadResult, StepError<E>, StepServices> =>
  Effect.gen(function* () {
    const { source, store } = upload
    for (;;) {
      const state = store.state()
      switch (state._tag) {
        case "Planned":
        case "Creating":
        case "Created":
          yield* sendWhole(upload, state)
          break
        case "Parts":
          yield* source._tag === "OneShot"
            ? new SourceFailed({
                kind: "NotReplayable",
                description: "a one-shot stream cannot be read in parallel parts"
              })
            : Parts.run(upload, source, state)
          break
        case "Concatenating":
          yield* Concatenation.finish(upload, state)
          break
        case "Completed":
        case "Untrusted":
          return yield* ended(upload, state)
      }
    }
  }).pipe(
    Effect.tapError((error) =>
      error._tag === "UploadGone"
        ? ignored(upload.store.update(UploadState.replaced(UploadState.planned)))
        : Effect.void
    )
  )
