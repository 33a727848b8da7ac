/**
 * Operations of Assemblies: statistics and list (spec.md, "Endpoints" 1 and 2), and create, replace, get, watch, cancel
 * and replay. The last six are beyond the specification, which names them but does not define them.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Assemblies from "./internal/assemblies.ts"
import * as Pages from "./internal/pages.ts"
import * as Exchange from "./unstable/Exchange.ts"
import * as Operation from "./unstable/Operation.ts"
import * as ServiceUrl from "./unstable/ServiceUrl.ts"

export { Create, Get, get, newId, Replace, replace } from "./internal/assemblies.ts"
export type { AwaitOptions, CreateOptions } from "./internal/assemblies.ts"

/** spec.md, "Limits": the `since` of statistics is at most 91 days ago. The value is in milliseconds. */
const limit = 91 * 24 * 60 * 60 * 1000

/**
 * Matches an ISO 8601 instant. Only a text with `Z` or an offset is unambiguous; the service interprets other texts.
 */
const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/

/** The time in milliseconds; `NaN` if the text is not an instant. */
const instantOf = (since: AssemblyStatistics.Query["since"]): number =>
  DateTime.isDateTime(since) ? DateTime.toEpochMillis(since) : instantText.test(since) ? Date.parse(since) : NaN

/**
 * A `since` of exactly 91 days ago is permitted. A text that is not an instant passes, because only the service can
 * interpret such a text.
 */
const checkSince = ({ since }: AssemblyStatistics.Query, now: DateTime.Utc): ReadonlyArray<Issue> =>
  instantOf(since) < DateTime.toEpochMillis(now) - limit
    ? [{ path: ["since"], message: "Expected a time at most 91 days ago" }]
    : []

/**
 * `GET /assembly_stats`
 *
 * @since 0.1.0
 * @category operations
 */
export const Statistics = Operation.make("Assemblies.statistics", "GET /assembly_stats", {
  scope: "assemblies:read",
  params: AssemblyStatistics.Query,
  success: AssemblyStatistics.Statistics,
  errors: {
    ASSEMBLY_STATS_INVALID_TIME: ApiError.StatisticsInvalidTime,
    ASSEMBLY_STATS_MISSING_REGION: ApiError.StatisticsMissingRegion,
    ASSEMBLY_STATS_ERROR: ApiError.StatisticsUnavailable
  },
  check: checkSince
})

/**
 * Gets the statistics of the Assemblies in a region, from `since` until now.
 *
 * If `since` is more than 91 days ago, and is a `DateTime` or an ISO 8601 text with `Z` or an offset, the operation
 * fails with `InvalidRequest` and sends nothing. Any other text is validated by the service, whose error is
 * `StatisticsInvalidTime`.
 *
 * Without `templateId`, only the Assemblies without a Template are counted. `Assemblies.list` lists the Assemblies with
 * a Template too. With `templateId: "all"`, all Assemblies are counted.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.statistics({ region: "all", since: DateTime.subtract(now, { days: 7 }), templateId: "all" })
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const statistics = (query: AssemblyStatistics.Query) => Operation.run(Statistics, {}, query)

/**
 * `GET /assemblies`
 *
 * @since 0.1.0
 * @category operations
 */
export const List = Operation.make("Assemblies.list", "GET /assemblies", {
  scope: "assemblies:read",
  nonceIn: "auth",
  params: AssemblyList.Query,
  success: AssemblyList.Listing,
  errors: { ASSEMBLY_LIST_ERROR: ApiError.AssemblyListFailed }
})

/**
 * Lists one page of the Assemblies that were created between `fromDate` and `toDate`, newest first. `toDate` is
 * optional. The service counts in whole seconds: `fromDate` is rounded down and `toDate` up.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.list({ fromDate: DateTime.subtract(now, { hours: 1 }), pageSize: 100 })
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const list = (query: AssemblyList.Query) => Operation.run(List, {}, query)

/**
 * Streams the pages of a list, starting at `query.page`. A page is requested when the previous page is emitted, so the
 * request runs while the previous page is processed. Nothing is requested before the first page is pulled.
 *
 * **Stability.** The service lists newest first, so Assemblies that are created during the walk through the pages shift
 * the other Assemblies to later pages. An entry of the last two pages is dropped if it appears again, so no entry is
 * missed or repeated as long as fewer than `pageSize` Assemblies are created between two requests. Under the same
 * condition, Assemblies that are created during the walk are not listed. With a `toDate` in the past, new Assemblies
 * shift no entry. Assemblies that leave the list during the walk, for example with the `type` `executing`, shift the
 * other Assemblies to earlier pages. For each Assembly that left the list, the stream may miss one entry.
 *
 * @since 0.1.0
 * @category operations
 */
export const listPages = (query: AssemblyList.Query) => Pages.walk(query, list)

/**
 * Streams the entries of all pages, newest first. {@link listPages} describes when an entry may be missed or repeated.
 * Holds two pages in memory.
 *
 * @example
 * Effect.flatMap(DateTime.now, (now) =>
 *   Assemblies.listAll({ fromDate: DateTime.subtract(now, { days: 7 }), type: "failed", pageSize: 500 }).pipe(
 *     Stream.runForEach((entry) => Console.log(entry.id))
 *   )
 * )
 *
 * @since 0.1.0
 * @category operations
 */
export const listAll = (query: AssemblyList.Query) =>
  Stream.flatMap(listPages(query), ({ items }) => Stream.fromIterable(items))

/**
 * Creates an Assembly. The Steps of the Assembly are checked by the rules of `Instructions.make` before anything is
 * sent. Without `assemblyId`, the id is generated as by {@link newId}.
 *
 * If the creation request fails, and its failure does not prove that the Assembly was not created, the Status is
 * requested. The proofs are a rate limit, a request of which no byte was sent, and the HTTP statuses 501 and 4xx except
 * 408, 423, 425 and 499, whatever the body says. A 409 is a proof only if the caller chose the id. If the service knows
 * the Assembly, its Status is the result. If the Status cannot be read, the operation fails with the error of the
 * creation request. Every error after the creation request was sent contains the `assemblyId`, so that a caller can
 * request the Status later. The creation request is repeated only after a rate limit, after a refused token, after an
 * expired signature, or if no byte of the request was sent.
 *
 * @example
 * Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 *
 * @since 0.1.0
 * @category operations
 */
export const create = (options: Assemblies.CreateOptions) => Assemblies.createWith(options)

/**
 * `POST /assemblies/:assemblyId/replay`. The operation is beyond the specification, which names it but does not define
 * it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Replay = Operation.make("Assemblies.replay", "POST /assemblies/:assemblyId/replay", {
  variables: { assemblyId: Assembly.AssemblyId },
  scope: "assemblies:write",
  params: AssemblyReplay.ReplayRequest,
  success: AssemblyReplay.Replayed,
  creates: true
})

/**
 * Runs the files of an Assembly again, as a new Assembly. Without `request`, the new Assembly has the same Steps. The
 * id of the new Assembly is the `assembly_id` of the result.
 *
 * Beyond the specification.
 *
 * @example
 * Assemblies.replay(assemblyId, { reparseTemplate: true })
 *
 * @since 0.1.0
 * @category operations
 */
export const replay = (assemblyId: Assembly.AssemblyId, request: AssemblyReplay.ReplayRequest = {}) =>
  Operation.run(Replay, { assemblyId }, request)

/** {@link get} as a part of another operation, which an `InvalidRequest` names. */
const getFor = (operation: string, assemblyId: Assembly.AssemblyId): ReturnType<typeof Assemblies.get> =>
  Effect.mapError(Assemblies.get(assemblyId), (error) =>
    error._tag === "InvalidRequest" ? new InvalidRequest({ ...error, operation }) : error
  )

/**
 * `DELETE /assemblies/:assemblyId`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Cancel = Operation.make("Assemblies.cancel", "DELETE /assemblies/:assemblyId", {
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  carrier: "query",
  answers: "assemblyStatus",
  success: Assembly.Status
})

/**
 * Whether the state of the Assembly is unknown after a failure of the DELETE request: the failure does not prove that
 * the service did nothing, or the response has the status 404 or 410.
 */
const mayBeCanceled = (error: Operation.Failure<typeof Cancel>): boolean =>
  Assemblies.isLost(error) || ("status" in error && (error.status === 404 || error.status === 410))

/**
 * Cancels an Assembly and returns its final Status. If the Assembly had already ended, the Status shows that end
 * instead of a cancellation. The current Status is read first, and the DELETE request is sent to its
 * `assembly_ssl_url`. If that URL is missing, does not belong to the service or does not contain the id of the
 * Assembly, the DELETE request is sent to the base URL. The DELETE request is repeated only if the service did nothing.
 *
 * The Status is read again if the DELETE request fails without a proof that the service did nothing, after the status
 * 404 or 410, and if the response to the DELETE request is not a final Status. If the Status is not final then, the
 * error is `UnexpectedResponse`: the Assembly may still run.
 *
 * @since 0.1.0
 * @category operations
 */
export const cancel = Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId) {
  const client = yield* Operation.AssemblyClient
  const { assembly_ssl_url: address } = yield* getFor(Cancel.name, assemblyId)
  /** The URL of the Assembly in its Status, if this URL belongs to the service and contains the id of the Assembly. */
  const at = Option.filter(
    ServiceUrl.make(address, client.origins),
    (url) => ServiceOrigins.assemblyIdAt(Redacted.value(url)) === assemblyId
  )
  const canceled = yield* client
    .run(Cancel, { path: { assemblyId }, params: {}, fields: {}, at: Option.getOrUndefined(at) })
    .pipe(
      Effect.catchIf(mayBeCanceled, (lost) =>
        Effect.mapError(Assemblies.get(assemblyId), (error) => (Assemblies.isLost(lost) ? lost : error))
      )
    )
  if (Assembly.isOver(canceled)) return canceled
  const status = yield* Assemblies.get(assemblyId)
  if (Assembly.isOver(status)) return status
  const subject = { operation: Cancel.name, assemblyId }
  return yield* Exchange.unexpected(subject, 200, "the Assembly has not ended after its cancellation")
})

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

/** Adds up to a tenth to a pause at random, so that many watchers do not read at the same time. */
const spread = (pause: number): Effect.Effect<number> => Effect.map(Random.next, (chance) => pause * (1 + chance / 10))

/** The pauses of a pace, one after the other. */
const growing = ({ first, max }: Pace) =>
  Schedule.modifyDelay(Schedule.exponential(first, 1.5), ({ duration }) =>
    spread(Math.min(Duration.toMillis(duration), max))
  )

/**
 * The pause that a rate limit requests, or `Infinity` for any other error. Recognises the error by its tag, because the
 * client may be of a second copy of this package.
 */
const millisAsked = (error: unknown): number =>
  Predicate.isTagged(error, "RateLimited") ? Duration.toMillis((error as ApiError.RateLimited).retryAfter) : Infinity

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
const keepListening = (updates: Updates, url: ServiceUrl.ServiceUrl): Effect.Effect<never> =>
  listen(updates, url).pipe(
    Effect.repeat({ until: (hasHeard) => hasHeard, schedule: growing(reconnect) }),
    Effect.andThen(Effect.flatMap(spread(reconnect.first), Effect.sleep)),
    Effect.forever
  )

const decodeAwait = Rules.decoder("Assemblies.awaitCompletion", Assemblies.AwaitSettings)
const decodeWatch = Rules.decoder("Assemblies.watch", Assemblies.AwaitSettings)

type Settings = typeof Assemblies.AwaitSettings.Type

const paceOf = ({ interval = Duration.seconds(1), maxInterval = Duration.seconds(10) }: Settings): Pace => {
  const max = Duration.toMillis(maxInterval)
  return { first: Math.min(Duration.toMillis(interval), max), max }
}

/**
 * Reads the Status. After a rate limit, reads it again, because a rate limit says nothing about the Assembly. If a rate
 * limit requests a longer pause than `maxWait`, the effect fails with `RateLimited`.
 */
const readingOf = (operation: string, assemblyId: Assembly.AssemblyId, settings: Settings) => {
  const maxWait = Duration.toMillis(settings.maxWait ?? 60_000)
  return Effect.retry(getFor(operation, assemblyId), {
    while: (error) => millisAsked(error) <= maxWait,
    schedule: Schedule.modifyDelay(growing(paceOf(settings)), ({ duration, input }) =>
      Effect.succeed(Math.max(Duration.toMillis(duration), millisAsked(input)))
    )
  })
}

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
  options?: Assemblies.AwaitOptions
) => Effect.Effect<
  Assembly.Status,
  | ApiError.AssemblyFailed
  | ApiError.AssemblyCanceled
  | ApiError.AssemblyAborted
  | Operation.Failure<typeof Assemblies.Get>,
  Operation.AssemblyClient
> = Effect.fnUntraced(function* (assemblyId, options = {}) {
  const settings = yield* decodeAwait(options)
  const { timeout: after = Duration.hours(1) } = settings
  const operation = "Assemblies.awaitCompletion"
  let last: { readonly state?: string } = {}
  const read = Effect.map(readingOf(operation, assemblyId, settings), (status) => {
    last = status.ok ? { state: Redaction.code(status.ok) } : {}
    return outcome(status)
  })
  const ended = yield* (settings.timeout === undefined ? Budget.timeoutOrElse : Effect.timeoutOrElse)(
    Effect.repeat(read, { until: Option.isSome, schedule: growing(paceOf(settings)) }),
    { duration: after, orElse: () => Effect.fail(new ApiError.TimedOut({ operation, assemblyId, after, ...last })) }
  )
  return yield* Effect.fromResult(Option.getOrThrow(ended))
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
export const watch = (assemblyId: Assembly.AssemblyId, options: Omit<Assemblies.AwaitOptions, "timeout"> = {}) =>
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

      const begin = { status: first, pause: pace.first }
      /** Reads the Status after the pause that the last reading has determined. */
      const next = Effect.fnUntraced(function* (last: typeof begin) {
        const millis = yield* spread(updates.isConnected ? silent : last.pause)
        yield* Queue.take(updates.changed).pipe(Effect.andThen(Effect.sleep(settle)), Effect.timeoutOption(millis))
        const status = yield* read
        // After a change the pauses are short again.
        const pause = Equal.equals(status, last.status) ? Math.min(last.pause * 1.5, pace.max) : pace.first
        return [status, { status, pause }] as const
      })
      return Stream.concat(Stream.succeed(first), Stream.unfold(begin, next)).pipe(
        Stream.takeUntil(Assembly.isOver),
        Stream.changes
      )
    })
  )
