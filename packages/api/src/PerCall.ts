/**
 * What one call may say about how it runs: read when the operation runs, and before what its client was built with.
 *
 * `AssemblyClient.withTimeout`, `AssemblyClient.withDeadline`, `AssemblyClient.withAttributes` and
 * `RetryPolicy.withPolicy` are made with this module.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/**
 * Changes how an Effect or a Stream runs, not what it answers.
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
 * The same Effect or Stream, which finds `value` in the place of a reference.
 *
 * @since 0.1.0
 * @category references
 */
export const provide =
  <A>(reference: Context.Reference<A>, value: NoInfer<A>): Combinator =>
  (self) =>
    (Stream.isStream(self)
      ? Stream.provideService(self, reference, value)
      : // A reference is no requirement, so the type stays what it was; what it is does not matter here.
        // @effect-diagnostics-next-line anyUnknownInErrorContext:off
        Effect.provideService(self, reference, value)) as typeof self
