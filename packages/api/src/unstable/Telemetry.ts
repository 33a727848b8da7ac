/** The span, the count and the duration of each operation, and what they have in common with those of uploads. */
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type * as Operation from "./Operation.ts"

/**
 * The number of operations that have ended, and their duration in milliseconds, retries included, by name and {@link outcomeOf outcome}.
 */
const metricsOf = (operation: string, outcome: string) => ({
  count: Metric.counter("assembly_operations", {
    description: "Operations that ended, by outcome",
    incremental: true,
    attributes: { operation, outcome }
  }),
  duration: Metric.histogram("assembly_operation_duration", {
    description: "How long operations took, by outcome",
    boundaries: [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000],
    attributes: { operation, outcome, time_unit: "milliseconds" }
  })
})

/**
 * The fields of an error that telemetry shows.
 *
 * @since 0.1.0
 * @category models
 */
export interface Told {
  readonly _tag: string
  readonly code?: string
  readonly status?: number
}

/**
 * Whether the program has set a tracer. Without one, a span would only cost time.
 *
 * @since 0.1.0
 * @category utilities
 */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, Tracer.Tracer) !== undefined

/**
 * The attributes of an error in a span. These attributes never contain the message of the error, because the
 * message may contain text of the service.
 */
const attributesOf = (error: Told) => ({
  "error.type": error._tag,
  ...(error.code === undefined ? undefined : { "assembly.error_code": error.code }),
  ...(error.status === undefined ? undefined : { "http.response.status_code": error.status })
})

/**
 * Runs an effect in a span, which gets the fields of its error, if the program has set a tracer.
 *
 * @since 0.1.0
 * @category utilities
 */
export const traced = <A, E extends Told, R>(
  context: Context.Context<never>,
  name: string,
  options: () => Tracer.SpanOptions,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  isTraced(context)
    ? Effect.withSpan(
        Effect.tapError(effect, (error) => Effect.annotateCurrentSpan(attributesOf(error))),
        name,
        { ...options(), captureStackTrace: false }
      )
    : effect

/**
 * The attributes of the server of a request.
 *
 * @since 0.1.0
 * @category utilities
 */
export const serverOf = ({ hostname, port, protocol }: URL) => ({
  "server.address": hostname,
  "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
})

/**
 * The outcome of an ended operation or upload: `success`, `interrupted`, `defect`, or the tag of the error.
 *
 * @since 0.1.0
 * @category utilities
 */
export const outcomeOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): string => {
  if (Exit.isSuccess(exit)) return "success"
  return Option.match(Exit.findErrorOption(exit), {
    onNone: () => (Exit.hasDies(exit) ? "defect" : "interrupted"),
    onSome: ({ _tag }) => _tag
  })
}

/**
 * Adds to an attribute of the current span, which has none at first.
 *
 * @since 0.1.0
 * @category utilities
 */
export const adding = (attribute: string, more: number): Effect.Effect<void> =>
  Effect.currentSpan.pipe(
    Effect.map((span) => {
      span.attribute(attribute, Number(span.attributes.get(attribute) ?? 0) + more)
    }),
    Effect.catch(() => Effect.void)
  )

/**
 * Counts a request that is sent again, in its span.
 *
 * @since 0.1.0
 * @category utilities
 */
export const resent: Effect.Effect<void> = Effect.contextWith((context: Context.Context<never>) =>
  isTraced(context) ? adding("http.request.resend_count", 1) : Effect.void
)

/**
 * Counts an attempt that is repeated.
 *
 * @since 0.1.0
 * @category utilities
 */
export const retried = (operation: string, { _tag: error }: Told): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    Metric.counter("assembly_retries", {
      description: "Retried requests, by error",
      incremental: true,
      attributes: { operation, error }
    }).updateUnsafe(1, context)
    return resent
  })

/**
 * Makes the function that runs an operation with its telemetry: its span, its count and its
 * duration. `run` must not begin before the span.
 *
 * @since 0.1.0
 * @category utilities
 */
export const observer = (operation: Operation.Any, baseUrl: string) => {
  const attributes = {
    "http.request.method": operation.method,
    "url.template": operation.path,
    ...serverOf(new URL(baseUrl))
  }
  const succeeded = metricsOf(operation.name, "success")

  return <A, E extends Told>(
    context: Context.Context<never>,
    call: { readonly attributes?: Readonly<Record<string, unknown>> | undefined; readonly clock: Clock.Clock },
    run: () => Effect.Effect<A, E>
  ): Effect.Effect<A, E> => {
    const begun = call.clock.currentTimeMillisUnsafe()
    const observed = Effect.onExit(Effect.suspend(run), (exit) => {
      const { count, duration } = Exit.isSuccess(exit) ? succeeded : metricsOf(operation.name, outcomeOf(exit))
      duration.updateUnsafe(call.clock.currentTimeMillisUnsafe() - begun, context)
      count.updateUnsafe(1, context)
      return Effect.void
    })
    // An attribute of the operation takes precedence over an attribute of the call with the same name.
    const options = () => ({ kind: "client" as const, attributes: { ...call.attributes, ...attributes } })
    return traced(context, operation.name, options, observed)
  }
}
