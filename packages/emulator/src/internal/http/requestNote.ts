import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The values that the handler of a request records for the log. */
export interface Note {
  operation?: string | undefined
  assemblyId?: string | undefined
}

/** The note of the current request. Without a log, the note is not read. */
const Current = Context.Reference<Note>("@assembly-effect/emulator/RequestNote", { defaultValue: () => ({}) })

/** Runs the handler of a request with a given note. */
export const provide = Effect.provideService(Current)

/** Records values of the current request. */
export const note = (values: Note): Effect.Effect<void> =>
  Effect.map(Current, (noted) => void Object.assign(noted, values))
