/**
 * When a request may leave: the permit that it waits for, before its own time begins.
 *
 * Without a Layer every request leaves at once. `@assembly-effect/api/Guard` has a rate limiter. Every package that
 * sends asks here: the operations, the uploads and the token requests.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withLimit } from "../internal/readBody.ts"

/**
 * A request was not let through, and was not sent. `wait` is the time until it could have been, where that is more than
 * it may wait; none where the limiter itself does not work.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotAdmitted extends Data.TaggedError("NotAdmitted")<{
  readonly wait: Option.Option<Duration.Duration>
}> {
  override get message() {
    return Option.match(this.wait, {
      onNone: () => "the rate limiter does not work; nothing was sent",
      onSome: (wait) => `the rate limiter has no permit for ${Duration.toSeconds(wait)} s; nothing was sent`
    })
  }
}

/**
 * What lets requests through, for each origin.
 *
 * - `enter`: waits for a permit for one request, and answers how long that took. Fails as soon as it is known that the
 *   wait is longer than `patience`; no permit is used up then, nor by a fiber that is interrupted.
 * - `pause`: the service asked for a pause; every request to that origin waits.
 *
 * @since 0.1.0
 * @category models
 */
export interface Gate {
  readonly enter: (
    origin: string,
    patience: Option.Option<Duration.Duration>
  ) => Effect.Effect<Duration.Duration, NotAdmitted>
  readonly pause: (origin: string, wait: Duration.Duration) => Effect.Effect<void>
}

const open: Gate = {
  enter: () => Effect.succeed(Duration.zero),
  pause: () => Effect.void
}

/**
 * The gate of the context, where there is one. An `AssemblyClient` and `Tokens` also know the one that was there when
 * they were built; one that is provided for a call comes before it.
 *
 * @since 0.1.0
 * @category references
 */
export const Admission = Context.Reference<Gate | undefined>("@assembly-effect/auth/unstable/Admission", {
  defaultValue: () => undefined
})

/**
 * The gate of the call, else the one that was built in, else none at all.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gate = (builtIn?: Gate): Effect.Effect<Gate> =>
  Effect.map(Admission, (provided) => provided ?? builtIn ?? open)

/** What happens when a request leaves. */
const Departure = Context.Reference<Effect.Effect<unknown>>("@assembly-effect/auth/Admission/Departure", {
  defaultValue: () => Effect.void
})

/**
 * Waits for the permit of one request to `url`, and answers how long that took.
 *
 * @since 0.1.0
 * @category utilities
 */
export const enter = (
  through: Gate,
  url: string,
  patience?: Duration.Duration
): Effect.Effect<Duration.Duration, NotAdmitted> =>
  through === open
    ? Effect.as(Effect.flatten(Departure), Duration.zero)
    : Effect.tap(through.enter(new URL(url).origin, Option.fromUndefinedOr(patience)), () => Effect.flatten(Departure))

/**
 * Tells the gate of the pause that the origin of `url` asked for.
 *
 * @since 0.1.0
 * @category utilities
 */
export const pause = (at: Gate, url: string, wait: Duration.Duration): Effect.Effect<void> =>
  Duration.isZero(wait) ? Effect.void : at.pause(new URL(url).origin, wait)

/**
 * Limits the time of a request from when it leaves: the wait for a permit is not part of it. `limit` is what fails when
 * the time is over, see `Transport.withLimit`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withLimitFromDeparture = <A, E, R, E2, R2>(
  request: Effect.Effect<A, E, R>,
  limit: Effect.Effect<never, E2, R2>
): Effect.Effect<A, E | E2, R | R2> =>
  Effect.flatMap(Deferred.make<void>(), (departed) =>
    withLimit(
      Effect.provideService(request, Departure, Deferred.succeed(departed, undefined)),
      Effect.andThen(Deferred.await(departed), limit)
    )
  )
