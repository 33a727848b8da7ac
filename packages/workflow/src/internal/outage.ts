/** What a runner does while its database fails, for example because the disk is full: it tries again, and logs a line a minute. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { StoreFailed } from "../DurableError.ts"
import { isDamaged } from "./database.ts"

/** The pause between two lines about outages, in nanoseconds. */
const minute = 60_000_000_000n

/** The pauses between tries: 100 milliseconds, then twice as long, up to 5 seconds. */
const pauses = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

const isOutage = (error: unknown): error is StoreFailed => error instanceof StoreFailed && !isDamaged(error)

/**
 * - `retrying`: retries until the database answers, because a runner cannot do anything without its database. A damaged
 *   row is not read again.
 * - `reportCause`: reports that one run of a repeated loop failed. If the failure does not come from the database, the
 *   log line contains the whole cause.
 */
export type Outage = ReturnType<typeof make>

export const make = () => {
  let next: bigint | undefined
  const report = ({ message }: StoreFailed): Effect.Effect<void> =>
    Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
      if (next !== undefined && now < next) return Effect.void
      next = now + minute
      return Effect.logWarning(`Durable jobs wait for their database: ${message}`)
    })

  return {
    retrying: <A, E, R>(access: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      access.pipe(
        Effect.tapError((error) => (isOutage(error) ? report(error) : Effect.void)),
        Effect.retry({ while: isOutage, schedule: pauses })
      ),
    reportCause: (operation: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
      const error = Cause.squash(cause)
      return error instanceof StoreFailed
        ? report(error)
        : Effect.logWarning(`Durable jobs: ${operation} failed`, cause)
    }
  }
}
