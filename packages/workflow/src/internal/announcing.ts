/** Logs that a runner is ready, and later that the runner has ended. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * - `store`: the database, without its password.
 * - `details`: the options that say how the runner behaves.
 * - `after`: what happens to the jobs of the runner after its end.
 * - `log`: writes a line. `DurableSqlite` writes debug lines, so that the program prints only its own lines.
 */
interface Options {
  readonly log: (line: string) => Effect.Effect<void>
  readonly store: string
  readonly details: ReadonlyArray<string>
  readonly after: string
}

/** Logs a line when `runner` is ready, and a line when it has released everything. */
export const layer =
  ({ after, details, log, store }: Options) =>
  <A, E, R>(runner: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
    Layer.unwrap(
      Effect.gen(function* () {
        let isReady = false
        // The finalizer is added before the runner is built, so that the finalizer runs after the runner has closed.
        yield* Effect.addFinalizer(() =>
          isReady ? log(`The runner of durable jobs in ${store} has ended: ${after}`) : Effect.void
        )
        return Layer.tap(runner, () =>
          Effect.suspend(() => {
            isReady = true
            return log(`A runner of durable jobs is ready: ${[store, ...details].join(", ")}`)
          })
        )
      })
    )
