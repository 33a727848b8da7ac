import * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import type * as Operation from "../../Operation.ts"
import * as Completion from "../completion.ts"
import * as Watch from "../watch.ts"
import { type Get, getFor } from "./get.ts"

const Settings = Schema.Struct({
  interval: Schema.optional(Rules.duration),
  maxInterval: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.duration),
  timeout: Schema.optional(Rules.duration)
})

/**
 * The options of `awaitCompletion` and `watch`, which read the Status of an Assembly repeatedly.
 *
 * - `interval`: the first pause between two readings, 1 second by default. Each further pause is 1.5 times as long, up
 *   to `maxInterval`. Up to a tenth of each pause is added at random. In `watch`, the pauses start again at `interval`
 *   after each changed Status. While `watch` is connected to an update stream, it reads the Status after events and
 *   every 30 to 33 seconds instead.
 * - `maxInterval`: the longest pause before the random part is added, 10 seconds by default.
 * - `maxWait`: the maximum pause that a rate limit may request, 1 minute by default. If a rate limit requests a longer
 *   pause, the error is `RateLimited`.
 *
 * Each duration must be positive and finite. If a duration breaks this rule, nothing is read, and the error is
 * `InvalidRequest`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FollowOptions extends Omit<AwaitOptions, "timeout"> {}

/**
 * - `timeout`: the time limit of the whole `awaitCompletion`. By default the limit is 1 hour, without the waits for the
 *   budget of the account. The other options are those of {@link FollowOptions}.
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

const paceOf = ({ interval = Duration.seconds(1), maxInterval = Duration.seconds(10) }: Settings): Completion.Pace => ({
  first: interval,
  max: maxInterval
})

/** Reads the Status once. After a rate limit, waits and reads again. */
const readingOf = (operation: string, assemblyId: Assembly.AssemblyId, settings: Settings) =>
  Completion.patiently(getFor(operation, assemblyId), paceOf(settings), settings.maxWait ?? Duration.minutes(1))

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
  const polled = Completion.poll(readingOf("Assemblies.awaitCompletion", assemblyId, settings), paceOf(settings))
  const ended = yield* (settings.timeout === undefined ? Budget.timeoutOrElse : Effect.timeoutOrElse)(polled, {
    duration: after,
    orElse: () => Effect.fail(new ApiError.TimedOut({ operation: "Assemblies.awaitCompletion", assemblyId, after }))
  })
  return yield* Effect.fromResult(ended)
})

/**
 * Streams the Status of an Assembly: the current Status, each changed Status, and the final Status.
 *
 * If the first Status names an update stream (`update_stream_url`) at an origin of the service, the Status is read
 * after the events of that stream (at most four times a second), and every 30 to 33 seconds to find changes without an
 * event. Without an update stream, or while the stream is broken, the Status is polled; after each change the pauses
 * start again at `interval`. A broken update stream never fails the watch. After a rate limit, the watch waits for the
 * requested pause, if this pause is at most `maxWait`. An update stream or a Status that belongs to another Assembly
 * fails the watch with `UnexpectedResponse`.
 *
 * @since 0.1.0
 * @category operations
 */
export const watch = (assemblyId: Assembly.AssemblyId, options: FollowOptions = {}) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const settings = yield* decodeWatch(options)
      const { open, origins } = yield* AssemblyClient
      const read = readingOf("Assemblies.watch", assemblyId, settings)
      return Watch.watch({ assemblyId, open, origins, read }, paceOf(settings))
    })
  )
