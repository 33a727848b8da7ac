/**
 * Follows an Assembly until it has ended: by reading its Status again and again, and by its update stream.
 */
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import * as Operation from "../unstable/Operation.ts"
import * as ServiceUrl from "../unstable/ServiceUrl.ts"
import { type Get, getFor } from "./assemblies.ts"

/**
 * The error for an Assembly that ended without completing.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyError = ApiError.AssemblyFailed | ApiError.AssemblyCanceled | ApiError.AssemblyAborted

/**
 * The outcome of an Assembly: its Status if the Assembly completed, else the error that describes how it ended. The
 * result is `None` while the Status is not final.
 *
 * @example
 * Option.match(Assemblies.outcome(assembly), { onNone: () => "running", onSome: Result.isSuccess })
 *
 * @since 0.1.0
 * @category utilities
 */
export const outcome = (status: Assembly.Status): Option.Option<Result.Result<Assembly.Status, AssemblyError>> => {
  const state = Assembly.state(status)
  if (state === "Busy" || state === "Unknown") return Option.none()
  return Option.some(
    state === "Completed" ? Result.succeed(status) : Result.fail(new endings[state](detailsOf(status)))
  )
}

const endings = {
  Canceled: ApiError.AssemblyCanceled,
  Aborted: ApiError.AssemblyAborted,
  Failed: ApiError.AssemblyFailed
}

const detailsOf = (status: Assembly.Status) => {
  const code = Assembly.errorCode(status) ?? status.ok ?? ""
  return {
    assemblyId: status.assembly_id,
    code: Redaction.code(code),
    description: Redaction.text(status.message ?? code),
    ...(status["reason"] === undefined ? undefined : { reason: Redaction.json(status["reason"]) })
  }
}

/**
 * The pauses between readings of the Status, in milliseconds: the first pause is `first`, and each further pause is 1.5
 * times as long as the previous pause, up to `max`.
 */
interface Pace {
  readonly first: number
  readonly max: number
}

const grown = ({ max }: Pace, pause: number): number => Math.min(pause * 1.5, max)

/** Adds up to a tenth to a pause at random, so that many watchers do not read at the same time. */
const spread = (pause: number): Effect.Effect<number> => Effect.map(Random.next, (chance) => pause * (1 + chance / 10))

/**
 * The pause that a rate limit requests, or `Infinity` for any other error. Recognises the error by its tag, because the
 * client may be of a second copy of this package.
 */
const millisAsked = (error: unknown): number =>
  Predicate.isTagged(error, "RateLimited") ? Duration.toMillis((error as ApiError.RateLimited).retryAfter) : Infinity

/**
 * Reads the Status. After a rate limit, reads it again, because a rate limit says nothing about the Assembly. If a rate
 * limit requests a longer pause than `maxWait`, the effect fails with `RateLimited`.
 */
const patiently = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace,
  maxWait: number,
  pause = pace.first
): Effect.Effect<Assembly.Status, E, R> =>
  Effect.catchIf(
    read,
    (error) => millisAsked(error) <= maxWait,
    (error) => {
      const again = patiently(read, pace, maxWait, grown(pace, pause))
      return Effect.flatMap(spread(pause), (millis) => Effect.delay(again, Math.max(millis, millisAsked(error))))
    }
  )

/** Reads the Status until it is final, and returns the outcome. */
const poll = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace,
  pause = pace.first
): Effect.Effect<Result.Result<Assembly.Status, AssemblyError>, E, R> =>
  Effect.flatMap(read, (status) => {
    const ended = outcome(status)
    if (Option.isSome(ended)) return Effect.succeed(ended.value)
    const again = poll(read, pace, grown(pace, pause))
    return Effect.flatMap(spread(pause), (millis) => Effect.delay(again, millis))
  })

/**
 * The pause between two readings of the Status while the update stream is connected, in milliseconds. These readings find
 * changes whose events were lost.
 */
const silent = 30_000

/**
 * The time between an event and the reading of the Status, in milliseconds. Therefore events (such as progress) cause at
 * most 4 readings a second.
 */
const settle = 250

/** The maximum length of one event in UTF-16 code units. */
const maxEventSize = 1024 * 1024

/** The pace of connection attempts. Polling continues between the attempts. */
const reconnect: Pace = { first: 1000, max: 30_000 }

/**
 * The update stream of an Assembly, and its signals to the loop that reads the Status. A value in `changed` asks for a
 * reading.
 */
interface Updates {
  readonly open: Operation.AssemblyClient["Service"]["open"]
  readonly changed: Queue.Queue<void>
  isConnected: boolean
}

/**
 * Turns events into signals. The content of an event is not read: the Status is read instead, and only the Status of the
 * right Assembly is an answer. The start of a connection is a signal too, because the Status may have changed while
 * nothing was connected. Returns whether any event arrived.
 */
const listen = (updates: Updates, url: ServiceUrl.ServiceUrl): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    let events = 0
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event") events++
      },
      { maxEventSize, dispatchEmptyNamedEvents: true }
    )
    const signal = Queue.offer(updates.changed, undefined)
    return Effect.flatMap(
      updates.open(url, { operation: "Assemblies.watch", accept: "text/event-stream" }),
      ({ status, stream }) => {
        updates.isConnected = status === 200
        return updates.isConnected ? Effect.as(signal, stream) : Effect.succeed(Stream.empty)
      }
    ).pipe(
      Stream.unwrap,
      Stream.decodeText,
      Stream.runForEach((piece) => {
        const before = events
        parser.feed(piece)
        return events === before ? Effect.void : signal
      }),
      // The stream only makes the watch faster. Polling finds everything that the stream misses.
      Effect.ignore,
      Effect.ensuring(Effect.sync(() => (updates.isConnected = false))),
      Effect.map(() => events > 0)
    )
  })

/**
 * Listens to the update stream, and connects again when it ends. The pause between connections grows as long as no
 * event arrives. After a connection with an event, the pause is short.
 */
const keepListening = (updates: Updates, url: ServiceUrl.ServiceUrl, growing = reconnect.first): Effect.Effect<never> =>
  Effect.flatMap(listen(updates, url), (hasHeard) => {
    const again = keepListening(updates, url, hasHeard ? reconnect.first : grown(reconnect, growing))
    return Effect.flatMap(spread(hasHeard ? reconnect.first : growing), (millis) => Effect.delay(again, millis))
  })

/** The last Status, and the pause before the next reading. */
interface Reading {
  readonly status: Assembly.Status
  readonly pause: number
}

const Settings = Schema.Struct({
  interval: Schema.optional(Rules.duration),
  maxInterval: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration),
  timeout: Schema.optional(Rules.duration)
})

/**
 * The options of `awaitCompletion` and `watch`, which read the Status of an Assembly repeatedly. `watch` has no `timeout`.
 *
 * - `interval`: the first pause between two readings, 1 second by default. Each further pause is 1.5 times as long, up
 *   to `maxInterval`. Up to a tenth of each pause is added at random. In `watch`, the pauses start again at `interval`
 *   after each changed Status. While `watch` is connected to an update stream, it reads the Status after events and
 *   every 30 to 33 seconds instead.
 * - `maxInterval`: the longest pause before the random part is added, 10 seconds by default.
 * - `maxWait`: the maximum pause that a rate limit may request, 1 minute by default. If a rate limit requests a longer
 *   pause, the error is `RateLimited`.
 * - `timeout`: the time limit of the whole `awaitCompletion`. By default the limit is 1 hour, without the waits for the
 *   budget of the account.
 *
 * Each duration must be positive and finite. If a duration breaks this rule, nothing is read, and the error is
 * `InvalidRequest`.
 *
 * @since 0.1.0
 * @category models
 */
export interface AwaitOptions extends Schema.Codec.Encoded<typeof Settings> {}

/**
 * Validates the options of {@link awaitCompletion}. A function that creates an Assembly and then waits uses this
 * validation to refuse invalid options before the creation.
 *
 * @since 0.1.0
 * @category operations
 */
export const awaitOptionIssues: (options: AwaitOptions) => ReadonlyArray<Issue> = Rules.checker(Settings)

const decodeAwait = Rules.decoder("Assemblies.awaitCompletion", Settings)
const decodeWatch = Rules.decoder("Assemblies.watch", Settings)

type Settings = typeof Settings.Type

const paceOf = ({ interval = Duration.seconds(1), maxInterval = Duration.seconds(10) }: Settings): Pace => {
  const max = Duration.toMillis(maxInterval)
  return { first: Math.min(Duration.toMillis(interval), max), max }
}

/** Reads the Status once. After a rate limit, waits and reads again. */
const readingOf = (operation: string, assemblyId: Assembly.AssemblyId, settings: Settings) =>
  patiently(getFor(operation, assemblyId), paceOf(settings), Duration.toMillis(settings.maxWait ?? 60_000))

/**
 * Waits until an Assembly has completed, by polling its Status. If the Assembly ends in another way, the error is
 * `AssemblyFailed`, `AssemblyCanceled` or `AssemblyAborted`. While the Status is not final, it is read again; an
 * `Unknown` state (see `Assembly.state`) is not final. After a rate limit, the operation waits for the requested pause,
 * if this pause is at most `maxWait`. If the whole operation takes longer than `timeout`, the error is `TimedOut`.
 *
 * @example Assemblies.awaitCompletion(assemblyId, { timeout: "10 minutes" })
 *
 * @since 0.1.0
 * @category operations
 */
export const awaitCompletion: (
  assemblyId: Assembly.AssemblyId,
  options?: AwaitOptions
) => Effect.Effect<
  Assembly.Status,
  ApiError.AssemblyFailed | ApiError.AssemblyCanceled | ApiError.AssemblyAborted | Operation.Failure<typeof Get>,
  Operation.AssemblyClient
> = Effect.fnUntraced(function* (assemblyId, options = {}) {
  const settings = yield* decodeAwait(options)
  const { timeout: after = Duration.hours(1) } = settings
  const operation = "Assemblies.awaitCompletion"
  let last: { readonly state?: string } = {}
  const read = Effect.tap(readingOf(operation, assemblyId, settings), ({ ok }) =>
    Effect.sync(() => {
      last = ok ? { state: Redaction.code(ok) } : {}
    })
  )
  const ended = yield* (settings.timeout === undefined ? Budget.timeoutOrElse : Effect.timeoutOrElse)(
    poll(read, paceOf(settings)),
    { duration: after, orElse: () => Effect.fail(new ApiError.TimedOut({ operation, assemblyId, after, ...last })) }
  )
  return yield* Effect.fromResult(ended)
})

/**
 * Streams the Status of an Assembly: the current Status, each changed Status, and the final Status.
 *
 * If the first Status names an update stream (`update_stream_url`) at an origin of the service, the Status is read
 * after the events of that stream (at most four times a second), and every 30 to 33 seconds to find changes without an
 * event. Without an update stream, or while the stream is broken, the Status is polled; after each change the pauses
 * start again at `interval`. A broken update stream never fails the watch. After a rate limit, the watch waits for the
 * requested pause, if this pause is at most `maxWait`. A Status that belongs to another Assembly fails the watch with
 * `UnexpectedResponse`.
 *
 * @since 0.1.0
 * @category operations
 */
export const watch = (assemblyId: Assembly.AssemblyId, options: Omit<AwaitOptions, "timeout"> = {}) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const settings = yield* decodeWatch(options)
      const { open, origins } = yield* Operation.AssemblyClient
      const pace = paceOf(settings)
      const read = readingOf("Assemblies.watch", assemblyId, settings)
      const updates: Updates = { open, changed: yield* Queue.sliding<void>(1), isConnected: false }
      const first = yield* read
      const url = ServiceUrl.make(first.update_stream_url, origins)
      if (Option.isSome(url) && !Assembly.isOver(first)) yield* Effect.forkScoped(keepListening(updates, url.value))

      const next = Effect.fnUntraced(function* (last: Reading) {
        const millis = yield* spread(updates.isConnected ? silent : last.pause)
        yield* Queue.take(updates.changed).pipe(Effect.andThen(Effect.sleep(settle)), Effect.timeoutOption(millis))
        const status = yield* read
        // After a change the pauses are short again.
        const pause = Equal.equals(status, last.status) ? grown(pace, last.pause) : pace.first
        return [status, { status, pause }] as const
      })
      const later = Stream.unfold({ status: first, pause: pace.first } as Reading, next)
      return Stream.concat(Stream.succeed(first), later).pipe(Stream.takeUntil(Assembly.isOver), Stream.changes)
    })
  )
