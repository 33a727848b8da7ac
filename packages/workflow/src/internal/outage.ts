/**
 * What a runner does while its database fails, for example because the disk is full: it tries again, and logs one line
 * at growing intervals.
 */
import * as Cause from "effect/Cause"
import { MessageStorage } from "effect/cluster/MessageStorage"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { StoreFailed } from "../DurableError.ts"
import * as StoreError from "./storeError.ts"

/** `report`: logs that the database has failed, unless this was logged a short time before. */
export interface Outage {
  readonly report: (operation: string, error: unknown) => Effect.Effect<void>
}

/** The first pause between two lines about the same outage, and the longest one, in milliseconds. */
const firstPause = 10_000
const longestPause = 600_000

/** An outage has ended if the database did not fail for this time, in milliseconds. */
const quiet = 60_000

const makeReport = (): Outage["report"] => {
  let last = -Infinity
  let next = -Infinity
  let pause = firstPause
  return (operation, error) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - last > quiet) {
        next = now
        pause = firstPause
      }
      last = now
      if (now < next) return Effect.void
      next = now + pause
      pause = Math.min(2 * pause, longestPause)
      const { message } = error instanceof StoreFailed ? error : StoreError.of(operation)(error)
      return Effect.logWarning(`Durable jobs wait for their database: ${message}`)
    })
}

/** Reports the outages of the database of this runner. */
export const Outage: Context.Reference<Outage> = Context.Reference<Outage>("@assembly-effect/workflow/Outage", {
  defaultValue: () => ({ report: makeReport() })
})

/** The pauses between tries: 100 milliseconds, then twice as long, up to 5 seconds. */
export const pauses = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

/**
 * Reports that one run of a repeated loop failed. If the failure does not come from the database, the log line contains
 * the whole cause.
 */
export const reportCause = (outage: Outage, operation: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const error = Cause.squash(cause)
  return error instanceof StoreFailed || StoreError.isOfDatabase(error)
    ? outage.report(operation, error)
    : Effect.logWarning(`Durable jobs: ${operation} failed`, cause)
}

/**
 * Retries the reads and writes of the engine until the database answers. Without these retries, an execution whose
 * result cannot be stored would not continue until the process starts again. When the engine ends, it interrupts the
 * retries.
 *
 * Use this Layer only if the database has a single runner. With several runners, another runner may take over an
 * execution while its result waits to be stored.
 */
export const layer: Layer.Layer<MessageStorage, never, MessageStorage> = Layer.effectContext(
  Effect.map(MessageStorage, (storage) => {
    const report = makeReport()
    const persistently = <A, E, R>(operation: string, access: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      access.pipe(
        Effect.tapError((error) => (StoreError.isOfDatabase(error) ? report(operation, error) : Effect.void)),
        Effect.retry({ while: StoreError.isOfDatabase, schedule: pauses })
      )
    return Context.make(
      MessageStorage,
      MessageStorage.of({
        ...storage,
        saveRequest: (request) => persistently("save a request", storage.saveRequest(request)),
        saveEnvelope: (envelope) => persistently("save a message", storage.saveEnvelope(envelope)),
        saveReply: (reply) => persistently("save a reply", storage.saveReply(reply)),
        clearReplies: (requestId, options) => persistently("clear a reply", storage.clearReplies(requestId, options)),
        unprocessedMessages: (shards, options) =>
          persistently("read messages", storage.unprocessedMessages(shards, options)),
        unprocessedMessagesById: (ids) => persistently("read messages", storage.unprocessedMessagesById(ids))
      })
    ).pipe(Context.add(Outage, { report }))
  })
)
