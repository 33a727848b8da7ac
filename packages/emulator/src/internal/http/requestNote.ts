import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What the handler of a request finds out for the log. */
export interface Note {
  operation?: string | undefined
  assemblyId?: string | undefined
}

/** The note of the current request. Without a log, nobody reads it. */
const Current = Context.Reference<Note>("@assembly-effect/emulator/RequestNote", { defaultValue: () => ({}) })

/** Runs the handling of a request with a note of its own. */
export const provide = Effect.provideService(Current)

/** Notes the operation of the current request. */
export const operation = (name: string): Effect.Effect<void> =>
  Effect.map(Current, (note) => {
    note.operation = name
  })

/** Notes the id of the Assembly that the current request is about. */
export const assembly = (id: string): Effect.Effect<void> =>
  Effect.map(Current, (note) => {
    note.assemblyId = id
  })
