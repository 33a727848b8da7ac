/**
 * One queue for each origin in front of a rate limiter. The first request in a queue waits for the next permit; the
 * other requests wait for their turn. A request that is interrupted in the queue, or whose turn would be too late, uses
 * no permit.
 */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as RateLimiter from "effect/persistence/RateLimiter"
import * as Semaphore from "effect/Semaphore"

export interface Options {
  readonly limit: number
  readonly window: Duration.Duration
  readonly algorithm: "fixed-window" | "token-bucket"
  readonly maxPause: Duration.Duration
}

/** The longest pause that the stores of Effect's `RateLimiter` keep. */
export const longestPause = Duration.hours(1)

/**
 * The queue of an origin: the number of waiting requests, and the time of the next permit. Times are in milliseconds.
 */
interface Lane {
  readonly turn: Semaphore.Semaphore
  waiting: number
  nextAt: number
}

const late = (wait: number) => new Admission.NotAdmitted({ wait: Option.some(Duration.millis(wait)) })
const broken = () => new Admission.NotAdmitted({ wait: Option.none() })

/**
 * The estimated time until a new request gets a permit after all waiting requests, in milliseconds. The estimate
 * assumes that no other process uses the limiter.
 */
const estimate = (lane: Lane, now: number, { algorithm, limit, window }: Options): number => {
  const time = Duration.toMillis(window)
  const behind = algorithm === "fixed-window" ? Math.floor(lane.waiting / limit) * time : (lane.waiting * time) / limit
  return lane.waiting === 0 ? 0 : Math.max(0, lane.nextAt - now) + behind
}

/** Makes a gate from a limiter, with one lane (queue) for each origin. */
export const make = (limiter: RateLimiter.RateLimiter, options: Options): Admission.Gate => {
  const lanes = new Map<string, Lane>()
  const laneOf = (origin: string): Lane => {
    const existing = lanes.get(origin)
    if (existing !== undefined) return existing
    const lane: Lane = { turn: Semaphore.makeUnsafe(1), waiting: 0, nextAt: 0 }
    lanes.set(origin, lane)
    return lane
  }

  /**
   * Reads the pause that the service has requested, which is the `delay` of the result. The call consumes no tokens.
   */
  const pauseOf = (key: string) =>
    limiter.adaptiveConsume({ key, tokens: 0, fallbackLimit: options.limit, fallbackWindow: options.window })

  /** Takes a permit and returns 0, or returns the time until the next permit in milliseconds. */
  const take = Effect.fnUntraced(function* (key: string) {
    const pause = Duration.toMillis((yield* pauseOf(key)).delay)
    if (pause > 0) return pause
    return yield* limiter.consume({ ...options, key, onExceeded: "fail" }).pipe(
      Effect.as(0),
      Effect.catchReason("RateLimiterError", "RateLimitExceeded", ({ retryAfter }) =>
        Effect.succeed(Math.max(1, Duration.toMillis(retryAfter)))
      )
    )
  }, Effect.mapError(broken))

  /** Waits for a permit at the head of the lane, at most until the time `until`. */
  const head = (key: string, lane: Lane, until: number): Effect.Effect<void, Admission.NotAdmitted> =>
    Effect.flatMap(take(key), (wait) => {
      if (wait === 0) return Effect.void
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        lane.nextAt = now + wait
        return lane.nextAt >= until
          ? Effect.fail(late(wait))
          : Effect.andThen(
              Effect.sleep(wait),
              Effect.suspend(() => head(key, lane, until))
            )
      })
    })

  /**
   * Waits in the lane, at most until the time `until`. The wait needs this limit, because it may be longer than its
   * estimate: another process may take permits.
   */
  const queue = (key: string, lane: Lane, now: number, until: number): Effect.Effect<void, Admission.NotAdmitted> =>
    Effect.suspend(() => {
      lane.waiting++
      return lane.turn.withPermits(1)(head(key, lane, until))
    }).pipe(Effect.ensuring(Effect.sync(() => lane.waiting--)), (waiting) =>
      until === Infinity
        ? waiting
        : Effect.timeoutOrElse(waiting, {
            duration: until - now,
            orElse: () =>
              Effect.flatMap(Clock.currentTimeMillis, (then) =>
                Effect.fail(late(Math.max(1, estimate(lane, then, options))))
              )
          })
    )

  return {
    enter: Effect.fnUntraced(function* (key, patience) {
      const now = yield* Clock.currentTimeMillis
      const lane = laneOf(key)
      const until = Option.match(patience, { onNone: () => Infinity, onSome: (time) => now + Duration.toMillis(time) })
      const wait = estimate(lane, now, options)
      if (wait > 0 && now + wait >= until) return yield* late(wait)
      yield* queue(key, lane, now, until)
      return Duration.millis((yield* Clock.currentTimeMillis) - now)
    }),
    pause: Effect.fnUntraced(
      function* (key, wait) {
        const { epoch } = yield* pauseOf(key)
        const retryAfter = Duration.min(wait, options.maxPause)
        yield* limiter.adaptiveFeedback({ key, epoch, tokens: 0, status: 429, retryAfter })
      },
      (paused) => Effect.ignore(paused)
    )
  }
}
