/**
 * `it` and `layer` of `@effect/vitest`, whose tests may also be generators.
 */
import * as Vitest from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"

type Steps<R> = Generator<Effect.Effect<unknown, unknown, R>, unknown, never>
type Made<R> = Effect.Effect<unknown, unknown, R> | Steps<R>
type Body<R> = () => Made<R>
type Options = Parameters<Vitest.Vitest.Test<never>>[2]

/** Registers a test. */
export type Test<R> = (title: string, body: Body<R>, options?: Options) => void

export interface Tester<R> extends Test<R> {
  readonly each: <T>(cases: ReadonlyArray<T>) => (title: string, body: (one: T) => Made<R>, options?: Options) => void
  readonly skipIf: (condition: unknown) => Test<R>
  readonly prop: Vitest.Vitest.Tester<R>["prop"]
}

const toEffect = <R>(made: Made<R>): Effect.Effect<unknown, unknown, R> =>
  Effect.isEffect(made) ? made : Effect.gen(() => made)

const over = <R>(tester: Vitest.Vitest.Tester<R>): Tester<R> =>
  Object.assign<Test<R>, Omit<Tester<R>, never>>(
    (title, body, options) => tester(title, () => toEffect(body()), options),
    {
      each: (cases) => (title, body, options) => tester.each(cases)(title, (one) => toEffect(body(one)), options),
      skipIf: (condition) => (title, body, options) => tester.skipIf(condition)(title, () => toEffect(body()), options),
      prop: tester.prop
    }
  )

/** Registers tests whose effects are changed by `wrap`, which provides what they need. */
export const within =
  <R, R2>(test: Test<R2>, wrap: <A, E>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, unknown, R2>): Test<R> =>
  (title, body, options) =>
    test(title, () => wrap(Effect.suspend(() => toEffect(body()))), options)

/** Registers a test without an Effect. */
const plain = (title: string, test: () => void | Promise<void>) => Vitest.it(title, test)

export const it = Object.assign(plain, {
  each: Vitest.it.each,
  prop: Vitest.it.prop,
  effect: over(Vitest.it.effect),
  live: over(Vitest.it.live)
})

/** Tests that share a Layer. */
export const layer =
  <R, E>(shared: Layer.Layer<R, E>, options?: Parameters<typeof Vitest.layer>[1]) =>
  (title: string, tests: (it: typeof plain & { readonly effect: Tester<R | Scope.Scope> }) => void): void =>
    Vitest.layer(shared, options)(title, (own) =>
      tests(Object.assign((name: string, test: () => void) => own(name, test), { effect: over(own.effect) }))
    )

/** This field of each item. */
export const pluck = <T, K extends keyof T>(items: ReadonlyArray<T> | null | undefined, key: K): ReadonlyArray<T[K]> =>
  (items ?? []).map((item) => item[key])
