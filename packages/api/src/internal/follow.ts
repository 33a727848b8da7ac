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
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import { AssemblyClient } from "../AssemblyClient.ts"
import type * as Operation from "../unstable/Operation.ts"
import * as ServiceUrl from "../unstable/ServiceUrl.ts"
import { type Get, getFor } from "./assemblies.ts"
import * as Pauses from "./pauses.ts"

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
 * The pauses between readings of the Status: the first pause is `first`, and each further pause is 1.5 times as long as
 * the previous pause, up to `max`.
 */
interface Pace {
  readonly first: Duration.Duration
  readonly max: Duration.Duration
}

const growing = ({ first, max }: Pace): Schedule.Schedule<Duration.Duration> =>
  Schedule.min([Schedule.exponential(first, 1.5), Schedule.spaced(max)])

/** Adds up to a tenth to each pause at random, so that many watchers do not read at the same time. */
const spread = <Output>(schedule: Schedule.Schedule<Output>): Schedule.Schedule<Output> =>
  Schedule.modifyDelay(schedule, ({ duration }) =>
    Effect.map(Random.next, (chance) => Duration.times(duration, 1 + chance / 10))
  )

const paced = (pace: Pace) => spread(growing(pace))

/** Recognises the error by its tag, because the client may be of a second copy of this package. */
const isRateLimited = (error: unknown): error is ApiError.RateLimited => Predicate.isTagged(error, "RateLimited")

/**
 * Reads the Status. After a rate limit, reads it again, because a rate limit says nothing about the Assembly. If a rate
 * limit requests a longer pause than `maxWait`, the effect fails with `RateLimited`.
 */
const patiently = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace,
  maxWait: Duration.Duration
): Effect.Effect<Assembly.Status, E, R> =>
  Effect.retry(read, {
    while: (error) => isRateLimited(error) && Duration.isLessThanOrEqualTo(error.retryAfter, maxWait),
    schedule: paced(pace).pipe(
      Schedule.setInputType<E>(),
      Schedule.modifyDelay(({ duration, input }) =>
        Effect.succeed(isRateLimited(input) ? Duration.max(duration, input.retryAfter) : duration)
      )
    )
  })

/** Reads the Status until it is final, and returns the outcome. */
const poll = <E, R>(
  read: Effect.Effect<Assembly.Status, E, R>,
  pace: Pace
): Effect.Effect<Result.Result<Assembly.Status, AssemblyError>, E, R> =>
  Effect.map(read, outcome).pipe(
    Effect.repeat({ until: Option.isSome, schedule: paced(pace) }),
    Effect.flatMap(Option.match({ onNone: () => poll(read, pace), onSome: Effect.succeed }))
  )

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
const reconnect: Pace = { first: Duration.seconds(1), max: Duration.seconds(30) }

/**
 * The update stream of an Assembly, and its signals to the loop that reads the Status. A value in `changed` asks for a
 * reading. `connected` is true while the stream is connected.
 */
interface Updates {
  readonly open: AssemblyClient["Service"]["open"]
  readonly url: ServiceUrl.ServiceUrl
  readonly changed: Queue.Queue<void>
  readonly connected: Ref.Ref<boolean>
}

/**
 * Turns events into signals. The content of an event is not read: the Status is read instead, and only the Status of the
 * right Assembly is an answer. The start of a connection is a signal too, because the Status may have changed while
 * nothing was connected. Returns whether any event arrived.
 */
const listen = ({ changed, connected, open, url }: Updates): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    let events = 0
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event") events++
      },
      { maxEventSize, dispatchEmptyNamedEvents: true }
    )
    const begin = Effect.andThen(Ref.set(connected, true), Queue.offer(changed, undefined))
    return Effect.flatMap(
      open(url, { operation: "Assemblies.watch", accept: "text/event-stream" }),
      ({ status, stream }) => (status === 200 ? Effect.as(begin, stream) : Effect.succeed(Stream.empty))
    ).pipe(
      Stream.unwrap,
      Stream.decodeText,
      Stream.runForEach((piece) => {
        const before = events
        parser.feed(piece)
        return events === before ? Effect.void : Queue.offer(changed, undefined)
      }),
      // The stream only makes the watch faster. Polling finds everything that the stream misses.
      Effect.ignore,
      Effect.ensuring(Ref.set(connected, false)),
      Effect.map(() => events > 0)
    )
  })

/**
 * Listens to the update stream, and connects again when it ends. The pause between connections grows as long as no
 * event arrives. After a connection with an event, the pause is short.
 */
const keepListening = (updates: Updates): Effect.Effect<unknown> =>
  listen(updates).pipe(
    Effect.repeat({ until: Boolean, schedule: spread(growing(reconnect)) }),
    Effect.repeat(spread(Schedule.spaced(reconnect.first)))
  )

/** The last Status, and whether the last reading changed it. */
interface Reading {
  readonly status: Assembly.Status
  readonly isNew: boolean
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

const paceOf = ({ interval = Duration.seconds(1), maxInterval = Duration.seconds(10) }: Settings): Pace => ({
  first: interval,
  max: maxInterval
})

/** Reads the Status once. After a rate limit, waits and reads again. */
const readingOf = (operation: string, assemblyId: Assembly.AssemblyId, settings: Settings) =>
  patiently(getFor(operation, assemblyId), paceOf(settings), settings.maxWait ?? Duration.minutes(1))

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
  AssemblyClient
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
      const { open, origins } = yield* AssemblyClient
      const read = readingOf("Assemblies.watch", assemblyId, settings)
      const changed = yield* Queue.sliding<void>(1)
      const connected = yield* Ref.make(false)
      const first = yield* read
      const url = ServiceUrl.make(first.update_stream_url, origins)
      if (Option.isSome(url) && !Assembly.isOver(first)) {
        yield* Effect.forkScoped(keepListening({ open, url: url.value, changed, connected }))
      }
      const pauseOf = Pauses.make(
        growing(paceOf(settings)).pipe(
          Schedule.modifyDelay(({ duration }) =>
            Effect.map(Ref.get(connected), (isConnected) => (isConnected ? silent : duration))
          ),
          spread
        )
      )
      const next = (last: Reading) =>
        // After a change the pauses are short again.
        Effect.flatMap(pauseOf(undefined, last.isNew), (pause) =>
          Queue.take(changed).pipe(
            Effect.andThen(Effect.sleep(settle)),
            Effect.timeoutOption(Option.getOrElse(pause, () => silent)),
            Effect.andThen(read),
            Effect.map((status): readonly [Assembly.Status, Reading] => [
              status,
              { status, isNew: !Equal.equals(status, last.status) }
            ])
          )
        )
      const later = Stream.unfold<Reading, Assembly.Status, Effect.Error<ReturnType<typeof next>>, AssemblyClient>(
        { status: first, isNew: true },
        next
      )
      return Stream.concat(Stream.succeed(first), later).pipe(Stream.takeUntil(Assembly.isOver), Stream.changes)
    })
  )
