/**
 * Asks before something is deleted.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as CommandError from "../CommandError.ts"
import * as Output from "../Output.ts"

/** The flag that agrees to a deletion. */
export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("Delete without a question"),
  Flag.withDefault(false)
)

/** Asks whether to delete `what`. Fails if the answer is no, or if there is no terminal and `--yes` was not given. */
export const deletion = Effect.fnUntraced(function* (what: string, yes: boolean) {
  if (yes) return
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (!canPrompt) return yield* new CommandError.NotConfirmed({ what, asked: false })
  const agreed = yield* Prompt.run(Prompt.Confirm({ message: `Delete ${Printable.escape(what)}?` })).pipe(
    // After Ctrl-C or Escape, the prompt leaves the cursor at the end of the question, so a line break is written
    // first.
    Effect.catchTag("QuitError", () => Effect.andThen(Output.draw("\n"), Effect.interrupt))
  )
  if (!agreed) return yield* new CommandError.NotConfirmed({ what, asked: true })
})

/** Names things in a question: a single one by its id, several by their number. */
export const naming = (ids: ReadonlyArray<string>, one: string, many: string): string =>
  ids.length === 1 ? `the ${one} ${ids[0]}` : `${ids.length} ${many}`
