/**
 * The engine of all uploads: selects the next step from the state and performs it, until all bytes are stored. Uploads
 * with and without a journal, and durable uploads, differ only in the store of the state.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Duration from "effect/Duration"
import type * as Scope from "effect/Scope"
import { type UploadError, UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import * as Context from "./context.ts"
import { type Emit, paced } from "./events.ts"
import { hostOf } from "./host.ts"
import { ignored } from "./ignored.ts"
import * as Options from "./options.ts"
import * as Outgoing from "./outgoing.ts"
import * as Parts from "./parts.ts"
import * as Piece from "./piece.ts"
import * as Removal from "./removal.ts"
import type { UploadSource } from "./source.ts"
import * as Telemetry from "./telemetry.ts"
import * as UploadState from "./uploadState.ts"
import type { UploadTarget } from "../UploadTarget.ts"

/** Creates the upload of the whole source, or finds it, and sends its bytes. */
const sendWhole = <E>(upload: Context.Upload<E>, state: UploadState.Piece) =>
  Effect.gen(function* () {
    const { chunkSize: windowSize = Outgoing.defaultSize, source, streams } = upload
    const outgoing =
      source._tag === "OneShot"
        ? yield* Outgoing.oneShot(source, { windowSize, streams })
        : Outgoing.replayable(source, { start: 0n, end: source.size, streams })
    const piece = { ...upload, outgoing, place: UploadState.whole, isPart: false }
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
export const perform = <E extends { readonly _tag: string }>(
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
          yield* Parts.run(upload, yield* Options.replayable(source), state)
          break
        case "Concatenating":
          yield* Parts.finish(upload, state)
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

interface PlainOptions extends Options.UploadOptions {
  readonly progressInterval?: Duration.Input | undefined
}

/** Checks the options, and runs an upload within its span and its scope. */
export const observed = <E extends { readonly _tag: string }, R>(
  source: UploadSource,
  options: Partial<PlainOptions>,
  isReplayed: boolean,
  emit: Emit,
  program: (emit: Emit, header: string | undefined) => Effect.Effect<UploadEvent.UploadResult, E, R>
) =>
  Telemetry.observe(source, emit, (tell) =>
    Options.check(source, options, isReplayed).pipe(
      Effect.flatMap((header) =>
        Effect.flatMap(paced(tell, options.progressInterval), (calm) =>
          Budget.telling(program(calm, header), {
            waits: (waiting) => Effect.sync(() => calm(UploadEvent.Waiting(waiting)))
          })
        )
      ),
      Effect.scoped
    )
  )

/**
 * - `existing`: the upload that the server already has, if it is not a new upload.
 * - `isTerminated`: whether an upload that failed or was interrupted is removed from the server.
 */
interface Beginning {
  readonly existing?: UploadState.Created
  readonly isTerminated?: boolean
}

const start = (
  target: UploadTarget,
  source: UploadSource,
  options: Options.UploadOptions,
  emit: Emit,
  { existing, isTerminated = false }: Beginning,
  header?: string
) => {
  const store = UploadState.forgetful(existing ?? UploadState.inParts(source.size, options.parallel ?? 1))
  return Effect.flatMap(Context.make(target, source, options, emit, store, header), (upload) =>
    isTerminated ? Removal.unlessDone(perform(upload), upload) : perform(upload)
  )
}

/** Runs an upload whose state is only in memory. */
export const run = (
  target: UploadTarget,
  source: UploadSource,
  options: PlainOptions,
  emit: Emit,
  beginning: Beginning = {}
): Effect.Effect<UploadEvent.UploadResult, UploadError, HttpClient.HttpClient> =>
  observed(source, options, false, emit, (tell, header) => start(target, source, options, tell, beginning, header))

/** Runs an upload of a job, whose options were checked with those of the job. */
export const runFile = (target: UploadTarget, source: UploadSource, options: Options.UploadOptions, emit: Emit) =>
  Telemetry.observe(source, emit, (tell) => Effect.scoped(start(target, source, options, tell, {})))
