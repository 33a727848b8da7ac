/**
 * Options for one call. The options are read when the operation runs, and take precedence over the options of its
 * client.
 *
 * `AssemblyClient.withTimeout`, `AssemblyClient.withDeadline`, `AssemblyClient.withAttributes` and
 * `RetryPolicy.withPolicy` are built with this module.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/**
 * Changes how an Effect or a Stream runs, but not its type.
 *
 * @since 0.1.0
 * @category models
 */
export type Combinator = <
  Self extends Effect.Effect<unknown, unknown, unknown> | Stream.Stream<unknown, unknown, unknown>
>(
  self: Self
) => Self

/**
 * Runs an Effect or a Stream with `value` as the value of `reference`.
 *
 * @since 0.1.0
 * @category references
 */
export const provide = <A>(reference: Context.Reference<A>, value: NoInfer<A>): Combinator =>
  provideEffect(reference, Effect.succeed(value))

/**
 * Runs an Effect or a Stream with the result of `value` as the value of `reference`. `value` runs each time the Effect
 * or the Stream starts.
 *
 * @since 0.1.0
 * @category references
 */
export const provideEffect =
  <A>(reference: Context.Reference<A>, value: Effect.Effect<NoInfer<A>>): Combinator =>
  (self) =>
    (Stream.isStream(self)
      ? Stream.provideServiceEffect(self, reference, value)
      : // A reference is not a requirement, so `self` keeps its type.
        // @effect-diagnostics-next-line anyUnknownInErrorContext:off
        Effect.provideServiceEffect(self, reference, value)) as typeof self
