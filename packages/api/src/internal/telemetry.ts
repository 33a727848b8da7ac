import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type * as Operation from "../Operation.ts"
import { skewed } from "../unstable/ErrorDetails.ts"

/**
 * Counts the operations that have ended, by name and outcome. The outcome is `success`, `interrupted`, `defect`, or the
 * tag of the error.
 */
const requests = (operation: string, outcome: string) =>
  Metric.counter("assembly_operations", {
    description: "Operations that ended, by outcome",
    incremental: true,
    attributes: { operation, outcome }
  })

/** Measures the duration of operations in milliseconds, retries included, by name and outcome. */
const durations = (operation: string, outcome: string) =>
  Metric.histogram("assembly_operation_duration", {
    description: "How long operations took, by outcome",
    boundaries: [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000],
    attributes: { operation, outcome, unit: "ms" }
  })

/** The fields of an error that telemetry shows. */
interface Told {
  readonly _tag: string
  readonly code?: string
  readonly status?: number
}

/** Whether the program has set a tracer. Without one, a span would only cost time. */
const isTraced = (context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, Tracer.Tracer) !== undefined

const outcomeOf = <A, E extends Told>(exit: Exit.Failure<A, E>): string =>
  Option.match(Exit.findErrorOption(exit), {
    onNone: () => (Exit.hasDies(exit) ? "defect" : "interrupted"),
    onSome: ({ _tag }) => _tag
  })

const retries = (operation: string, error: string) =>
  Metric.counter("assembly_retries", {
    description: "Retried requests, by error",
    incremental: true,
    attributes: { operation, error }
  })

/**
 * The attributes of an error in a span or a log. These attributes never contain the message of the error, because the
 * message may contain text of the service.
 */
const attributesOf = (error: Told) => ({
  "error.type": error._tag,
  ...(error.code === undefined ? undefined : { "assembly.error_code": error.code }),
  ...(error.status === undefined ? undefined : { "http.response.status_code": error.status })
})

/** The attributes of the server of a request. */
export const serverOf = ({ hostname, port, protocol }: URL) => ({
  "server.address": hostname,
  "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
})

/** Counts and logs an attempt that is repeated after `pause` milliseconds. */
export const retried = (
  operation: string,
  {
    error,
    failures,
    pause
  }: { readonly error: { readonly _tag: string }; readonly failures: number; readonly pause: number }
): Effect.Effect<void> =>
  Metric.update(retries(operation, error._tag), 1).pipe(
    Effect.andThen(
      Effect.contextWith((context: Context.Context<never>) =>
        isTraced(context) ? Effect.annotateCurrentSpan("http.request.resend_count", failures) : Effect.void
      )
    ),
    Effect.andThen(
      Effect.logDebug(`${operation}: retrying in ${Math.round(pause)} ms`).pipe(
        Effect.annotateLogs({ failures, ...attributesOf(error) })
      )
    )
  )

/**
 * Logs the clock skew for which the next request is corrected. If this request succeeds, only this log shows the clock
 * skew.
 */
export const corrected = (operation: string, clockSkew: number): Effect.Effect<void> =>
  Effect.logWarning(`${operation}: ${skewed(clockSkew)}; signing with the corrected time`)

/**
 * Makes the function that runs an operation with its telemetry: its span, its count, its duration, and a debug log of
 * its failure. `run` must not begin before the span.
 */
export const observer = (operation: Operation.Any, baseUrl: string) => {
  const attributes = {
    "http.request.method": operation.method,
    "url.template": operation.path,
    ...serverOf(new URL(baseUrl))
  }
  const succeeded = { count: requests(operation.name, "success"), duration: durations(operation.name, "success") }

  const tell = (exit: Exit.Failure<unknown, Told>, hasTracer: boolean): Effect.Effect<void> =>
    Option.match(Exit.findErrorOption(exit), {
      onNone: () => Effect.void,
      onSome: (error) => {
        const details = attributesOf(error)
        const logged = Effect.logDebug(`${operation.name} failed`).pipe(Effect.annotateLogs(details))
        return hasTracer ? Effect.andThen(Effect.annotateCurrentSpan(details), logged) : logged
      }
    })

  return <A, E extends Told>(
    context: Context.Context<never>,
    ofCall: Readonly<Record<string, unknown>> | undefined,
    run: () => Effect.Effect<A, E>
  ): Effect.Effect<A, E> => {
    const clock = Context.get(context, Clock.Clock)
    const hasTracer = isTraced(context)
    const begun = clock.currentTimeMillisUnsafe()
    const observed = Effect.onExit(hasTracer ? Effect.suspend(run) : run(), (exit) => {
      const took = clock.currentTimeMillisUnsafe() - begun
      if (Exit.isFailure(exit)) {
        const outcome = outcomeOf(exit)
        durations(operation.name, outcome).updateUnsafe(took, context)
        requests(operation.name, outcome).updateUnsafe(1, context)
        return tell(exit, hasTracer)
      }
      succeeded.duration.updateUnsafe(took, context)
      succeeded.count.updateUnsafe(1, context)
      return Effect.void
    })
    if (!hasTracer) return observed
    // An attribute of the operation takes precedence over an attribute of the call with the same name.
    const all = { ...ofCall, ...attributes }
    return Effect.withSpan(observed, operation.name, { kind: "client", attributes: all, captureStackTrace: false })
  }
}
