/** The events of a program: as calls, at a pace, and as a stream. */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { UploadEvent } from "../UploadEvent.ts"
import type { SourceFailed, UploadSource } from "./source.ts"

interface Tagged {
  readonly _tag: string
}

/**
 * Emits an event, and never waits for the reader of the events.
 *
 * @since 0.1.0
 * @category models
 */
export type Emit<Event extends Tagged = UploadEvent> = (event: Event) => void

/**
 * Holds back each `Progress` that follows an emitted `Progress` within the interval. If an event of another kind
 * follows, the newest `Progress` that is still held back is emitted first. The events of the single files of a job are
 * frequent, so they emit none. Without an interval, every `Progress` is emitted.
 */
export const paced = <Event extends Tagged>(
  emit: Emit<Event>,
  interval: Duration.Input | undefined,
  clock: Clock.Clock
): Emit<Event> => {
  if (interval === undefined) return emit
  const millis = Duration.toMillis(interval)
  let next = -Infinity
  let held: Event | undefined
  return (event) => {
    if (event._tag !== "Progress") {
      if (held !== undefined && !event._tag.startsWith("File")) {
        emit(held)
        held = undefined
      }
      return emit(event)
    }
    const now = clock.currentTimeMillisUnsafe()
    held = now < next ? event : undefined
    if (held !== undefined) return
    next = now + millis
    emit(event)
  }
}

/**
 * The events of a program as a stream. The program does not wait for the reader, and is interrupted when the stream
 * ends. A `Progress` replaces an unread `Progress` directly before it, because a late reader does not need the earlier
 * one.
 */
export const fromProgram = <E, R, Event extends Tagged = UploadEvent>(
  program: (emit: Emit<Event>) => Effect.Effect<unknown, E, R>
): Stream.Stream<Event, E, Exclude<R, Scope.Scope>> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const news = yield* Latch.make(false)
      let unread: Array<Event> = []

      // The program has its own scope, which closes when the program has ended. Closing this scope releases the lease of
      // the upload.
      const fiber = yield* Effect.forkScoped(
        Effect.scoped(
          program((event) => {
            if (event._tag === "Progress" && unread.at(-1)?._tag === "Progress") unread.pop()
            unread.push(event)
            news.openUnsafe()
          })
        )
      )
      fiber.addObserver(() => void news.openUnsafe())

      const pull = Effect.suspend((): Effect.Effect<Arr.NonEmptyReadonlyArray<Event>, E | Cause.Done> => {
        const [first, ...rest] = unread
        unread = []
        const ended = fiber.pollUnsafe()
        if (first !== undefined) {
          if (ended === undefined) news.closeUnsafe()
          return Effect.succeed([first, ...rest])
        }
        return ended === undefined || Exit.isSuccess(ended) ? Cause.done() : Effect.failCause(ended.cause)
      })
      return Stream.fromPull(Effect.succeed(Effect.andThen(news.await, pull)))
    })
  )

/** The progress of one of several uploads, in bytes. */
export interface Progress {
  readonly sent: bigint
  readonly acknowledged: bigint
}

/** Makes a function that records the progress of one upload, and returns the sum of the progress of all uploads. */
export const sums = (count: number): ((index: number, now: Progress) => Progress) => {
  const each = Array.from({ length: count }, (): Progress => ({ sent: 0n, acknowledged: 0n }))
  const all = { sent: 0n, acknowledged: 0n }
  return (index, { acknowledged, sent }) => {
    all.sent += sent - (each[index]?.sent ?? 0n)
    all.acknowledged += acknowledged - (each[index]?.acknowledged ?? 0n)
    each[index] = { sent, acknowledged }
    return { ...all }
  }
}

/** Reads a source to its end, and returns the number of its bytes. */
export const read = (source: UploadSource): Effect.Effect<bigint, SourceFailed> =>
  Stream.runFold(
    source._tag === "Replayable" ? source.bytes(0n, source.size) : source.stream,
    () => 0n,
    (sum, piece) => sum + BigInt(piece.length)
  )

/** Emits the events of a stream while it is read. `Stream.tap` would add Effect's semaphores to a bundle. */
export const emitting = <Event, E>(
  events: Stream.Stream<Event, E>,
  emit: (event: Event) => void
): Stream.Stream<Event, E> =>
  Stream.map(events, (event) => {
    emit(event)
    return event
  })
