/** What a runner does for an attempt: the activities of its workflow, and its cancellation. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Semaphore from "effect/Semaphore"
import type { StoreFailed } from "../DurableError.ts"
import * as JobAtRest from "./jobAtRest.ts"
import type { Progress } from "./jobWorkflow.ts"
import * as Failure from "./failure.ts"
import * as Sources from "./sources.ts"
import * as Store from "./store.ts"
import * as Transfer from "./transfer.ts"

/**
 * The work of one runner.
 *
 * - `jobs`: limits the jobs that send bytes.
 * - `patience`: how long temporary failures of one activity are retried.
 * - `begun`, `ended`: called when an attempt has begun or ended in this process.
 */
export interface Runner {
  readonly sending: Transfer.Sending
  readonly jobs: Semaphore.Semaphore
  readonly patience: Duration.Duration
  readonly begun: Effect.Effect<void>
  readonly ended: (key: string) => Effect.Effect<void>
}

type Services = AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem

/** Retries until the database answers, because a runner cannot do anything without its database. */
const persistently = <A, R>(access: Effect.Effect<A, StoreFailed, R>): Effect.Effect<A, never, R> =>
  access.pipe(
    Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])),
    Effect.orDie
  )

/** Pauses between tries: 1 second, then twice as long, up to 1 minute. */
const pauses = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("1 minute")])

/** What the workflow and the attendant of the queue run. */
export type Activities = ReturnType<typeof make>

export const make = ({ begun, ended, jobs, patience, sending }: Runner) => {
  const { derive, store } = sending
  /** The attempts whose activities run in this process. Completing the Deferred of an attempt stops its activity. */
  const running = new Map<string, Deferred.Deferred<void>>()

  const end = (
    attempt: Store.Attempt,
    ...how: Parameters<Store.Store["end"]> extends [unknown, ...infer Rest] ? Rest : never
  ) => persistently(store.end(attempt, ...how)).pipe(Effect.andThen(ended(attempt.key)), Effect.as("Ended" as const))

  /** The id of the Assembly, if the attempt has begun with a secret that this runner knows. */
  const assemblyOf = (row: Store.Row, execution: string) =>
    row.begins === 0 ? Effect.succeedNone : Effect.option(derive.assemblyId(Transfer.secretOf(row), execution))

  /**
   * Cancels the Assembly, and returns whether the Assembly had already completed. Fails if the service does not answer,
   * or answers that the Assembly still runs. An Assembly that does not exist needs no cancellation. But the
   * cancellation is repeated a few times, because the service may still receive the request that creates the Assembly.
   */
  const cancelAssembly = (assemblyId: Assembly.AssemblyId) =>
    Assemblies.cancel(assemblyId).pipe(
      Effect.filterOrFail(Assembly.isOver, () => ({ _tag: "StillRuns" as const })),
      Effect.map((status) => Assembly.state(status) === "Completed"),
      Effect.retry({ while: Transfer.isNotFound, schedule: Schedule.exponential("200 millis"), times: 2 }),
      Effect.catchIf(Transfer.isNotFound, () => Effect.succeed(false)),
      Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 6 })
    )

  /**
   * Cancels the Assembly of an attempt, if it exists, and records the end. If the Assembly had already completed, the
   * attempt is `Completed`. If the service does not answer, the state stays `Canceling`, and the attendant tries again.
   */
  const finalize = Effect.fnUntraced(function* (row: Store.Row, execution: string) {
    const assemblyId = yield* assemblyOf(row, execution)
    const isCompleted = Option.isNone(assemblyId)
      ? Option.some(false)
      : yield* Effect.option(cancelAssembly(assemblyId.value))
    if (Option.isNone(isCompleted)) return "Ended" as const
    return yield* end(row, isCompleted.value ? "Completed" : "Canceled")
  })

  /** The row of an attempt, if this attempt is the current one and has not ended. */
  const current = (attempt: Store.Attempt) =>
    Effect.map(
      persistently(store.find(attempt.key)),
      Option.filter((row) => row.attempt === attempt.attempt && !Store.hasEnded(row))
    )

  /**
   * What follows for an attempt that may not send bytes: it was canceled, has ended, or is `Processing`. An attempt is
   * already `Processing` if a runner died after it had recorded this state, and before the engine stored the result.
   */
  const superseded = (attempt: Store.Attempt, execution: string) =>
    Effect.flatMap(
      current(attempt),
      Option.match({
        onNone: () => Effect.succeed("Ended" as const),
        onSome: (row) => {
          if (row.state === "Canceling") return finalize(row, execution)
          return Effect.succeed(row.state === "Processing" ? ("Waiting" as const) : ("Ended" as const))
        }
      })
    )

  const fail = Effect.fnUntraced(function* (attempt: Store.Attempt, execution: string, cause: Cause.Cause<unknown>) {
    const row = yield* current(attempt)
    if (Option.isNone(row)) return "Ended" as const
    const assemblyId = yield* assemblyOf(row.value, execution)
    // No runner continues this Assembly, so without a cancellation the Assembly would wait for its files.
    if (Option.isSome(assemblyId)) yield* Effect.ignore(cancelAssembly(assemblyId.value))
    return yield* end(attempt, "Failed", Failure.of(cause, Option.getOrUndefined(assemblyId)))
  })

  /** Runs `work` until it ends or the attempt is stopped. */
  const stoppable = <R>(
    attempt: Store.Attempt,
    execution: string,
    work: Effect.Effect<Progress, never, R>
  ): Effect.Effect<Progress, never, R | AssemblyClient> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const stop = Deferred.makeUnsafe<void>()
        running.set(execution, stop)
        return stop
      }),
      (stop) =>
        // The activity stops first, and then the Assembly is canceled.
        Effect.raceFirst(Effect.asSome(work), Effect.as(Deferred.await(stop), Option.none<Progress>())).pipe(
          Effect.flatMap(Option.match({ onNone: () => superseded(attempt, execution), onSome: Effect.succeed }))
        ),
      (stop) =>
        Effect.sync(() => {
          if (running.get(execution) === stop) running.delete(execution)
        })
    )

  const transfer = (attempt: Store.Attempt, execution: string): Effect.Effect<void, Transfer.TransferError, Services> =>
    Effect.gen(function* () {
      const secret = derive.newest
      const assemblyId = yield* derive.assemblyId(secret, execution)
      const row = yield* store.begin(attempt, secret, yield* derive.lookup(assemblyId))
      if (Option.isNone(row)) return yield* Effect.fail(new Transfer.Superseded())
      yield* begun
      yield* Transfer.run(sending, row.value, execution)
      if (!(yield* store.stored(attempt))) return yield* Effect.fail(new Transfer.Superseded())
    })

  const upload = (attempt: Store.Attempt, execution: string): Effect.Effect<Progress, never, Services> =>
    transfer(attempt, execution).pipe(
      // A job that waits for its next try releases its permit to other jobs.
      jobs.withPermit,
      Effect.retry({
        while: Transfer.isTemporary,
        schedule: pauses.pipe(Schedule.upTo({ duration: patience }))
      }),
      Effect.mapError((error) => (error instanceof Sources.SourceAway ? error.error : error)),
      Effect.as("Waiting" as const),
      Effect.catchCause((cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Failure.interrupted(cause)
        const error = Cause.squash(cause)
        return error instanceof Transfer.Superseded ? superseded(attempt, execution) : fail(attempt, execution, cause)
      }),
      (work) => stoppable(attempt, execution, work)
    )

  /**
   * Waits a short time for the end of the Assembly. The workflow waits longer, because it needs no memory while it
   * waits.
   */
  const look = (assemblyId: Assembly.AssemblyId) =>
    Assemblies.awaitCompletion(assemblyId, { timeout: "2 seconds", interval: "100 millis", maxInterval: "500 millis" })

  /** `Expecting` if the service sends a notification when the Assembly ends. */
  const expecting = (row: Store.Row): Effect.Effect<Progress> =>
    Effect.map(JobAtRest.decode(row.job), ({ params }) => (params.notifyUrl === undefined ? "Waiting" : "Expecting"))

  const outcome = (attempt: Store.Attempt, execution: string): Effect.Effect<Progress, never, Services> =>
    Effect.gen(function* () {
      const row = yield* current(attempt)
      if (Option.isNone(row)) return "Ended" as const
      if (row.value.state === "Canceling") return yield* finalize(row.value, execution)
      const assemblyId = yield* derive.assemblyId(Transfer.secretOf(row.value), execution)
      return yield* look(assemblyId).pipe(
        Effect.andThen(end(attempt, "Completed")),
        Effect.catchIf(
          (error) =>
            error._tag === "TimedOut" ||
            error._tag === "TransportFailure" ||
            error._tag === "RateLimited" ||
            ("status" in error && Transfer.isPassing(error)),
          () => expecting(row.value)
        )
      )
    }).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Failure.interrupted(cause) : fail(attempt, execution, cause)
      ),
      (work) => stoppable(attempt, execution, work)
    )

  /** Stops the activity of an attempt, and returns whether it ran in this process. */
  const stop = (execution: string): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const sends = running.get(execution)
      return sends === undefined ? Effect.succeed(false) : Effect.as(Deferred.succeed(sends, undefined), true)
    })

  /**
   * Carries out a cancellation that is in the database: stops the activity in this process, or else cancels the
   * Assembly.
   */
  const cancel = (attempt: Store.Attempt, execution: string): Effect.Effect<void, never, AssemblyClient> =>
    Effect.flatMap(stop(execution), (isStopped) =>
      isStopped ? Effect.void : Effect.asVoid(superseded(attempt, execution))
    )

  return { upload, outcome, stop, cancel }
}
