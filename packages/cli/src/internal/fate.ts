/** What the program prints after Ctrl-C, when the command has stopped. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Output from "../Output.ts"

/** `say` prints the line. A command replaces `say` when it knows more. */
export interface Fate {
  say: Effect.Effect<void>
}

/** The fate of the command that runs. By default nothing is printed. */
export const Fate = Context.Reference<Fate>("@assembly-effect/cli/Fate", {
  defaultValue: () => ({ say: Effect.void })
})

/** Runs the program, and prints its fate if it is interrupted. */
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
