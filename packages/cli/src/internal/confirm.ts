/**
 * Asks before something is deleted.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CommandError from "../CommandError.ts"
import * as Format from "../Format.ts"
import * as Output from "../Output.ts"
import * as Text from "./text.ts"
import { switchFlag } from "./flags.ts"

/** The flag that agrees to a deletion. */
export const yesFlag = switchFlag("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("Delete without a question"),
  Flag.withDefault(false)
)

/**
 * What a command deletes. `one` and `many` are the words for one thing and for several, such as `Template` and
 * `Templates`. `ids` are the ids or names that the user gave. `describe` returns a text that identifies the thing of an
 * id or name in another way: for example the path of an asset for its id, or the id of a Template for its name.
 */
export interface Things<Id extends string, E, R> {
  readonly ids: ReadonlyArray<Id>
  readonly one: string
  readonly many: string
  readonly describe: (id: Id) => Effect.Effect<string | null | undefined, E, R>
}

const nameOf = ({ ids, many, one }: Pick<Things<string, never, never>, "ids" | "one" | "many">): string =>
  ids.length === 1 ? `the ${one} ${ids[0]}` : `${ids.length} ${many}`

/** The maximum number of listed things. If there are more things, one more line has the number of the others. */
const mostListed = 10

/**
 * Lists what the command deletes: each id or name that the user gave, and beside it the text of `describe`. If
 * `describe` fails, only the id or name is listed.
 */
const list = Effect.fnUntraced(function* <Id extends string, E, R>({ describe, ids }: Things<Id, E, R>) {
  const names = yield* Effect.forEach(ids.slice(0, mostListed), (id) => Effect.option(describe(id)), {
    concurrency: mostListed
  })
  const cells = ids.slice(0, mostListed).reduce((most, id) => Math.max(most, Text.width(Printable.escape(id))), 0)
  const lines = names.map((name, index) => {
    const id = Text.pad(Printable.escape(ids[index] ?? ""), cells, "left")
    return `  ${id}  ${Printable.escape(Option.getOrUndefined(name) ?? "")}`.trimEnd()
  })
  const others = ids.length - lines.length
  return [...lines, ...(others > 0 ? [`  and ${Format.count(others)} more`] : [])]
})

/**
 * Lists the things, and asks whether to delete them. Fails if the answer is no, or if there is no terminal. With
 * `--yes`, neither lists the things nor asks.
 */
export const deletion = Effect.fnUntraced(function* <Id extends string, E, R>(things: Things<Id, E, R>, yes: boolean) {
  if (yes) return
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (!canPrompt) return yield* new CommandError.NotConfirmed({ what: nameOf(things), asked: false })
  yield* Output.draw(`${(yield* list(things)).join("\n")}\n`)
  // The tick is the mark of `assembly doctor` for a good finding.
  const agreed = yield* Prompt.run(
    Prompt.Confirm({ message: `Delete ${Printable.escape(nameOf(things))}?`, theme: { tick: "✓" } })
  ).pipe(
    // After Ctrl-C, Ctrl-D or Escape, the prompt leaves the cursor at the end of the question, so a line break is
    // written first.
    Effect.catchTag("QuitError", () => Effect.andThen(Output.draw("\n"), Effect.interrupt))
  )
  if (!agreed) return yield* new CommandError.NotConfirmed({ what: nameOf(things), asked: true })
})
