/**
 * The workflow of one attempt. The names of the workflow and of its activities, and the payload, are a wire format: a
 * runner of a later version continues executions that this version has started.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Activity from "effect/workflow/Activity"
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import type { Attempt } from "./store.ts"

/** The workflow of an attempt. The row of the job contains the state of the attempt. */
export const JobWorkflow = Workflow.make("DurableJob/v1", {
  payload: { key: Schema.String, attempt: Schema.Int },
  idempotencyKey: ({ attempt, key }) => `${attempt}/${key}`
})

/** The execution of an attempt. */
export const executionOf = (attempt: Attempt): Effect.Effect<string> => JobWorkflow.executionId(attempt)

/** A verified notification about the Assembly completes this Deferred. */
const Notified = DurableDeferred.make("notified/v1")

/** Ends the pause of an execution before its next request for the Status. */
export const notify = (executionId: string) =>
  DurableDeferred.succeed(Notified, {
    token: DurableDeferred.tokenFromExecutionId(Notified, { workflow: JobWorkflow, executionId }),
    value: undefined
  })

/**
 * The result of an activity.
 *
 * - `Waiting`: the attempt waits for its Assembly.
 * - `Expecting`: the attempt waits for its Assembly, and the service sends a notification when the Assembly ends.
 * - `Ended`: the attempt has ended.
 */
const Progress = Schema.Literals(["Waiting", "Expecting", "Ended"])
export type Progress = typeof Progress.Type

/** The activities of an attempt. If a runner ends during an activity, the next runner runs the activity again. */
export interface Work<R> {
  readonly upload: (attempt: Attempt, execution: string) => Effect.Effect<Progress, never, R>
  readonly outcome: (attempt: Attempt, execution: string) => Effect.Effect<Progress, never, R>
  readonly pollInterval: Duration.Duration
}

/**
 * The first pause between two looks at an Assembly. A look reads the Status of the Assembly. Each further pause is
 * twice as long, up to `pollInterval`.
 */
const firstPause = Duration.seconds(5)

const Wake = Schema.Literals(["Notified", "Time"])

/**
 * Waits for a notification or for the next look. Only the first notification of an execution ends a wait, because
 * `Notified` stays completed: a second `await` of `Notified` would return at once.
 */
const wait = (look: number, pause: Duration.Duration, mayBeNotified: boolean) => {
  const time = DurableClock.sleep({ name: `look/v1/${look}`, duration: pause, inMemoryThreshold: 0 }).pipe(
    Effect.as("Time" as const)
  )
  if (!mayBeNotified) return time
  return DurableDeferred.raceAll({
    name: `wait/v1/${look}`,
    success: Wake,
    error: Schema.Never,
    effects: [Effect.as(DurableDeferred.await(Notified), "Notified" as const), time]
  })
}

/** Runs an attempt to its end: uploads, and then looks at the Assembly until it has ended. */
export const body =
  <R>({ outcome, pollInterval, upload }: Work<R>) =>
  (attempt: Attempt, execution: string) =>
    Effect.gen(function* () {
      const sent = yield* Activity.make({ name: "upload/v1", success: Progress, execute: upload(attempt, execution) })
      if (sent === "Ended") return
      let mayBeNotified = true
      for (let look = 1; ; look++) {
        const seen = yield* Activity.make({
          name: `outcome/v1/${look}`,
          success: Progress,
          execute: outcome(attempt, execution)
        })
        if (seen === "Ended") return
        const isExpecting = seen === "Expecting" && mayBeNotified
        const pause = Duration.times(firstPause, isExpecting ? Infinity : 2 ** Math.min(look - 1, 20))
        if ((yield* wait(look, Duration.min(pause, pollInterval), mayBeNotified)) === "Notified") mayBeNotified = false
      }
    })
