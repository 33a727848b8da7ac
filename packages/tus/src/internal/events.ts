/**
 * What a program reports: its events as calls, at a pace, and as a stream, and the spans and the metrics of uploads. The
 * spans and the metrics contain no URL, no id, no file name and no text that the server wrote.
 */
import { isTraced, outcomeOf, serverOf } from "@assembly-effect/api/unstable/Telemetry"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { UploadEvent } from "../UploadEvent.ts"
import type { SourceFailed, UploadSource } from "./source.ts"

interface Tagged {
  readonly _tag: string
}

/**
 * Emits an event, and never waits for the reader of the events.
 *
 * @since 0.1.0
 * @category models
 */
export type Emit<Event extends Tagged = UploadEvent> = (event: Event) => void

/**
 * Holds back each `Progress` that follows an emitted `Progress` within the interval. If an event of another kind
 * follows, the newest `Progress` that is still held back is emitted first. The events of the single files of a job are
 * frequent, so they emit none. Without an interval, every `Progress` is emitted.
 */
export const paced = <Event extends Tagged>(
  emit: Emit<Event>,
  interval: Duration.Input | undefined,
  clock: Clock.Clock
): Emit<Event> => {
  if (interval === undefined) return emit
  const millis = Duration.toMillis(interval)
  let next = -Infinity
  let held: Event | undefined
  return (event) => {
    if (event._tag !== "Progress") {
      if (held !== undefined && !event._tag.startsWith("File")) {
        emit(held)
        held = undefined
      }
      return emit(event)
    }
    const now = clock.currentTimeMillisUnsafe()
    held = now < next ? event : undefined
    if (held !== undefined) return
    next = now + millis
    emit(event)
  }
}

/**
 * The events of a program as a stream. The program does not wait for the reader, and is interrupted when the stream
 * ends. A `Progress` replaces an unread `Progress` directly before it, because a late reader does not need the earlier
 * one.
 */
export const fromProgram = <E, R, Event extends Tagged = UploadEvent>(
  program: (emit: Emit<Event>) => Effect.Effect<unknown, E, R>
): Stream.Stream<Event, E, Exclude<R, Scope.Scope>> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const news = yield* Latch.make(false)
      let unread: Array<Event> = []
      let ended: Exit.Exit<unknown, E> | undefined

      yield* program((event) => {
        if (event._tag === "Progress" && unread.at(-1)?._tag === "Progress") unread.pop()
        unread.push(event)
        news.openUnsafe()
      }).pipe(
        // The program has its own scope, which closes when the program has ended. Closing this scope releases the lease
        // of the upload.
        Effect.scoped,
        // A program that interrupts its own fiber ends the stream too.
        Effect.onExit((exit) =>
          Effect.sync(() => {
            ended = exit
            news.openUnsafe()
          })
        ),
        Effect.exit,
        Effect.forkScoped
      )

      type Events = Arr.NonEmptyReadonlyArray<Event>
      const pull = Effect.suspend((): Effect.Effect<Events, E | Cause.Done> => {
        const [first, ...rest] = unread
        unread = []
        if (first !== undefined) {
          if (ended === undefined) news.closeUnsafe()
          return Effect.succeed([first, ...rest])
        }
        return ended === undefined || Exit.isSuccess(ended) ? Cause.done() : Effect.failCause(ended.cause)
      })
      return Stream.fromPull(Effect.succeed(Effect.andThen(news.await, pull)))
    })
  )

/** The progress of one of several uploads, in bytes. */
export interface Progress {
  readonly sent: bigint
  readonly acknowledged: bigint
}

/** Makes a function that records the progress of one upload, and returns the sum of the progress of all uploads. */
export const sums = (count: number): ((index: number, now: Progress) => Progress) => {
  const each = Array.from({ length: count }, (): Progress => ({ sent: 0n, acknowledged: 0n }))
  const all = { sent: 0n, acknowledged: 0n }
  return (index, { acknowledged, sent }) => {
    all.sent += sent - (each[index]?.sent ?? 0n)
    all.acknowledged += acknowledged - (each[index]?.acknowledged ?? 0n)
    each[index] = { sent, acknowledged }
    return { ...all }
  }
}

/** Reads a source to its end, and returns the number of its bytes. */
export const read = (source: UploadSource): Effect.Effect<bigint, SourceFailed> =>
  Stream.runFold(
    source._tag === "Replayable" ? source.bytes(0n, source.size) : source.stream,
    () => 0n,
    (sum, piece) => sum + BigInt(piece.length)
  )

/** Emits the events of a stream while it is read. `Stream.tap` would add Effect's semaphores to a bundle. */
export const emitting = <Event, E>(
  events: Stream.Stream<Event, E>,
  emit: (event: Event) => void
): Stream.Stream<Event, E> =>
  Stream.map(events, (event) => {
    emit(event)
    return event
  })

const active = Metric.gauge("assembly_uploads_active", { description: "Running uploads" })

const retries = Metric.counter("assembly_upload_retries", { description: "Retried upload requests", incremental: true })

const bytes = Metric.counter("assembly_upload_bytes", {
  description: "Uploaded bytes that servers confirmed",
  incremental: true
})

const boundaries = Metric.exponentialBoundaries({ start: 1, factor: 2, count: 24 })

/** The metrics for one outcome. An outcome is `success`, `interrupted`, `defect`, or the tag of an error. */
const ofOutcome = (outcome: string) => ({
  count: Metric.counter("assembly_uploads", {
    description: "Ended uploads",
    incremental: true,
    attributes: { outcome }
  }),
  duration: Metric.histogram("assembly_upload_duration", {
    description: "Duration of uploads",
    boundaries,
    attributes: { outcome, time_unit: "milliseconds" }
  })
})

const success = ofOutcome("success")

/** Counts the bytes that a response confirms. Counts none if the response confirms more bytes than were sent. */
export const counted = (context: Context.Context<never>, confirmed: bigint | undefined, sent: bigint): void => {
  if (confirmed !== undefined && confirmed > 0n && confirmed <= sent) bytes.updateUnsafe(Number(confirmed), context)
}

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
    const hasTracer = isTraced(context)
    const begun = clock.currentTimeMillisUnsafe()
    let failures = 0
    let isActive = false
    const tell: Emit = (event) => {
      if (event._tag === "Retrying") {
        failures++
        retries.updateUnsafe(1, context)
      }
      emit(event)
    }
    const measured = Effect.onExit(
      Effect.suspend(() => {
        isActive = true
        active.modifyUnsafe(1, context)
        return program(tell, clock)
      }),
      (exit) => {
        const outcome = outcomeOf(exit)
        const metrics = outcome === "success" ? success : ofOutcome(outcome)
        if (isActive) active.modifyUnsafe(-1, context)
        metrics.count.updateUnsafe(1, context)
        metrics.duration.updateUnsafe(clock.currentTimeMillisUnsafe() - begun, context)
        if (!hasTracer) return Effect.void
        return Effect.annotateCurrentSpan({
          ...(failures === 0 ? undefined : { "upload.retries": failures }),
          ...(outcome === "success" ? undefined : { "error.type": outcome })
        })
      }
    )
    if (!hasTracer) return measured
    const attributes = {
      // In a JavaScript program, the source may be any value, and is only checked within the span.
      "upload.source": source?._tag,
      ...(source?.size === undefined ? undefined : { "upload.size": Number(source.size) })
    }
    return Effect.withSpan(measured, "Upload", { attributes, captureStackTrace: false })
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

/**
 * Runs a request in its span, and adds its error to the span. The message of the error is left out, because the server
 * may have written this message.
 */
export const requested = <A, E extends { readonly _tag: string; readonly status?: number }, R>(
  context: Context.Context<never>,
  { method, name, url }: { readonly name: string; readonly method: string; readonly url: string },
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  if (!isTraced(context)) return effect
  const told = Effect.tapError(effect, ({ _tag, status }) =>
    Effect.annotateCurrentSpan({
      "error.type": _tag,
      ...(status === undefined ? undefined : { "http.response.status_code": status })
    })
  )
  return Effect.withSpan(told, name, { ...spanOf(method, url), captureStackTrace: false })
}
