/**
 * Admission of requests: a request waits for a permit before its time limit starts.
 *
 * Without a rate limiter every request is sent at once. `@assembly-effect/api/Guard` provides a rate limiter. The
 * requests of operations, uploads and tokens use this module. The requests of `Results` and of `WebSource.fromUrl` do
 * not.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { restMillis } from "./Outcome.ts"

/**
 * A request was not admitted, so it was not sent. If the wait for a permit would exceed `patience` (the longest wait
 * that the caller accepts), `wait` is the estimated time until the rate limiter can give a permit. If the rate limiter
 * itself failed, `wait` is `None`.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotAdmitted extends Data.TaggedError("NotAdmitted")<{
  readonly wait: Option.Option<Duration.Duration>
}> {
  override get message() {
    return Option.match(this.wait, {
      onNone: () => "the rate limiter failed; no request was sent",
      onSome: (wait) => `the rate limiter has no permit for ${Duration.toSeconds(wait)} s; no request was sent`
    })
  }
}

/**
 * Admits requests, separately for each origin.
 *
 * - `enter`: waits for a permit for one request, and returns how long the request waited. `enter` fails as soon as the
 *   wait is known to exceed `patience`. After a failure or an interruption no permit is used.
 * - `pause`: makes every request to the origin wait, because the service requested a pause.
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
 * Whether a gate admits every request at once.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOpen = (gate: Gate): boolean => gate === open

/**
 * What a program provides to limit its requests: a gate, or a function that takes the current gate and returns another
 * gate. The value is undefined if the program provides nothing.
 *
 * @since 0.1.0
 * @category models
 */
export type Provided = Gate | ((gate: Gate) => Gate) | undefined

/**
 * The gate in the context, if any. `AssemblyClient` and `Tokens` use the gate that was in their context when they were
 * built. A gate that is provided for one call of an operation takes precedence over the gate of the client. A function
 * that is provided for one call wraps the gate of the client.
 *
 * @since 0.1.0
 * @category references
 */
export const Admission = Context.Reference<Provided>("@assembly-effect/auth/unstable/Admission", {
  defaultValue: () => undefined
})

/**
 * The gate that a request passes: `provided` if it is a gate, `provided(inner)` if `provided` is a function, else
 * `inner`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const apply = (provided: Provided, inner: Gate): Gate =>
  typeof provided === "function" ? provided(inner) : (provided ?? inner)

/**
 * The gate of one call, from the context of the call. A gate in this context takes precedence over `builtIn`, and a
 * function wraps `builtIn`. If the context has no value and `builtIn` is undefined, the gate admits every request.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gateIn = (context: Context.Context<never>, builtIn?: Provided): Gate =>
  apply(Context.get(context, Admission), apply(builtIn, open))

/**
 * {@link gateIn} the context of the fiber.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gate = (builtIn?: Provided): Effect.Effect<Gate> =>
  Effect.contextWith((context: Context.Context<never>) => Effect.succeed(gateIn(context, builtIn)))

/**
 * The progress of an exchange. `departed` runs when the request has got its permit. While `limit.isOff`, the time limit
 * of the exchange does not end it.
 */
interface Progress {
  readonly departed: Effect.Effect<unknown>
  readonly limit: { isOff: boolean }
}

const Progress = Context.Reference<Progress>("@assembly-effect/auth/Admission/Progress", {
  defaultValue: () => ({ departed: Effect.void, limit: { isOff: false } })
})

const departed = Effect.flatMap(Progress, (progress) => progress.departed)

/**
 * Runs `reading` after a status has decided the outcome. Meanwhile, the limit of {@link withLimitFromDeparture} does not
 * end the exchange, so that the status is not lost. `reading` has its own limit of time.
 *
 * @since 0.1.0
 * @category combinators
 */
export const afterStatus = <A, E, R>(reading: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Progress, ({ limit }) => {
    limit.isOff = true
    return Effect.ensuring(
      reading,
      Effect.sync(() => {
        limit.isOff = false
      })
    )
  })

/**
 * Waits for a permit for one request to `url`, and returns how long the request waited.
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
    ? Effect.as(departed, Duration.zero)
    : Effect.tap(through.enter(new URL(url).origin, Option.fromUndefinedOr(patience)), () => departed)

/**
 * Passes a requested pause for the origin of `url` to the gate.
 *
 * @since 0.1.0
 * @category utilities
 */
export const pause = (at: Gate, url: string, wait: Duration.Duration): Effect.Effect<void> =>
  Duration.isZero(wait) ? Effect.void : at.pause(new URL(url).origin, wait)

/**
 * Runs `effect` when `request` has got its permit, before `request` is sent.
 *
 * @since 0.1.0
 * @category combinators
 */
export const onDeparture = <A, E, R>(
  request: Effect.Effect<A, E, R>,
  effect: Effect.Effect<unknown>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Progress, (outer) =>
    Effect.provideService(request, Progress, { ...outer, departed: Effect.andThen(effect, outer.departed) })
  )

/**
 * Limits the time of a request, measured from the moment when the request has got its permit. The wait for the permit
 * does not count towards the limit. `limit` is an effect that fails when the time is over.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withLimitFromDeparture = <A, E, R, E2, R2>(
  request: Effect.Effect<A, E, R>,
  limit: Effect.Effect<never, E2, R2>
): Effect.Effect<A, E | E2, R | R2> =>
  Effect.flatMap(Progress, (outer) => {
    const leaves = Deferred.makeUnsafe<void>()
    const own = { isOff: false }
    return Effect.raceFirst(
      Effect.provideService(request, Progress, {
        departed: Effect.andThen(Deferred.succeed(leaves, undefined), outer.departed),
        limit: own
      }),
      Effect.andThen(
        Deferred.await(leaves),
        Effect.tapError(limit, () => (own.isOff ? Effect.sleep(restMillis) : Effect.void))
      )
    )
  })
