import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Completion from "../completion.ts"
import * as Watch from "../watch.ts"
import { get } from "./get.ts"

/**
 * How an Assembly is followed. `interval` is the first pause between two readings, 1 second by default; it grows to
 * `maxInterval`, 10 seconds by default.
 */
export interface FollowOptions {
  readonly interval?: Duration.Input | undefined
  readonly maxInterval?: Duration.Input | undefined
}

const paceOf = (options: FollowOptions | undefined): Completion.Pace => ({
  first: Duration.fromInputUnsafe(options?.interval ?? "1 second"),
  max: Duration.fromInputUnsafe(options?.maxInterval ?? "10 seconds")
})

/**
 * Waits until an Assembly has completed, by reading its Status again and again. An Assembly that ends in another way is
 * `AssemblyFailed`, `AssemblyCanceled` or `AssemblyAborted`. A Status that tells no definite end (`Unknown`, see
 * `Assembly.state`) is read again. Rate limits are waited for. `timeout` is for the whole wait, 1 hour by default; then
 * the error is `TimedOut`.
 *
 * @example Assemblies.awaitCompletion(assemblyId, { timeout: "10 minutes" })
 */
export const awaitCompletion = (
  assemblyId: Assembly.AssemblyId,
  options?: FollowOptions & { readonly timeout?: Duration.Input | undefined }
) => {
  const after = Duration.fromInputUnsafe(options?.timeout ?? "1 hour")
  const pace = paceOf(options)
  return Completion.poll(Completion.patiently(get(assemblyId), pace), pace).pipe(
    Effect.timeoutOrElse({
      duration: after,
      orElse: () => Effect.fail(new ApiError.TimedOut({ operation: "Assemblies.awaitCompletion", assemblyId, after }))
    }),
    Effect.flatten
  )
}

/**
 * The Status of an Assembly as a Stream: now, each time it has changed, and a last time when the Assembly is over.
 *
 * Where the Status names an update stream (`update_stream_url`), its events say when to read again, and a reading every
 * 30 seconds finds what they do not tell; without one, or while it is broken, the Status is polled. A broken update
 * stream never fails the watch, and rate limits are waited for. One that tells of another Assembly does fail it
 * (`UnexpectedResponse`), as the Status of another Assembly does.
 */
export const watch = (assemblyId: Assembly.AssemblyId, options?: FollowOptions) => {
  const pace = paceOf(options)
  const read = Completion.patiently(get(assemblyId), pace)
  return Stream.unwrap(AssemblyClient.use(({ open }) => Effect.succeed(Watch.watch({ assemblyId, open, read }, pace))))
}
