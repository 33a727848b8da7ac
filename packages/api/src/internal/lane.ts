/**
 * A queue in front of something that is taken, such as a token. The first waits until it can take it; the others wait for
 * their turn. Whoever is interrupted, or would wait too long, takes nothing.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"

const histogram = (kind: string) =>
  Metric.histogram("assembly_budget_wait", {
    description: "How long requests waited for the budget of the account",
    boundaries: [100, 1_000, 10_000, 60_000, 600_000, 3_600_000],
    attributes: { kind, time_unit: "milliseconds" }
  })

const late = (wait: number) => new Budget.NotAdmitted({ wait: Option.some(Duration.millis(wait)) })

/** Takes something and returns 0, or returns after which time to try again, in milliseconds. */
type Take = Effect.Effect<number, Budget.NotAdmitted>

/**
 * - `kind`, `reason`: what is waited for, in telemetry and for the listener.
 * - `interval`: the time between two turns, in milliseconds, for an estimate.
 * - `pass`: waits for a time, or until something changes.
 */
export const make = (
  kind: string,
  reason: string,
  interval: number,
  pass: (millis: number) => Effect.Effect<void> = (millis) => Effect.sleep(millis)
) => {
  const turn = Semaphore.makeUnsafe(1)
  let waiting = 0
  let nextAt = 0

  /** How long a newcomer waits, if nobody else takes anything. 0 if it is not known that anybody waits. */
  const ahead = (now: number) => (nextAt <= now || waiting === 0 ? 0 : nextAt - now + waiting * interval)

  const first = (
    take: Take,
    until: number,
    tell: (until: number) => Effect.Effect<void>
  ): Effect.Effect<void, Budget.NotAdmitted> =>
    Effect.flatMap(take, (wait) => {
      if (wait === 0) return Effect.void
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        nextAt = now + wait
        if (nextAt >= until) return Effect.fail(late(wait))
        return tell(nextAt).pipe(
          Effect.andThen(pass(wait)),
          Effect.andThen(Effect.suspend(() => first(take, until, tell)))
        )
      })
    })

  /** Waits until `take` has taken something, at most until the time `until`. */
  return Effect.fnUntraced(function* (take: Take, until: number): Effect.fn.Return<void, Budget.NotAdmitted> {
    const begun = yield* Clock.currentTimeMillis
    const listeners = yield* Budget.Listeners
    let hasWaited = false
    const tell = (end: number) => {
      if (hasWaited) return Effect.void
      hasWaited = true
      return Effect.forEach(listeners, ({ waits }) => waits({ reason, until: end }), { discard: true })
    }
    const wait = ahead(begun)
    if (begun + wait >= until) return yield* late(wait)
    if (wait > 0) yield* tell(begun + wait)
    const queue = Effect.suspend(() => {
      waiting++
      return turn.withPermits(1)(Effect.suspend(() => first(take, until, tell)))
    }).pipe(Effect.ensuring(Effect.sync(() => waiting--)))
    yield* until === Infinity
      ? queue
      : Effect.timeoutOrElse(queue, {
          duration: until - begun,
          orElse: () => Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(late(Math.max(1, nextAt - now))))
        })
    if (!hasWaited) return
    const waited = (yield* Clock.currentTimeMillis) - begun
    for (const listener of listeners) listener.waited?.(waited)
    yield* Metric.update(histogram(kind), waited)
    yield* Effect.annotateCurrentSpan(`assembly.budget.${kind}.wait_ms`, waited)
  })
}
