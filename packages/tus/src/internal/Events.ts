import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { UploadEvent } from "../UploadEvent.ts"

interface Tagged {
  readonly _tag: string
}

/** Tells an event; never waits for who reads it. */
export type Emit<Event extends Tagged = UploadEvent> = (event: Event) => void

/**
 * The events that nobody has read yet, with one more. A Progress replaces the Progress before it: what happened in
 * between is of no use to a reader who comes late, and memory stays bounded.
 */
const add = <Event extends Tagged>(pending: ReadonlyArray<Event>, event: Event): ReadonlyArray<Event> =>
  event._tag === "Progress" && pending.at(-1)?._tag === "Progress"
    ? [...pending.slice(0, -1), event]
    : [...pending, event]

/**
 * The events of a program as a stream. The program runs at its own speed, and ends when the stream is left.
 */
export const fromProgram = <E, R, Event extends Tagged = UploadEvent>(
  program: (emit: Emit<Event>) => Effect.Effect<void, E, R>
): Stream.Stream<Event, E, Exclude<R, Scope.Scope>> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const news = yield* Latch.make(false)
      let pending: ReadonlyArray<Event> = []
      let ended: Exit.Exit<void, E> | undefined

      yield* program((event) => {
        pending = add(pending, event)
        news.openUnsafe()
      }).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            ended = exit
            news.openUnsafe()
          })
        ),
        Effect.exit,
        Effect.forkScoped
      )

      type Events = Arr.NonEmptyReadonlyArray<Event>
      const pull = Effect.suspend((): Effect.Effect<Events, E | Cause.Done> => {
        const [first, ...rest] = pending
        if (first !== undefined) {
          pending = []
          if (ended === undefined) news.closeUnsafe()
          return Effect.succeed([first, ...rest])
        }
        return ended === undefined || Exit.isSuccess(ended) ? Cause.done() : Effect.failCause(ended.cause)
      })
      return Stream.fromPull(Effect.succeed(Effect.andThen(news.await, pull)))
    })
  )
