/**
 * The engine of all uploads: selects the next step from the state and performs it, until all bytes are stored. Uploads
 * with and without a journal, and durable uploads, differ only in the store of the state.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import { type UploadError, UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import * as Context from "./context.ts"
import { type Emit, paced } from "./events.ts"
import { hostOf } from "./host.ts"
import * as Options from "./options.ts"
import * as Outgoing from "./outgoing.ts"
import * as Parts from "./parts.ts"
import * as Piece from "./piece.ts"
import * as Removal from "./removal.ts"
import * as Telemetry from "./telemetry.ts"
import * as UploadState from "./uploadState.ts"
import type { UploadTarget } from "../UploadTarget.ts"

/** Creates the upload of the whole source, or finds it, and sends its bytes. */
const sendWhole = <E>(upload: Context.Upload<E>, state: UploadState.Piece) => {
  const { chunkSize: windowSize = Outgoing.defaultSize, source, streams } = upload
  const send = (outgoing: Outgoing.Outgoing) => {
    const piece = { ...upload, outgoing, place: UploadState.whole, isPart: false }
    return Effect.flatMap(Piece.begin(piece, state), (created) =>
      Effect.flatMap(Piece.finish(piece, created), (length) =>
        upload.store.update(UploadState.completed(created.url, length))
      )
    )
  }
  return source._tag === "OneShot"
    ? Effect.scoped(Effect.flatMap(Outgoing.oneShot(source, { windowSize, streams }), send))
    : send(Outgoing.replayable(source, { start: 0n, end: source.size, streams }))
}

/**
 * The result of an upload that has ended. Fails with `UploadUntrusted` if its bytes are untrusted. Sends no request.
 */
export const ended = (
  { emit, target }: { readonly emit: Emit; readonly target: UploadTarget },
  state: UploadState.Of<"Completed" | "Untrusted">
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
): Effect.Effect<UploadEvent.UploadResult, UploadError | E, HttpClient.HttpClient> => {
  const { source, store } = upload
  const next = (): Effect.Effect<UploadEvent.UploadResult, UploadError | E, HttpClient.HttpClient> => {
    const state = store.state()
    switch (state._tag) {
      case "Planned":
      case "Creating":
      case "Created":
        return Effect.flatMap(sendWhole(upload, state), next)
      case "Parts":
        return Effect.flatMap(Options.replayable(source), (again) =>
          Effect.flatMap(Parts.run(upload, again, state), next)
        )
      case "Concatenating":
        return Effect.flatMap(Parts.finish(upload, state), next)
      case "Completed":
      case "Untrusted":
        return ended(upload, state)
    }
  }
  return Effect.tapError(Effect.suspend(next), (error) =>
    error._tag === "UploadGone" ? Effect.option(store.update(UploadState.replaced(UploadState.planned))) : Effect.void
  )
}

/** Checks the options, and runs an upload within its span. */
export const observed = <E extends { readonly _tag: string }, R>(
  { emit, options, source }: Omit<Options.Given<Partial<Options.Options>>, "target">,
  isReplayed: boolean,
  program: (emit: Emit, header: string | undefined) => Effect.Effect<UploadEvent.UploadResult, E, R>
) =>
  Telemetry.observe(source, emit, (tell, clock) =>
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
  const store = UploadState.forgetful(existing ?? UploadState.inParts(source.size, options.parallel ?? 1))
  return Effect.flatMap(Context.make(given, store, header), (upload) =>
    isTerminated ? Removal.unlessDone(perform(upload), upload) : perform(upload)
  )
}

/** Runs an upload whose state is only in memory. */
export const run = (
  given: Options.Given,
  beginning: Beginning = {}
): Effect.Effect<UploadEvent.UploadResult, UploadError, HttpClient.HttpClient> =>
  observed(given, false, (emit, header) => start({ ...given, emit }, beginning, header))

/** Runs an upload of a job, whose options were checked with those of the job. */
export const runFile = (given: Options.Given) =>
  Telemetry.observe(given.source, given.emit, (emit) => start({ ...given, emit }, {}))
