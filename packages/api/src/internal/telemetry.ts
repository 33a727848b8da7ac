import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Operation from "../Operation.ts"

/** Operations that ended, by operation and outcome: the tag of the error, or `success`. */
const requests = (operation: string, outcome: string) =>
  Metric.counter("assembly_operations", {
    description: "Operations of the Assembly Processing Service that ended, by operation and outcome",
    incremental: true,
    attributes: { operation, outcome }
  })

const retries = (operation: string, error: string) =>
  Metric.counter("assembly_retries", {
    description: "Requests that were sent again, by operation and the error before",
    incremental: true,
    attributes: { operation, error }
  })

/** What an error tells in a span or a log: never its message, which the other side wrote. */
const attributesOf = (error: { readonly _tag: string; readonly code?: string; readonly status?: number }) => ({
  "error.type": error._tag,
  ...(error.code === undefined ? undefined : { "assembly.error_code": error.code }),
  ...(error.status === undefined ? undefined : { "http.response.status_code": error.status })
})

/** Counts and logs an attempt that is followed by another one, after `pause` milliseconds. */
export const retried = (
  operation: string,
  {
    error,
    failures,
    pause
  }: { readonly error: { readonly _tag: string }; readonly failures: number; readonly pause: number }
): Effect.Effect<void> =>
  Metric.update(retries(operation, error._tag), 1).pipe(
    Effect.andThen(Effect.annotateCurrentSpan("http.request.resend_count", failures)),
    Effect.andThen(
      Effect.logDebug(`${operation}: again in ${Math.round(pause)} ms`).pipe(
        Effect.annotateLogs({ failures, ...attributesOf(error) })
      )
    )
  )

/** Logs that the clock is wrong: it goes unnoticed otherwise. */
export const corrected = (operation: string, clockSkew: number): Effect.Effect<void> =>
  Effect.logWarning(`${operation}: the clock of the service is ${clockSkew} ms ahead; signing with that corrected`)

/** The span of an operation, its count, and a debug log of its failure. */
export const observe = (operation: Operation.Any, baseUrl: string) => {
  const { hostname, port, protocol } = new URL(baseUrl)
  const attributes = {
    "http.request.method": operation.method,
    "url.template": operation.path,
    "server.address": hostname,
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
  }
  const succeeded = requests(operation.name, "success")

  return <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    effect.pipe(
      Effect.tap(() => Metric.update(succeeded, 1)),
      Effect.tapError((error) => {
        const details = attributesOf(error)
        return Metric.update(requests(operation.name, error._tag), 1).pipe(
          Effect.andThen(Effect.annotateCurrentSpan(details)),
          Effect.andThen(Effect.logDebug(`${operation.name} failed`).pipe(Effect.annotateLogs(details)))
        )
      }),
      Effect.withSpan(operation.name, { kind: "client", attributes }, { captureStackTrace: false })
    )
}
