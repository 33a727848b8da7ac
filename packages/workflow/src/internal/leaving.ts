/** Wraps the storage of runners, so that the last runner to end does not log a false warning. */
import type { Runner } from "effect/cluster/Runner"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * A runner that ends removes itself from the storage, and may read the storage once more before it has ended. If no
 * other runner exists, the storage is then empty, and the engine would warn that there are no runners. Therefore this
 * storage still shows the runner to itself. The runner takes no further shards.
 */
export const layer: Layer.Layer<RunnerStorage, never, RunnerStorage> = Layer.effect(
  RunnerStorage,
  Effect.map(RunnerStorage, (storage) => {
    let own: Runner | undefined
    let hasLeft = false
    return RunnerStorage.of({
      ...storage,
      register: (runner, healthy) =>
        Effect.tap(
          storage.register(runner, healthy),
          Effect.sync(() => {
            own = runner
          })
        ),
      unregister: (address) =>
        Effect.andThen(
          Effect.sync(() => {
            hasLeft = true
          }),
          storage.unregister(address)
        ),
      getRunners: Effect.map(storage.getRunners, (runners) =>
        runners.length === 0 && hasLeft && own !== undefined ? [[own, true] as const] : runners
      )
    })
  })
)
