import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import type * as Operation from "../Operation.ts"

const requests = Metric.counter("assembly_operations", {
  description: "Operations of the Assembly Processing Service that ended, by operation and outcome",
  incremental: true
})

const retries = Metric.counter("assembly_retries", {
  description: "Requests that were sent again, by operation and the error before",
  incremental: true
})

/** What an error tells in a span or a log: never its message, which the other side wrote. */
const attributesOf = (error: { readonly _tag: string; readonly code?: string; readonly status?: number }) => ({
  "error.type": error._tag,
  ...(error.code === undefined ? undefined : { "assembly.error_code": error.code }),
  ...(error.status === undefined ? undefined : { "http.response.status_code": error.status })
})

/** Counts and logs an attempt that is followed by another one. */
export const retried = (
  operation: string,
  {
    error,
    failures,
    pause
  }: { readonly error: { readonly _tag: string }; readonly failures: number; readonly pause: Duration.Duration }
): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(retries, { operation, error: error._tag }), 1).pipe(
    Effect.andThen(Effect.annotateCurrentSpan("http.request.resend_count", failures)),
    Effect.andThen(
      Effect.logDebug(`${operation}: again in ${Duration.format(pause)}`).pipe(
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
  const count = (outcome: string) => Metric.withAttributes(requests, { operation: operation.name, outcome })
  const succeeded = count("success")

  return <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    effect.pipe(
      Effect.onExit((exit) => {
        if (Exit.isSuccess(exit)) return Metric.update(succeeded, 1)
        return Effect.void
      }),
      Effect.tapError((error) => {
        const details = attributesOf(error)
        return Metric.update(count(error._tag), 1).pipe(
          Effect.andThen(Effect.annotateCurrentSpan(details)),
          Effect.andThen(Effect.logDebug(`${operation.name} failed`).pipe(Effect.annotateLogs(details)))
        )
      }),
      Effect.withSpan(operation.name, { kind: "client", attributes }, { captureStackTrace: false })
    )
}
