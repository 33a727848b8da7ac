import * as Settings from "@assembly-effect/auth/unstable/Settings"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import type { AwaitOptions, FollowOptions } from "../../Assemblies.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Completion from "../completion.ts"
import * as Watch from "../watch.ts"
import { get } from "./get.ts"

/**
 * What is wrong with the options of {@link awaitCompletion}, for who creates an Assembly before it is followed.
 *
 * @since 0.1.0
 * @category operations
 */
export const awaitOptionIssues = (options: AwaitOptions): ReadonlyArray<ApiError.Issue> =>
  Settings.issues({
    interval: Settings.duration(options.interval),
    maxInterval: Settings.duration(options.maxInterval),
    maxWait: Settings.duration(options.maxWait),
    timeout: Settings.duration(options.timeout)
  })

const check = (operation: string, options: AwaitOptions): Effect.Effect<void, ApiError.InvalidRequest> => {
  const issues = awaitOptionIssues(options)
  return issues.length === 0 ? Effect.void : Effect.fail(new ApiError.InvalidRequest({ operation, issues }))
}

const paceOf = (options: FollowOptions): Completion.Pace => ({
  first: Duration.fromInputUnsafe(options.interval ?? "1 second"),
  max: Duration.fromInputUnsafe(options.maxInterval ?? "10 seconds")
})

/** One reading, whatever the rate limits. */
const readingOf = (assemblyId: Assembly.AssemblyId, options: FollowOptions) =>
  Completion.patiently(get(assemblyId), paceOf(options), Duration.fromInputUnsafe(options.maxWait ?? "1 minute"))

/**
 * Waits until an Assembly has completed, by reading its Status again and again. An Assembly that ends in another way is
 * `AssemblyFailed`, `AssemblyCanceled` or `AssemblyAborted`. A Status that tells no definite end (`Unknown`, see
 * `Assembly.state`) is read again. Rate limits are waited for, up to `maxWait` each. When the whole wait takes longer
 * than `timeout`, the error is `TimedOut`.
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
  | ApiError.AssemblyFailed
  | ApiError.AssemblyCanceled
  | ApiError.AssemblyAborted
  | ApiError.InvalidRequest
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> = Effect.fnUntraced(function* (assemblyId, options = {}) {
  yield* check("Assemblies.awaitCompletion", options)
  const after = Duration.fromInputUnsafe(options.timeout ?? "1 hour")
  const ended = yield* Completion.poll(readingOf(assemblyId, options), paceOf(options)).pipe(
    Effect.timeoutOrElse({
      duration: after,
      orElse: () => Effect.fail(new ApiError.TimedOut({ operation: "Assemblies.awaitCompletion", assemblyId, after }))
    })
  )
  return yield* Effect.fromResult(ended)
})

/**
 * The Status of an Assembly as a Stream: now, each time it has changed, and a last time when the Assembly is over.
 *
 * Where the Status names an update stream (`update_stream_url`), its events say when to read again, and a reading every
 * 30 seconds finds what they do not tell; without one, or while it is broken, the Status is polled, after each change
 * from `interval` on again. A broken update stream never fails the watch, and rate limits are waited for, up to `maxWait`
 * each. One that tells of another Assembly does fail it (`UnexpectedResponse`), as the Status of another Assembly does.
 *
 * @since 0.1.0
 * @category operations
 */
export const watch = (
  assemblyId: Assembly.AssemblyId,
  options: FollowOptions = {}
): Stream.Stream<
  Assembly.Status,
  | ApiError.InvalidRequest
  | ApiError.RateLimited
  | ApiError.ServiceFailure
  | ApiError.UnexpectedResponse
  | ApiError.TransportFailure
  | ApiError.TimedOut,
  AssemblyClient
> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* check("Assemblies.watch", options)
      const { open, origins } = yield* AssemblyClient
      return Watch.watch({ assemblyId, open, origins, read: readingOf(assemblyId, options) }, paceOf(options))
    })
  )
