/**
 * What a runner does while its database fails, for example because the disk is full: it tries again, and logs one line
 * at growing intervals.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { StoreFailed } from "../DurableError.ts"
import * as StoreError from "./storeError.ts"

/** The first pause between two lines about the same outage, and the longest one, in milliseconds. */
const firstPause = 10_000
const longestPause = 600_000

/** An outage has ended if the database did not fail for this time, in milliseconds. */
const quiet = 60_000

/** The pauses between tries: 100 milliseconds, then twice as long, up to 5 seconds. */
const pauses = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

/**
 * - `retrying`: retries until the database answers, because a runner cannot do anything without its database. A damaged
 *   row is not read again.
 * - `reportCause`: reports that one run of a repeated loop failed. If the failure does not come from the database, the
 *   log line contains the whole cause.
 */
export type Outage = ReturnType<typeof make>

export const make = () => {
  let last = -Infinity
  let next = -Infinity
  let pause = firstPause
  const report = ({ message }: StoreFailed): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - last > quiet) {
        next = now
        pause = firstPause
      }
      last = now
      if (now < next) return Effect.void
      next = now + pause
      pause = Math.min(2 * pause, longestPause)
      return Effect.logWarning(`Durable jobs wait for their database: ${message}`)
    })

  const isOutage = (error: unknown): error is StoreFailed =>
    error instanceof StoreFailed && !StoreError.isDamaged(error)

  return {
    report,
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
