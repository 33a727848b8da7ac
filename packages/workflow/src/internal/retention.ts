/** Removes jobs that ended longer than `retention` ago, and what the engine has stored of these jobs. */
import * as EntityAddress from "effect/cluster/EntityAddress"
import * as EntityId from "effect/cluster/EntityId"
import * as EntityType from "effect/cluster/EntityType"
import { MessageStorage } from "effect/cluster/MessageStorage"
import { Sharding } from "effect/cluster/Sharding"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { executionOf, JobWorkflow } from "./jobWorkflow.ts"
import * as Outage from "./outage.ts"
import type { Store } from "./store.ts"

/** How many ended jobs are read with one statement. */
const atOnce = 100

/** What the engine stores of an execution: the workflow with its activities, and its clocks. */
const entityTypes = [`Workflow/${JobWorkflow._tag}`, "Workflow/-/DurableClock"].map(EntityType.make)

/**
 * Removes the jobs that ended longer than `retention` ago. The row of the job is removed last, so an interrupted
 * removal is repeated.
 */
const sweep = Effect.fnUntraced(function* (store: Store, retention: Duration.Duration) {
  const storage = yield* MessageStorage
  const sharding = yield* Sharding
  const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(retention)
  for (;;) {
    const attempts = yield* store.endedBefore(before, atOnce)
    for (const { attempt, key } of attempts) {
      for (let number = 1; number <= attempt; number++) {
        const entityId = EntityId.make(yield* executionOf({ key, attempt: number }))
        const shardId = sharding.getShardId(entityId, "default")
        for (const entityType of entityTypes) {
          yield* storage.clearAddress(EntityAddress.make({ entityType, entityId, shardId }))
        }
      }
      yield* store.remove({ key, attempt })
    }
    // Damaged rows stay, so a page may be short before the last page.
    if (attempts.length === 0) return
  }
})

/** Runs {@link sweep} at an interval, until the scope closes. */
export const loop = (store: Store, retention: Duration.Duration) =>
  Effect.flatMap(Outage.Outage, (outage) =>
    sweep(store, retention).pipe(
      Effect.catchCause((cause) => Outage.reportCause(outage, "remove old jobs", cause)),
      Effect.repeat(Schedule.spaced(Duration.min(Duration.hours(1), retention)))
    )
  )
