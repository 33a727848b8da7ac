import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type { AssemblyClient } from "../AssemblyClient.ts"
import * as ServiceUrl from "../ServiceUrl.ts"
import * as Completion from "./completion.ts"
import * as Updates from "./updates.ts"

/** How the Status is read, and how the address of its update stream. */
export interface Access<E, R> {
  readonly read: Effect.Effect<Assembly.Status, E, R>
  readonly open: AssemblyClient["Service"]["open"]
}

/** While updates come; a lost one is found out by then. */
const silent: Completion.Pace = { first: Duration.seconds(30), max: Duration.seconds(30) }

/** A burst of events, such as progress, is one reading. */
const settle = Duration.millis(250)

/** No more than this of one event is kept. */
const maxEventSize = 1024 * 1024

/** Between two connections; the pace of polling goes on meanwhile. */
const reconnect: Completion.Pace = { first: Duration.seconds(1), max: Duration.seconds(30) }

/** What the connection to the update stream and the readings share. */
interface Signals {
  readonly changed: Queue.Queue<void>
  readonly connected: Ref.Ref<boolean>
}

/**
 * Turns events into signals: what an event says is not trusted to be complete, the Status is read again instead. A
 * connection is a signal too, since anything may have happened before it.
 */
const listen = (text: Stream.Stream<string, { readonly _tag: string }>, signals: Signals): Effect.Effect<void> =>
  Effect.suspend(() => {
    let events = 0
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event") events++
      },
      { maxEventSize, dispatchEmptyNamedEvents: true }
    )
    return text.pipe(
      Stream.onStart(Effect.andThen(Ref.set(signals.connected, true), Queue.offer(signals.changed, undefined))),
      Stream.runForEach((piece) => {
        events = 0
        parser.feed(piece)
        return events > 0 ? Effect.asVoid(Queue.offer(signals.changed, undefined)) : Effect.void
      }),
      // The stream only makes the watch faster; polling finds out what it does not tell.
      Effect.ignore,
      Effect.ensuring(Ref.set(signals.connected, false))
    )
  })

/** Listens, and connects again when the stream ends before the Assembly does. */
const keepListening = (
  text: Stream.Stream<string, { readonly _tag: string }>,
  signals: Signals,
  connection = 0
): Effect.Effect<never> =>
  listen(text, signals).pipe(
    Effect.andThen(Completion.pause(reconnect, connection)),
    Effect.flatMap(Effect.sleep),
    Effect.andThen(Effect.suspend(() => keepListening(text, signals, connection + 1)))
  )

/** Waits for a signal, or for the next reading by the clock. */
const nextReading = Effect.fnUntraced(function* (signals: Signals, pace: Completion.Pace, reading: number) {
  const isConnected = yield* Ref.get(signals.connected)
  const longest = yield* Completion.pause(isConnected ? silent : pace, reading)
  yield* Queue.take(signals.changed).pipe(Effect.andThen(Effect.sleep(settle)), Effect.timeoutOption(longest))
})

/** The Status of an Assembly each time it has changed, the last time when it is not busy any more. */
export const watch = <E, R>(
  { open, read }: Access<E, R>,
  pace: Completion.Pace
): Stream.Stream<Assembly.Status, E, R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const signals: Signals = { changed: yield* Queue.sliding<void>(1), connected: yield* Ref.make(false) }
      const first = yield* read
      const url = ServiceUrl.make(first.update_stream_url)
      if (open !== undefined && Option.isSome(url) && Assembly.state(first) === "Busy") {
        yield* Effect.forkScoped(keepListening(Updates.read(open, url.value), signals))
      }
      const later = Stream.unfold<number, Assembly.Status, E, R>(0, (reading) =>
        nextReading(signals, pace, reading).pipe(
          Effect.andThen(read),
          Effect.map((status) => [status, reading + 1] as const)
        )
      )
      return Stream.concat(Stream.succeed(first), later).pipe(
        Stream.takeUntil((status) => Assembly.state(status) !== "Busy"),
        Stream.changes
      )
    })
  )
