/** What the type tests share. */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

export type Equals<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? (<T>() => T extends B ? 1 : 2) extends <T>() => T extends A ? 1 : 2
      ? true
      : false
    : false

/** The success, the error and the requirement of a function, or of an Effect. */
export type Signature<F> =
  F extends Effect.Effect<infer A, infer E, infer R>
    ? readonly [A, E, R]
    : F extends (...args: never) => infer Result
      ? Result extends Effect.Effect<infer A, infer E, infer R>
        ? readonly [A, E, R]
        : Result extends Stream.Stream<infer A, infer E, infer R>
          ? readonly [A, E, R]
          : never
      : never

export type Signed = ApiError.Common | ApiError.AuthenticationFailed
