/**
 * Asks before something is deleted.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Nobody agreed to a deletion, so nothing was deleted. `asked` is false if there was no terminal for the question. */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", {
  what: Schema.String,
  asked: Schema.Boolean
}) {
  override get message() {
    return this.asked
      ? "nothing was deleted"
      : `nothing was deleted: add --yes to delete ${this.what}, because there is no terminal to ask`
  }
}

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
  if (!canPrompt) return yield* new NotConfirmed({ what, asked: false })
  const agreed = yield* Prompt.run(Prompt.Confirm({ message: `Delete ${Printable.escape(what)}?` }))
  if (!agreed) return yield* new NotConfirmed({ what, asked: true })
})

/** Names things in a question: the only one by its id, several by their number. */
export const naming = (ids: ReadonlyArray<string>, one: string, many: string): string =>
  ids.length === 1 ? `the ${one} ${ids[0]}` : `${ids.length} ${many}`
