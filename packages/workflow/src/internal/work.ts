/** What a runner does with a job that it has claimed. Each function writes what follows into the row of the job. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Places from "@assembly-effect/api/unstable/Places"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { RequestOptions } from "@assembly-effect/tus/Upload"
import { UploadJournal } from "@assembly-effect/tus/UploadJournal"
import { Cause, Duration, Effect, Layer, Option, Result, Schedule, type Semaphore } from "effect"
import type { StoreFailed } from "../DurableError.ts"
import type * as DurableJob from "../DurableJob.ts"
import { damaged as damagedRow, type Outage } from "./database.ts"
import type { Claim, Jobs } from "./jobs.ts"
import * as Journal from "./journal.ts"
import * as Packs from "./packs.ts"
import * as Row from "./row.ts"
import type { Secrets } from "./secrets.ts"
import * as Sources from "./sources.ts"
import * as Verdict from "./verdict.ts"

/**
 * - `patience`: how long temporary failures of an attempt are retried, and how long a cancellation is tried.
 * - `pollInterval`: the longest pause between two looks at an Assembly. A look reads the Status of the Assembly.
 * - `ended`: called when a job has ended.
 */
export interface Options {
  readonly jobs: Jobs
  readonly packs: Packs.Packs
  readonly secrets: Secrets
  readonly upload: RequestOptions
  readonly patience: Duration.Duration
  readonly pollInterval: Duration.Duration
  readonly outage: Outage
  readonly ended: (key: string, state: DurableJob.State) => Effect.Effect<void>
}

/** The pauses after failures, in milliseconds: the first one, and the longest one. Each pause doubles the time. */
const firstPause = 1000
export const longestPause = 60_000

/** The pauses between tries that keep their place: 1 second, then twice as long, up to 1 minute. */
const pauses = Schedule.min([Schedule.exponential(firstPause), Schedule.spaced(longestPause)])

/** The first pause between two looks at an Assembly, in milliseconds. */
const firstLook = 5000

/**
 * A look waits a short time for the end of the Assembly. A longer wait needs no memory, because the job is given back
 * until the next look.
 */
const shortWait = { schedule: Schedule.exponential("100 millis", 1.5), times: 6 }

/** Whether every job would fail with this error. The wait for a correction does not count as `patience`. */
const isOfAll = (error: Verdict.TransferError): boolean => error._tag === "RateLimited" || Verdict.isRefusal(error)

const warn = (key: string, { message, reason }: DurableJob.Failure) =>
  Effect.annotateLogs(Effect.logWarning(`A durable job waits: ${reason}: ${message}`), { key })

/**
 * Runs an effect, and returns how long it took in milliseconds, without its waits for the budget. The time of day is not
 * used, because it may be set.
 */
const timed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let idle = 0
  const waited = (millis: number) => {
    idle += millis
  }
  const told = Budget.telling(effect, { waits: () => Effect.void, waited })
  const [time, result] = yield* Effect.timed(Effect.result(told))
  return { result, millis: Math.max(0, Duration.toMillis(time) - idle) }
})

/** Reads the Status until the Assembly has completed, for a short time. Returns undefined while the Assembly runs. */
const read = (id: Assembly.AssemblyId) =>
  Assemblies.get(id).pipe(
    Effect.map(Assemblies.outcome),
    Effect.repeat({ until: Option.isSome<unknown>, ...shortWait }),
    Effect.flatMap((outcome) => Effect.fromResult(Option.getOrElse(outcome, () => Result.succeed(undefined))))
  )

export const make = (options: Options) => {
  const { ended, jobs, packs, patience, pollInterval, secrets, upload: uploadOptions } = options
  const { retrying } = options.outage
  const patient = Duration.toMillis(patience)

  const end = (...how: Parameters<typeof jobs.end>) =>
    Effect.flatMap(retrying(jobs.end(...how)), (hasEnded) => (hasEnded ? ended(how[0].key, how[1]) : Effect.void))

  const endPack = (...how: Parameters<typeof packs.end>) =>
    Effect.flatMap(
      retrying(packs.end(...how)),
      Effect.forEach(([key, state]) => ended(key, state), { discard: true })
    )

  /** Records how the Assembly of an attempt ended. A cancellation that has come in between stays. */
  const finish = (row: Row.Row, how: Packs.End) => {
    if (Row.isPack(row)) return endPack(row, how)
    packs.remember(row, how)
    if (how.state === "Completed") return end(row, "Completed", ["Processing", "Canceling"])
    return end(row, "Failed", row.state === "Canceling" ? ["Canceling"] : ["Uploading", "Processing"], how.failure)
  }

  const giveBack = (...how: Parameters<typeof jobs.giveBack>) => retrying(jobs.giveBack(...how))

  /** Reads the row again: the entry of the Assembly may have been written since. */
  const reread = (row: Row.Row) => retrying(jobs.findClaimed(row))

  /** Prolongs or frees the place of an Assembly among the running Assemblies of the account. */
  const place = Effect.fnUntraced(function* (row: Row.Row, change: "keep" | "release") {
    const budget = yield* Budget.Budget
    const { origins } = yield* AssemblyClient
    const id = yield* Journal.readableId(secrets, row)
    if (budget !== undefined && id !== undefined) yield* budget[change](origins.entries[0], id)
  })

  /** Ends an attempt that failed. */
  const fail = Effect.fnUntraced(function* (before: Row.Row, error: unknown) {
    const row = yield* Effect.orElseSucceed(reread(before), () => before)
    if (row === undefined) return
    // The Assembly is canceled, because it would wait for files that no attempt sends. If the cancellation fails,
    // `Durable.retry` cancels this Assembly before it queues the next attempt.
    yield* Effect.ignore(Journal.cancel(secrets, row))
    yield* place(row, "release")
    const failure = Verdict.failureOf(error, yield* Journal.readableId(secrets, row))
    yield* finish(before, { state: "Failed", failure, isOfJob: Verdict.isOfJob(error) })
  })

  /** How long a failed job pauses, or undefined if its patience is used up. `millis` is how long the try took. */
  const pauseAfter = (waited: number, millis: number) => {
    if (waited >= patient) return undefined
    const pause = Math.max(firstPause, Math.min(longestPause, waited))
    // The first try is no wait.
    return { pause, waited: Math.ceil(waited + pause + (waited === 0 ? 0 : millis)) }
  }

  /**
   * Runs the attempt until all bytes are stored, and records this: `AssemblyUpload` creates the Assembly and sends the
   * bytes. Its journal is in the database, so a later runner continues where this one ended. Returns false if the runner
   * has lost the attempt.
   */
  const transfer = Effect.fnUntraced(function* (row: Row.Row, permits: Semaphore.Semaphore) {
    const { files, params } = yield* Row.decodeJob(row)
    const opened = yield* Sources.reopen(files, row.sources)
    const journal = yield* Journal.make(jobs, secrets, row)
    // Only the Assembly of a pack is in the database, so a pack that was interrupted is sent again.
    const how = Row.isPack(row) ? { concurrency: 16, restart: row.assembly !== undefined } : {}
    const status = yield* AssemblyUpload.run({
      params,
      files: opened,
      upload: uploadOptions,
      wait: false,
      ...how
    }).pipe(
      Effect.mapError((error) => Verdict.decisive(error, journal, files)),
      (running) => Budget.telling(running, { waits: journal.waits }),
      Effect.provideServiceEffect(Budget.Watcher, Places.watcher),
      Effect.provideService(Hosting.Permits, permits),
      Effect.provide(AssemblyUpload.layerJournaled.pipe(Layer.provide(Layer.succeed(UploadJournal, journal.service))))
    )
    return Row.isPack(row)
      ? yield* packs.stored(row, status.assembly_id, yield* journal.uploads)
      : yield* jobs.stored(row)
  })

  /**
   * Uploads the files of an attempt, and returns its row if all bytes are stored, so that a look at the Assembly follows.
   * Repeats this while the database fails, the service requests a pause, refuses the credentials or the account of the
   * runner, or the address of the service is wrong. The attempt keeps its place between these tries, because another job
   * would be refused as well.
   */
  const upload = Effect.fnUntraced(function* (row: Row.Row, files: Semaphore.Semaphore) {
    let { waited } = row
    const explain = Effect.fnUntraced(function* (error: Verdict.TransferError) {
      waited = 0
      const failure = Verdict.failureOf(error)
      yield* Effect.ignore(jobs.explain(row, failure))
      if (error._tag !== "RateLimited") yield* warn(row.key, failure)
    })
    const trying = Effect.gen(function* () {
      // The row is read for each try, because it has the entry of the Assembly after the first one.
      const now = yield* jobs.findClaimed(row)
      const isStored = now !== undefined && (yield* transfer(now, files))
      if (!isStored) return yield* Effect.fail(new Journal.Superseded())
    }).pipe(
      retrying,
      Effect.tapError((error) => (isOfAll(error) ? explain(error) : Effect.void)),
      Effect.retry({ while: isOfAll, schedule: pauses })
    )
    const { millis, result } = yield* timed(trying)
    if (Result.isSuccess(result)) return yield* reread(row)
    const error = result.failure
    if (error._tag === "Superseded") return undefined
    // The other jobs of a pack do not wait for the source of one.
    const isForOne = Row.isPack(row) && error._tag === "SourceAway"
    const pause = Verdict.mayPass(error) && !isForOne ? pauseAfter(waited, millis) : undefined
    if (pause === undefined) return yield* Effect.fail(error)
    const failure = Verdict.failureOf(error)
    if (error instanceof Sources.SourceAway) yield* warn(row.key, failure)
    yield* giveBack(row, { ...pause, failure })
    return undefined
  })

  /** Looks at the Assembly of an attempt whose bytes are stored. */
  const look = Effect.fnUntraced(function* (row: Row.Row) {
    const entry = yield* Journal.assembly(secrets, row)
    if (entry === undefined) return yield* damagedRow(row.key, ["assembly"])
    const seen = yield* Effect.result(read(entry.assemblyId))
    const error = Result.isFailure(seen) ? seen.failure : undefined
    if (error === undefined && Result.getOrUndefined(seen) !== undefined) {
      yield* place(row, "release")
      return yield* finish(row, Packs.completed)
    }
    if (error !== undefined && !Verdict.isAboutService(error)) return yield* error
    yield* place(row, "keep")
    const { params } = yield* Row.decodeJob(row)
    const longest = Duration.toMillis(pollInterval)
    // Until its notification, the job does not look early.
    const isExpecting = params.notifyUrl !== undefined && row.waited === 0
    const pause = isExpecting ? longest : Math.min(longest, Math.max(firstLook, row.waited))
    const failure = error === undefined ? undefined : Verdict.failureOf(error)
    const waited = isExpecting ? 0 : Math.ceil(row.waited + pause)
    yield* giveBack(row, { pause, waited, failure })
  })

  /**
   * Cancels the Assembly of an attempt, if the Assembly exists. If the Assembly had completed before, the job is
   * `Completed`. If the service does not confirm the cancellation within the `patience` of the runner, the job is
   * `Failed`.
   */
  const cancel = Effect.fnUntraced(function* (row: Row.Row) {
    const { millis, result } = yield* timed(Journal.cancel(secrets, row))
    if (Result.isSuccess(result)) {
      yield* place(row, "release")
      return yield* end(row, result.success ? "Completed" : "Canceled", ["Canceling"])
    }
    const failure = Verdict.failureOf(result.failure)
    const pause = pauseAfter(row.waited, millis)
    if (pause !== undefined) return yield* giveBack(row, { ...pause, failure })
    const message = `the Assembly could not be canceled, and may still run: ${failure.message}`
    yield* end(row, "Failed", ["Canceling"], { reason: failure.reason, message })
  })

  /** Ends a job whose row is damaged. What cannot be read cannot be canceled. */
  const damaged = (claim: Pick<Claim, "key" | "runner">, error: StoreFailed) =>
    Row.isPack(claim)
      ? endPack(claim, { state: "Failed", failure: Verdict.failureOf(error), isOfJob: true })
      : end(claim, "Failed", ["Uploading", "Processing", "Canceling"], Verdict.failureOf(error))

  /** Runs the work on a job. An error or a defect ends the attempt. */
  const guarded = <E, R>(row: Row.Row, work: Effect.Effect<void, E, R>) =>
    work.pipe(
      Effect.catchCause((cause) => fail(row, Cause.squash(cause))),
      Effect.orDie
    )

  return { damaged, guarded, upload, look, cancel }
}
