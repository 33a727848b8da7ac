/** What a runner does for an attempt: the activities of the workflow, and the cancellation of the attempt. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { StoreFailed } from "../DurableError.ts"
import * as Canceling from "./canceling.ts"
import * as JobAtRest from "./jobAtRest.ts"
import type { Progress } from "./jobWorkflow.ts"
import * as Failure from "./failure.ts"
import * as Outage from "./outage.ts"
import type { Places } from "./places.ts"
import type { Quota } from "./quota.ts"
import * as Sources from "./sources.ts"
import * as Store from "./store.ts"
import * as StoreError from "./storeError.ts"
import * as Transfer from "./transfer.ts"

/**
 * What the activities need from the runner that executes them.
 *
 * - `sending`: what the transfers of one runner share.
 * - `places`: limits the number of jobs, and the number of files, that are sent at the same time.
 * - `patience`: how long temporary failures of one activity are retried, and how long a cancellation is tried.
 * - `held`: waits until this runner surely holds the lock of the shard that an execution belongs to.
 * - `outage`: reports that the database has failed.
 * - `quota`: the pauses that the service has requested.
 * - `begun`, `ended`: called when an attempt has begun or ended in this process.
 */
export interface Runner {
  readonly sending: Transfer.Sending
  readonly places: Places
  readonly patience: Duration.Duration
  readonly held: (execution: string) => Effect.Effect<void>
  readonly outage: Outage.Outage
  readonly quota: Quota
  readonly begun: Effect.Effect<void>
  readonly ended: (key: string) => Effect.Effect<void>
}

type Services = AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem

/** Pauses between tries: 1 second, then twice as long, up to 1 minute. */
const pauses = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("1 minute")])

/** The time limit of the request that checks whether the service answers. */
const answerTime = "10 seconds"

/** Whether every job would fail with this error. The wait for a correction does not count as `patience`. */
const isOfAll = (error: Transfer.TransferError): boolean =>
  error._tag === "RateLimited" || Transfer.isRefusal(error) || Transfer.isUnknownSecret(error)

/** The functions that the workflow and the attendant of the queue call. */
export type Activities = ReturnType<typeof make>

/** Replaces `SourceAway`, which is internal, by the error that a program knows. */
const known = <E>(error: E | Sources.SourceAway) => (error instanceof Sources.SourceAway ? error.error : error)

export const make = ({ begun, ended, held, outage, patience, places, quota, sending }: Runner) => {
  const { derive, store } = sending
  /** The attempts whose activities run in this process. Completing the Deferred of an attempt stops its activity. */
  const running = new Map<string, Deferred.Deferred<void>>()
  /**
   * The executions that have a place or wait for a place. If the upload of an execution runs but the execution is not
   * in this Set, the upload pauses after a failure.
   */
  const taking = new Set<string>()

  /**
   * Retries until the database answers, because a runner cannot do anything without its database. Dies if a row is
   * damaged, see `orDamaged`.
   */
  const persistently = <A, R>(access: Effect.Effect<A, StoreFailed, R>): Effect.Effect<A, never, R> =>
    access.pipe(
      Effect.tapError((error) => (StoreError.isDamaged(error) ? Effect.void : outage.report(error.operation, error))),
      Effect.retry({ while: (error) => !StoreError.isDamaged(error), schedule: Outage.pauses }),
      Effect.orDie
    )

  const end = (
    attempt: Store.Attempt,
    ...how: Parameters<Store.Store["end"]> extends [unknown, ...infer Rest] ? Rest : never
  ) => persistently(store.end(attempt, ...how)).pipe(Effect.andThen(ended(attempt.key)), Effect.as("Ended" as const))

  /** Ends an attempt whose row is damaged. What the row does not tell cannot be canceled. */
  const orDamaged =
    (attempt: Store.Attempt) =>
    <A, R>(work: Effect.Effect<A, never, R>): Effect.Effect<A | "Ended", never, R> =>
      Effect.catchCause(work, (cause) =>
        StoreError.isDamaged(Cause.squash(cause))
          ? end(attempt, "Failed", ["Queued", "Uploading", "Processing", "Canceling"], Failure.of(cause, undefined))
          : Effect.failCause(cause)
      )

  /** Records why an attempt waits. If the record cannot be stored, the attempt continues all the same. */
  const keep = (attempt: Store.Attempt, error: unknown) =>
    Effect.ignore(store.wait(attempt, Failure.of(Cause.fail(error), undefined)))

  /**
   * Cancels the Assembly of an attempt, if the Assembly exists. If the Assembly had completed before, the job is
   * `Completed`. If the service does not confirm the cancellation, the job stays `Canceling`, and the attendant of the
   * queue tries again until the `patience` of the runner has passed. After this time, the job is `Failed`.
   */
  const finalize = Effect.fnUntraced(function* (row: Store.Row, execution: string) {
    yield* quota.wait
    const canceled = yield* Canceling.cancel(derive, row, execution).pipe(
      Effect.tapError((error) => keep(row, error)),
      Effect.retry(Canceling.tries),
      Effect.result
    )
    if (Result.isSuccess(canceled)) {
      return yield* end(row, canceled.success ? "Completed" : "Canceled", ["Uploading", "Processing", "Canceling"])
    }
    const since = Math.max(row.canceledAt ?? Infinity, quota.until())
    if ((yield* Clock.currentTimeMillis) - since < Duration.toMillis(patience)) return "Ended" as const
    const { message, reason } = Failure.of(Cause.fail(canceled.failure), undefined)
    const said = `the Assembly could not be canceled, and may still run: ${message}`
    return yield* end(row, "Failed", ["Canceling"], { reason, message: said })
  })

  /** The row of an attempt, if this attempt is the current one and has not ended. */
  const current = (attempt: Store.Attempt) =>
    Effect.map(
      persistently(store.find(attempt.key)),
      Option.filter((row) => row.attempt === attempt.attempt && !Store.hasEnded(row))
    )

  /**
   * Decides what follows for an attempt that must not send bytes, because it was canceled, has ended, or is
   * `Processing`. An attempt is already `Processing` if a runner died after it had recorded this state, and before the
   * engine stored the result.
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
    // Waits until this runner holds the lock of the attempt's shard. If another runner has taken the attempt over, the
    // attempt has not failed, and the engine interrupts this wait.
    yield* held(execution)
    const row = yield* current(attempt)
    if (Option.isNone(row)) return "Ended" as const
    // The Assembly is canceled, because it would wait for files that no attempt sends. If the cancellation fails,
    // `Durable.retry` cancels this Assembly before it queues the next attempt.
    yield* Canceling.cancel(derive, row.value, execution).pipe(Effect.retry(Canceling.tries), Effect.ignore)
    const assemblyId = yield* Effect.option(derive.assemblyId(row.value, execution))
    return yield* end(
      attempt,
      "Failed",
      // An attempt is still `Queued` if the runner could not record that it began.
      ["Queued", "Uploading", "Processing"],
      Failure.of(cause, Option.getOrUndefined(assemblyId))
    )
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

  const activity = <R>(attempt: Store.Attempt, execution: string, work: Effect.Effect<Progress, never, R>) =>
    stoppable(attempt, execution, work).pipe(orDamaged(attempt), quota.keep)

  const transfer = (attempt: Store.Attempt, now: Transfer.Now): Effect.Effect<void, Transfer.TransferError, Services> =>
    Effect.gen(function* () {
      yield* now.held
      const root = { secret: derive.newest, salt: yield* derive.salt }
      const assemblyId = yield* derive.assemblyId(root, now.execution)
      const row = yield* store.begin(attempt, root, yield* derive.lookup(assemblyId))
      if (Option.isNone(row)) return yield* Effect.fail(new Transfer.Superseded())
      yield* begun
      yield* Transfer.run(sending, row.value, now)
      if (!(yield* store.stored(attempt))) return yield* Effect.fail(new Transfer.Superseded())
    })

  /** Records why an attempt is tried again, so that `Durable.status` shows it. */
  const explain = (attempt: Store.Attempt, error: Transfer.TransferError) => {
    if (StoreError.isDamaged(error)) return Effect.void
    if (error._tag === "StoreFailed") return outage.report(error.operation, error)
    if (Transfer.isRefusal(error) || Transfer.isUnknownSecret(error) || error instanceof Sources.SourceAway) {
      const { message, reason } = Failure.of(Cause.fail(known(error)), undefined)
      return Effect.andThen(
        keep(attempt, known(error)),
        Effect.annotateLogs(Effect.logWarning(`A durable job waits: ${reason}: ${message}`), { key: attempt.key })
      )
    }
    return Transfer.isTemporary(error) ? keep(attempt, known(error)) : Effect.void
  }

  /**
   * Sends an attempt, and repeats the transfer while the service requests a pause, refuses the credentials or the
   * account of the runner, or the address of the service is wrong.
   */
  const once = (attempt: Store.Attempt, execution: string, isTakenOver: boolean, forgive: Effect.Effect<void>) =>
    places(isTakenOver, (files) =>
      Effect.andThen(quota.wait, transfer(attempt, { execution, files, held: held(execution) })).pipe(
        Effect.tapError((error) => explain(attempt, error)),
        Effect.tapError((error) => (isOfAll(error) ? forgive : Effect.void)),
        // The attempt keeps its place between these retries, because the service would refuse another job as well.
        Effect.retry({
          while: (error) => isOfAll(error) && !Transfer.isUnknownSecret(error),
          schedule: pauses
        })
      )
    ).pipe((use) =>
      Effect.acquireUseRelease(
        Effect.sync(() => taking.add(execution)),
        () => use,
        () => Effect.sync(() => taking.delete(execution))
      )
    )

  const persevere = (attempt: Store.Attempt, execution: string) =>
    Effect.gen(function* () {
      /** When the first failure came that counts. */
      let since: bigint | undefined
      // The time of day is not used here, because somebody may set it while a job waits.
      const isPatient = Effect.map(Clock.monotonicTimeNanos, (now) => {
        since ??= now
        return Number(now - since) / 1e6 < Duration.toMillis(patience)
      })
      const forgive = Effect.sync(() => {
        since = undefined
      })
      const before = yield* current(attempt)
      let isTakenOver = Option.exists(before, ({ begins }) => begins > 0)
      yield* Effect.suspend(() => {
        const hurries = isTakenOver
        isTakenOver = false
        // The place is free during a pause, so that other jobs can use it.
        return once(attempt, execution, hurries, forgive)
      }).pipe(
        Effect.retry({ while: Transfer.isUnknownSecret, schedule: pauses }),
        Effect.retry({
          while: (error) => (Transfer.isTemporary(error) ? isPatient : Effect.succeed(false)),
          schedule: pauses
        })
      )
    })

  const upload = (attempt: Store.Attempt, execution: string): Effect.Effect<Progress, never, Services> =>
    persevere(attempt, execution).pipe(
      Effect.mapError(known),
      Effect.as("Waiting" as const),
      Effect.catchCause((cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Failure.interrupted(cause)
        return Cause.squash(cause) instanceof Transfer.Superseded
          ? superseded(attempt, execution)
          : fail(attempt, execution, cause)
      }),
      (work) => activity(attempt, execution, work)
    )

  /**
   * Waits a short time for the end of the Assembly. The workflow does the long wait, because a waiting workflow needs
   * no memory.
   */
  const look = (assemblyId: Assembly.AssemblyId) =>
    Assemblies.awaitCompletion(assemblyId, { timeout: "2 seconds", interval: "100 millis", maxInterval: "500 millis" })

  /** Returns `Expecting` if the service sends a notification when the Assembly ends, and otherwise `Waiting`. */
  const expecting = (row: Store.Row): Effect.Effect<Progress, StoreFailed> =>
    Effect.map(JobAtRest.decode(row), ({ params }) => (params.notifyUrl === undefined ? "Waiting" : "Expecting"))

  /**
   * Records whether the service answers. Runs after `look` did not see the end of the Assembly. The error of `look`
   * does not show whether the service did not answer or the Assembly still runs.
   */
  const reachable = (row: Store.Row, assemblyId: Assembly.AssemblyId) =>
    Assemblies.get(assemblyId).pipe(
      Effect.timeout(answerTime),
      Effect.matchEffect({
        onFailure: (error) => keep(row, error),
        onSuccess: () => (row.waiting === undefined ? Effect.void : Effect.ignore(store.wait(row, undefined)))
      })
    )

  const outcome = (attempt: Store.Attempt, execution: string): Effect.Effect<Progress, never, Services> =>
    Effect.gen(function* () {
      const row = yield* current(attempt)
      if (Option.isNone(row)) return "Ended" as const
      if (row.value.state === "Canceling") return yield* finalize(row.value, execution)
      const assemblyId = yield* Effect.result(derive.assemblyId(row.value, execution))
      if (Result.isFailure(assemblyId)) {
        yield* keep(row.value, assemblyId.failure)
        return "Waiting" as const
      }
      return yield* look(assemblyId.success).pipe(
        Effect.andThen(end(attempt, "Completed", ["Uploading", "Processing", "Canceling"])),
        Effect.catchIf(Transfer.isAboutService, () =>
          Effect.andThen(reachable(row.value, assemblyId.success), expecting(row.value))
        )
      )
    }).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Failure.interrupted(cause) : fail(attempt, execution, cause)
      ),
      (work) => activity(attempt, execution, work)
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
      isStopped ? Effect.void : superseded(attempt, execution).pipe(orDamaged(attempt), quota.keep, Effect.asVoid)
    )

  /**
   * Returns `Taking` if an execution has a place or waits for a place, and `Pausing` if it pauses after a failure.
   * Returns undefined if the activity of the execution does not run in this process.
   */
  const stage = (execution: string) =>
    taking.has(execution) ? ("Taking" as const) : running.has(execution) ? ("Pausing" as const) : undefined

  return { upload, outcome, stop, cancel, stage }
}
