/**
 * Knows when a program waits for nothing but a clock. Then a test may let time pass, however slow the machine is.
 *
 * A program in memory has three kinds of work: tasks of Effect's scheduler, jobs of WebCrypto, which run in threads, and
 * promises. The first two are counted here. Promises need no count, because all of them that can go on do so before the
 * event loop takes its next turn. Sockets and files are not seen: a test that uses them has to wait for its own signal.
 */
import { WebCrypto } from "effect/crypto"
import { Duration, Effect, Fiber, Scheduler } from "effect"
import { TestClock } from "effect/testing"

export interface Idle {
  /** Counts the work of an effect, and of every fiber that it starts. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Ends when all counted work is done, or waits for a clock. */
  readonly settled: Effect.Effect<void>
}

/** An object with replaced values. Its functions stay bound to the original, as WebCrypto requires. */
const withValue = <A extends object>(target: A, replace: (value: unknown, name: PropertyKey) => unknown): A =>
  new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name, target)
      return replace(typeof value === "function" ? value.bind(target) : value, name)
    }
  })

export const make = (): Idle => {
  const work = { open: 0 }

  const scheduler = (parent: Scheduler.Scheduler): Scheduler.Scheduler => ({
    executionMode: parent.executionMode,
    shouldYield: (fiber) => parent.shouldYield(fiber),
    makeDispatcher: () => {
      const dispatcher = parent.makeDispatcher()
      return {
        scheduleTask: (task, priority) => {
          work.open++
          dispatcher.scheduleTask(() => {
            try {
              task()
            } finally {
              work.open--
            }
          }, priority)
        },
        flush: () => dispatcher.flush()
      }
    }
  })

  const job =
    (run: (...parameters: ReadonlyArray<unknown>) => Promise<unknown>) =>
    (...parameters: ReadonlyArray<unknown>) => {
      work.open++
      return run(...parameters).finally(() => work.open--)
    }
  const subtle = withValue(crypto.subtle, (value) => (typeof value === "function" ? job(value.bind(undefined)) : value))
  const counted = withValue(crypto, (value, name) => (name === "subtle" ? subtle : value))

  return {
    within: (effect) =>
      Scheduler.Scheduler.use((parent) =>
        effect.pipe(
          Effect.provideService(WebCrypto.WebCrypto, counted),
          Effect.provideService(Scheduler.Scheduler, scheduler(parent))
        )
      ),
    settled: Effect.promise(async () => {
      do await new Promise((done) => setImmediate(done))
      while (work.open > 0)
    })
  }
}

/** Lets time pass on the TestClock, in steps, whenever a fiber waits for nothing else, until it ends. */
export const passUntil = <A, E>(
  idle: Idle,
  fiber: Fiber.Fiber<A, E>,
  step: Duration.Input = "1 second"
): Effect.Effect<{ readonly value: A; readonly seconds: number }, E> =>
  Effect.gen(function* () {
    let steps = 0
    for (;;) {
      yield* idle.settled
      if (fiber.pollUnsafe() !== undefined) break
      yield* TestClock.adjust(step)
      steps++
    }
    return { value: yield* Fiber.join(fiber), seconds: steps * Duration.toSeconds(step) }
  })

/** Runs an effect in memory to its end, however long this takes on the TestClock. */
export const passTime = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  step?: Duration.Input
): Effect.Effect<{ readonly value: A; readonly seconds: number }, E, R> =>
  Effect.gen(function* () {
    const idle = make()
    return yield* passUntil(idle, yield* Effect.forkChild(idle.within(effect)), step)
  })

/** Lets some seconds pass for an effect that does not have to end, one after the other. Its fiber goes on. */
export const passSeconds = Effect.fnUntraced(function* (idle: Idle, seconds: number) {
  for (let second = 0; second < seconds; second++) {
    yield* idle.settled
    yield* TestClock.adjust("1 second")
  }
  yield* idle.settled
})
