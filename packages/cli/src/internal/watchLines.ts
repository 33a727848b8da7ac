/** Prints the lines of `assembly watch`. */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Format from "../Format.ts"
import * as Output from "../Output.ts"
import * as StatusFacts from "./statusFacts.ts"
import * as Text from "./text.ts"

const write = Effect.fnUntraced(function* (text: string) {
  const { width } = yield* Output.layout
  yield* Output.lines<string>(Text.wrap(`${Format.date(yield* DateTime.now).slice(11)}  ${text}`, width ?? Infinity))
})

/**
 * The pause after a line. While files arrive, the Status changes many times a second, and nobody can read so many
 * lines.
 */
const pause = "1 second"

/**
 * Prints a line for the Status each time its text changes, but at most one line a second. If the text changes several
 * times during a pause, only the newest text is printed. The text of the last Status is always printed.
 */
export const print = <E, R>(statuses: Stream.Stream<Assembly.Status, E, R>) => {
  let last: string | undefined
  const show = Effect.fnUntraced(function* (status: Assembly.Status) {
    const line = StatusFacts.line(status)
    if (line === last) return
    last = line
    yield* write(line)
    if (!Assembly.isOver(status)) yield* Effect.sleep(pause)
  })
  return Output.whileRead(Stream.buffer(statuses, { capacity: 1, strategy: "sliding" }), show)
}
