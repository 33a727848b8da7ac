/**
 * `it`, `live` and `layer` of `@effect/vitest`, for tests that are generator functions: `it.effect("…", function* () {…})`.
 */
import * as Vitest from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"

export { afterAll, afterEach, assert, beforeAll, describe, test, vi } from "@effect/vitest"

type Body<R, Args extends ReadonlyArray<unknown>> = (
  ...args: Args
) => Effect.Effect<unknown, unknown, R> | Generator<Effect.Effect<unknown, unknown, R>, unknown, never>

/** How long the test may take, in milliseconds. */
interface Limits {
  readonly timeout: number
}

/** Defines a test, alone or with a Layer of its own, whose scope outlives that of the test. */
interface Test<R, Args extends ReadonlyArray<unknown> = [Vitest.TestContext]> {
  (title: string, body: Body<R, Args>, limits?: Limits): void
  <R2, E>(title: string, own: Layer.Layer<R2, E, R>, body: Body<R | R2, Args>): void
}

/** What defines tests that may use the services `R`. */
interface Tester<R> extends Test<R> {
  readonly each: <T>(cases: ReadonlyArray<T>) => Test<R, [T, Vitest.TestContext]>
  readonly skipIf: (condition: unknown) => Test<R>
  readonly prop: Vitest.Vitest.Tester<R>["prop"]
}

const toEffect =
  <R, Args extends ReadonlyArray<unknown>>(body: Body<R, Args>) =>
  (...args: Args): Effect.Effect<unknown, unknown, R> => {
    const made = body(...args)
    return Effect.isEffect(made) ? made : Effect.gen(() => made)
  }

const test =
  <R, Args extends ReadonlyArray<unknown>>(
    define: (title: string, body: (...args: Args) => Effect.Effect<unknown, unknown, R>, limits?: Limits) => void
  ): Test<R, Args> =>
  <R2, E>(title: string, first: Body<R, Args> | Layer.Layer<R2, E, R>, second?: Limits | Body<R | R2, Args>): void => {
    if (typeof first === "function") {
      define(title, toEffect(first), typeof second === "function" ? undefined : second)
    } else if (typeof second === "function") {
      define(title, (...args) => Effect.provide(Effect.scoped(toEffect(second)(...args)), first))
    }
  }

const tester = <R>(own: Vitest.Vitest.Tester<R>): Tester<R> =>
  Object.assign(
    test<R, [Vitest.TestContext]>((title, body, limits) => own(title, body, limits)),
    {
      each: <T>(cases: ReadonlyArray<T>) =>
        test<R, [T, Vitest.TestContext]>((title, body, limits) => own.each(cases)(title, body, limits)),
      skipIf: (condition: unknown) =>
        test<R, [Vitest.TestContext]>((title, body, limits) => own.skipIf(condition)(title, body, limits)),
      prop: own.prop
    }
  )

export const effect = tester<Scope.Scope>(Vitest.effect)

export const live = tester<Scope.Scope>(Vitest.live)

export const it = { effect, live }

type Tests<R> = (it: { readonly effect: Tester<R | Scope.Scope> }) => void

const sharing =
  (excludeTestServices: boolean) =>
  <R, E>(shared: Layer.Layer<R, E>) =>
  (...[name, tests]: [name: string, tests: Tests<R>] | [tests: Tests<R>]): void => {
    const suite = Vitest.layer(shared, { excludeTestServices })
    if (typeof name === "string") suite(name, (own) => tests?.({ effect: tester(own.effect) }))
    else suite((own) => name({ effect: tester(own.effect) }))
  }

/** Tests that share a Layer. They have the services of the machine, such as its clock. */
export const layer = sharing(true)

/** Tests that share a Layer, with a clock that only they move. */
export const layerTest = sharing(false)
