/** What the program prints after Ctrl-C, when the command has stopped. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Output from "../Output.ts"

/**
 * `say` prints what happened to the work of an interrupted command. `assembly upload` replaces `say` when it begins its
 * work.
 */
export interface Fate {
  say: Effect.Effect<void>
}

/** What the running command prints after Ctrl-C. Without {@link run}, the command prints nothing. */
export const Fate = Context.Reference<Fate>("@assembly-effect/cli/Fate", {
  defaultValue: () => ({ say: Effect.void })
})

/**
 * Runs the program, and runs `say` if the program is interrupted. Until `assembly upload` replaces `say`, `say` prints
 * the line of `Output.interruptedAtStart`, which is empty for the other commands.
 */
export const run =
  (args: ReadonlyArray<string>) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const fate: Fate = { say: Output.interruptedAtStart(args) }
      return program.pipe(
        Effect.provideService(Fate, fate),
        Effect.onInterrupt(() => Effect.suspend(() => fate.say))
      )
    })
