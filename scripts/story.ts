/**
 * What the demos print. Lines are broken between words if the terminal is too narrow.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Advice from "../packages/cli/src/internal/advice.ts"
import * as Text from "../packages/cli/src/internal/text.ts"
import * as Output from "../packages/cli/src/internal/output.ts"

/** A failure that ends a demo. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { description: Schema.String }) {
  override get message() {
    return this.description
  }
}

/** Runs a demo. The last line of a failed demo says why. */
export const run = <E>(name: string, story: Effect.Effect<void, E, Scope.Scope | NodeServices.NodeServices>): void =>
  story.pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.tapError((error) => Console.error(`${name}: ${Advice.line(error)}`)),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )

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
