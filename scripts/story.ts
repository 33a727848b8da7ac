/**
 * What the demos print. Lines are broken between words if the terminal is too narrow.
 */
import * as Effect from "effect/Effect"
import * as Text from "../packages/cli/src/internal/text.ts"
import * as Output from "../packages/cli/src/internal/output.ts"

/** Prints a text. `indent` is the number of cells before each line but the first. */
export const say = Effect.fnUntraced(function* (
  text: string,
  options: { readonly paint?: (line: string) => string; readonly before?: string; readonly indent?: number } = {}
) {
  const { before = "", indent = 0, paint = (line: string) => line } = options
  const { width = Infinity } = yield* Output.layout
  const [first = "", ...others] = Text.wrap(text, width - indent)
  yield* Output.report(
    [before + paint(first), ...others.map((line) => " ".repeat(indent) + paint(line))].map((line) => Text.toLine(line))
  )
})

/** Prints the title of the next part of a demo. */
export const chapter = Effect.fnUntraced(function* (title: string) {
  const style = yield* Text.current
  yield* Output.report([Text.blank])
  yield* say(`▸ ${title}`, { paint: (line) => style.bold(style.cyan(line)) })
})

/** Prints what a user may do after the demo. */
export const next = (step: string) => say(`Next: ${step}`)
