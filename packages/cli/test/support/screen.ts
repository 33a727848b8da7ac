import { type Cause, Effect, Layer, Option, Queue, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"

/** One typed character. A line break is the key Enter. */
const toInput = (character: string): Terminal.UserInput => ({
  input: Option.some(character),
  key: { name: character === "\n" ? "enter" : character, ctrl: false, meta: false, shift: false }
})

/**
 * A terminal that keeps the written text. A user types `typed`; without `typed`, a command cannot ask a question. With
 * `quits`, the user then presses Ctrl-C.
 */
export const make = (options: {
  readonly columns: number
  readonly animated: boolean
  readonly typed?: string | undefined
  readonly quits?: boolean | undefined
}) => {
  const written: Array<string> = []
  const { quits = false, typed } = options
  const layer = Layer.mergeAll(
    Layer.succeed(
      Terminal.Terminal,
      Terminal.make({
        columns: Effect.succeed(options.columns),
        rows: Effect.succeed(24),
        size: Effect.die("not used"),
        readInput:
          typed === undefined
            ? Effect.die("not used")
            : Effect.tap(Queue.unbounded<Terminal.UserInput, Cause.Done>(), (keys) =>
                Effect.andThen(Queue.offerAll(keys, Array.from(typed, toInput)), quits ? Queue.end(keys) : Effect.void)
              ),
        readLine: Effect.die("not used"),
        display: (text) => Effect.sync(() => void written.push(text))
      })
    ),
    Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
      canAnimate: options.animated,
      canColor: false,
      canPrompt: typed !== undefined
    })
  )
  return { layer, written, text: () => written.join("") }
}

/**
 * The lines that a person sees at the end. Only the sequences of the renderer are interpreted; all others stay visible.
 */
export const visible = (text: string): ReadonlyArray<string> => {
  const lines = [""]
  // oxlint-disable-next-line no-control-regex -- escape sequences are what this reads
  for (const [part] of text.matchAll(/\u001b\[2K|\u001b\[G|\u001b\[\?25[lh]|\r|\n|[^\r\n\u001b]+|\u001b/g)) {
    if (part === "\n") lines.push("")
    else if (part === "\u001b[2K") lines[lines.length - 1] = ""
    else if (part !== "\r" && part !== "\u001b[G" && !part.startsWith("\u001b[?25")) lines[lines.length - 1] += part
  }
  return lines
}
