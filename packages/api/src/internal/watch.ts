import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Predicate from "effect/Predicate"
import * as ApiError from "../ApiError.ts"
import type { AssemblyClient } from "../AssemblyClient.ts"
import * as ServiceUrl from "../ServiceUrl.ts"
import * as Completion from "./completion.ts"
import * as Pauses from "./pauses.ts"

/** The Assembly, and how its Status and its update stream are read. */
export interface Access<E, R> {
  readonly assemblyId: Assembly.AssemblyId
  readonly read: Effect.Effect<Assembly.Status, E, R>
  readonly open: AssemblyClient["Service"]["open"]
  readonly origins: AssemblyClient["Service"]["origins"]
}

/**
 * The pause between two readings of the Status while the update stream is connected. These readings find changes whose
 * events were lost.
 */
const silent = Duration.seconds(30)

/**
 * The time between an event and the reading of the Status. Therefore events (such as progress) cause at most 4 readings
 * a second.
 */
const settle = Duration.millis(250)

/** The maximum length of one event in UTF-16 code units. */
const maxEventSize = 1024 * 1024

/** The pace of connection attempts. Polling continues between the attempts. */
const reconnect: Completion.Pace = { first: Duration.seconds(1), max: Duration.seconds(30) }

const operation = "Assemblies.watch"

/**
 * The error for an update stream that belongs to another Assembly. The error does not contain the event, because the
 * Assembly id in the event grants access to that Assembly.
 */
const ofAnother = (assemblyId: string): ApiError.UnexpectedResponse =>
  new ApiError.UnexpectedResponse({
    operation,
    assemblyId,
    status: 200,
    description: "an update stream of another Assembly",
    excerpt: ""
  })

/**
 * Signals from the update stream to the loop that reads the Status. A value in `changed` asks for a reading, and
 * `changed` fails if the stream belongs to another Assembly. `connected` is true while the update stream is connected.
 */
interface Signals {
  readonly changed: Queue.Queue<void, ApiError.UnexpectedResponse>
  readonly connected: Ref.Ref<boolean>
}

/** Whether the data of an event belongs to another Assembly. The data of most events is a plain word or a file. */
const isOfAnother = (data: string, assemblyId: Assembly.AssemblyId): boolean =>
  Option.exists(
    Outcome.parseJson(data),
    (value) => Predicate.isObject(value) && Assembly.isOfAnother(value, assemblyId)
  )

/** How the update stream is opened. */
interface Source {
  readonly assemblyId: Assembly.AssemblyId
  readonly open: AssemblyClient["Service"]["open"]
  readonly url: ServiceUrl.ServiceUrl
}

/**
 * Turns events into signals. The content of an event is not trusted to be complete, so the Status is read instead. The
 * start of a connection is a signal too, because the Status may have changed while nothing was connected. Returns
 * whether any event arrived.
 */
const listen = ({ assemblyId, open, url }: Source, signals: Signals): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    let events = 0
    let eventful = false
    let strange = false
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag !== "Event") return
        events++
        strange ||= isOfAnother(event.data, assemblyId)
      },
      { maxEventSize, dispatchEmptyNamedEvents: true }
    )
    const connected = Effect.andThen(Ref.set(signals.connected, true), Queue.offer(signals.changed, undefined))
    return Effect.flatMap(open(url, { operation, accept: "text/event-stream" }), ({ status, stream }) =>
      status === 200 ? Effect.as(connected, stream) : Effect.succeed(Stream.empty)
    ).pipe(
      Stream.unwrap,
      Stream.decodeText,
      Stream.runForEach((piece) => {
        events = 0
        parser.feed(piece)
        if (strange) return Effect.asVoid(Queue.fail(signals.changed, ofAnother(assemblyId)))
        if (events === 0) return Effect.void
        eventful = true
        return Effect.asVoid(Queue.offer(signals.changed, undefined))
      }),
      // The stream only makes the watch faster. Polling finds everything that the stream misses.
      Effect.ignore,
      Effect.ensuring(Ref.set(signals.connected, false)),
      Effect.map(() => eventful)
    )
  })

/**
 * Listens to the update stream, and connects again when it ends. The pause between connections grows as long as no
 * event arrives. After a connection with an event, the pause is short.
 */
const keepListening = (source: Source, signals: Signals): Effect.Effect<unknown> =>
  listen(source, signals).pipe(
    Effect.repeat({ until: Boolean, schedule: Completion.spread(Completion.growing(reconnect)) }),
    Effect.repeat(Completion.spread(Schedule.spaced(reconnect.first)))
  )

/** The last Status, and whether the last reading changed it. */
interface Reading {
  readonly status: Assembly.Status
  readonly isNew: boolean
}

/** Emits the current Status and each changed Status, and ends after a final Status. */
export const watch = <E, R>(
  { assemblyId, open, origins, read }: Access<E, R>,
  pace: Completion.Pace
): Stream.Stream<Assembly.Status, E | ApiError.UnexpectedResponse, R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const signals: Signals = {
        changed: yield* Queue.sliding<void, ApiError.UnexpectedResponse>(1),
        connected: yield* Ref.make(false)
      }
      const first = yield* read
      const url = ServiceUrl.make(first.update_stream_url, origins)
      if (Option.isSome(url) && !Assembly.isOver(first)) {
        yield* Effect.forkScoped(keepListening({ assemblyId, open, url: url.value }, signals))
      }
      const pauseOf = Pauses.make(
        Completion.growing(pace).pipe(
          Schedule.modifyDelay(({ duration }) =>
            Effect.map(Ref.get(signals.connected), (isConnected) => (isConnected ? silent : duration))
          ),
          Completion.spread
        )
      )
      const later = Stream.unfold<Reading, Assembly.Status, E | ApiError.UnexpectedResponse, R>(
        { status: first, isNew: true },
        (last) =>
          // After a change the pauses are short again.
          Effect.flatMap(pauseOf(undefined, last.isNew), (pause) =>
            Queue.take(signals.changed).pipe(
              Effect.andThen(Effect.sleep(settle)),
              Effect.timeoutOption(Option.getOrElse(pause, () => silent)),
              Effect.andThen(read),
              Effect.map((status) => [status, { status, isNew: !Equal.equals(status, last.status) }] as const)
            )
          )
      )
      return Stream.concat(Stream.succeed(first), later).pipe(Stream.takeUntil(Assembly.isOver), Stream.changes)
    })
  )
