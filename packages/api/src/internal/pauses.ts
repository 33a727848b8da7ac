import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"

/**
 * Makes the function that returns the next pause of a schedule, or `None` when the schedule ends. The schedule starts
 * with the first input, and again if `isAnew` is true.
 */
export const make = <Input>(schedule: Schedule.Schedule<unknown, Input>) => {
  let step: Effect.Success<ReturnType<typeof Schedule.toStep<unknown, Input, never, never>>> | undefined
  return Effect.fnUntraced(function* (
    input: Input,
    isAnew: boolean
  ): Effect.fn.Return<Option.Option<Duration.Duration>> {
    if (step === undefined || isAnew) step = yield* Schedule.toStep(schedule)
    return yield* step(yield* Clock.currentTimeMillis, input).pipe(
      Effect.map(([, pause]) => Option.some(pause)),
      Pull.catchDone(() => Effect.succeedNone)
    )
  })
}
