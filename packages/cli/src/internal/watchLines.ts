/**
 * The lines of `assembly watch`.
 */
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

/** The pause after a line. A Status changes many times a second while files arrive, and nobody reads so many lines. */
const pause = "1 second"

/** Prints a line for each change that a person can see, at most one a second: the first, the newest and the last one. */
export const print = <E, R>(statuses: Stream.Stream<Assembly.Status, E, R>) => {
  let last: string | undefined
  const show = Effect.fnUntraced(function* (status: Assembly.Status) {
    const line = StatusFacts.line(status)
    if (line === last) return
    last = line
    yield* write(line)
    if (!Assembly.isOver(status)) yield* Effect.sleep(pause)
  })
  return Stream.tap(Stream.buffer(statuses, { capacity: 1, strategy: "sliding" }), show)
}
