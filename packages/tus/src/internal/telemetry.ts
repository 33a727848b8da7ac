/**
 * The spans and the metrics of uploads. The spans and the metrics contain no URL, no id, no file name and, except its
 * error codes, no text that the server wrote.
 */
import { isTraced, outcomeOf, serverOf, traced } from "@assembly-effect/api/unstable/Telemetry"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Emit } from "./events.ts"
import type { UploadSource } from "./source.ts"

const active = Metric.gauge("assembly_uploads_active", { description: "Running uploads" })

const retries = Metric.counter("assembly_upload_retries", { description: "Retried upload requests", incremental: true })

const bytes = Metric.counter("assembly_upload_bytes", {
  description: "Uploaded bytes that servers confirmed",
  incremental: true
})

/** The metrics for one outcome. An outcome is `success`, `interrupted`, `defect`, or the tag of an error. */
const ofOutcome = (outcome: string) => ({
  count: Metric.counter("assembly_uploads", {
    description: "Ended uploads",
    incremental: true,
    attributes: { outcome }
  }),
  duration: Metric.histogram("assembly_upload_duration", {
    description: "Duration of uploads",
    boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 24 }),
    attributes: { outcome, time_unit: "milliseconds" }
  })
})

const success = ofOutcome("success")

/** Counts the bytes that a response confirms. Counts none if the response confirms more bytes than were sent. */
export const counted = (confirmed: bigint | undefined, sent: bigint | number = 0): Effect.Effect<void> =>
  confirmed !== undefined && confirmed > 0n && confirmed <= sent ? Metric.update(bytes, Number(confirmed)) : Effect.void

/**
 * Runs an upload in a span, and updates the metrics. `program` must emit its events with the `emit` that it gets,
 * because this `emit` counts the retries.
 */
export const observe = <A, E extends { readonly _tag: string }, R>(
  source: UploadSource,
  emit: Emit,
  program: (emit: Emit, clock: Clock.Clock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.contextWith((context: Context.Context<R>) => {
    const clock = Context.get(context, Clock.Clock)
    const begun = clock.currentTimeMillisUnsafe()
    let failures = 0
    const tell: Emit = (event) => {
      if (event._tag === "Retrying") {
        failures++
        retries.updateUnsafe(1, context)
      }
      emit(event)
    }
    const measured = Effect.acquireUseRelease(
      Effect.sync(() => active.modifyUnsafe(1, context)),
      () => program(tell, clock),
      (_, exit) => {
        const outcome = outcomeOf(exit)
        const metrics = outcome === "success" ? success : ofOutcome(outcome)
        active.modifyUnsafe(-1, context)
        metrics.count.updateUnsafe(1, context)
        metrics.duration.updateUnsafe(clock.currentTimeMillisUnsafe() - begun, context)
        const isTold = failures > 0 && isTraced(context)
        return isTold ? Effect.annotateCurrentSpan("upload.retries", failures) : Effect.void
      }
    )
    // In a JavaScript program, the source may be any value, and is only checked within the span.
    const size = source?.size === undefined ? undefined : { "upload.size": Number(source.size) }
    return traced(context, "Upload", () => ({ attributes: { "upload.source": source?._tag, ...size } }), measured)
  })

/** The options of a request's span: the kind, the method, the path as a template, and the server. */
export const spanOf = (method: string, url: string) =>
  ({
    kind: "client",
    attributes: {
      "http.request.method": method,
      "url.template": method === "POST" || method === "OPTIONS" ? "/resumable/files/" : "/resumable/files/:id",
      ...serverOf(new URL(url))
    }
  }) as const
