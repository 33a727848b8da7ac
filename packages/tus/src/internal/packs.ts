/** Runs the jobs of `AssemblyUpload.runAll` in packs, by the rules of `packing.ts`. */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type AssemblyUploadError, FilesFailed } from "./jobError.ts"
import * as DeliveryProof from "../DeliveryProof.ts"
import type * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyJob from "./assemblyJob.ts"
import * as Jobs from "./job.ts"
import * as PackedStatus from "./packedStatus.ts"
import * as Packing from "./packing.ts"
import { isTemporary } from "./context.ts"

/** Whether a pack failed because of one of its jobs. Every pack would fail if the service is away, for example. */
const isOfJob = (error: AssemblyUploadError): boolean =>
  error._tag === "AssemblyFailed" ||
  error._tag === "SourceFailed" ||
  (error._tag === "FilesFailed" && error.files.some((file) => file.outcome === "Failed" && !isTemporary(file.error)))

/** How the records of the jobs of a pack are written. */
const many = { concurrency: 16, discard: true } as const

/** The result of one job. */
type JobResult = Result.Result<Assembly.Status, AssemblyUploadError>

/** A job that waits for its pack. `leave` ends its lease. `earlier` are the Assemblies of its packs that failed. */
interface Waiting<J> extends Packing.Item {
  readonly job: J
  readonly sources: AssemblyJob.Prepared["sources"]
  readonly store: AssemblyJob.Store
  readonly leave: Effect.Effect<void>
  readonly earlier: Array<Assembly.AssemblyId>
  readonly outcome: Deferred.Deferred<Jobs.Outcome<J>>
}

/**
 * Runs jobs with equal options in one Assembly, and returns the result of each job. Fails if the Assembly failed because
 * of one of the jobs.
 */
const together = Effect.fnUntraced(function* <J extends Jobs.Options<unknown>>(
  service: AssemblyJob.Service,
  jobs: Arr.NonEmptyReadonlyArray<Waiting<J>>,
  emit: AssemblyFiles.Emit
) {
  const options = Arr.headNonEmpty(jobs).job
  const isForm = options.transport === "form"
  const starts = Arr.scan(jobs, 0, (sum, { job }) => sum + job.files.length)
  const ofJob = <A>(all: ReadonlyArray<A>, index: number) => all.slice(starts[index], starts[index + 1])
  const verify = options.verify ?? (isForm ? DeliveryProof.md5 : Jobs.unproven)
  const proofs: Array<Jobs.Proof> = []
  for (const { sources } of jobs) proofs.push(yield* verify(sources))
  const observed = proofs.flatMap(({ sources }) => sources)
  const sums = isForm ? yield* Effect.forEach(observed, DeliveryProof.summed) : undefined
  let delivered: ReadonlyArray<Jobs.Delivered> = []
  const noting: Jobs.Verify = (sources) =>
    Effect.succeed({ sources, check: (_, files) => Effect.sync(() => void (delivered = files)) })
  const pack: Jobs.Options<unknown> = {
    ...options,
    files: jobs.flatMap(({ job }) => job.files),
    concurrency: options.concurrency ?? Packing.uploadsAtOnce,
    onFailure: "cancel",
    cancelOnInterrupt: true,
    verify: noting
  }
  // A later run then knows which Assembly may have the files of a job.
  const record: AssemblyJob.Store["record"] = (entry) =>
    entry._tag === "Creating"
      ? Effect.forEach(jobs, ({ store }) => store.record({ ...entry, uploads: [] }), many)
      : Effect.void
  const files = sums?.map(({ source }) => source) ?? observed
  const sent = yield* Effect.result(service.send(pack, files, emit, { ...AssemblyJob.forgetful, record }))
  if (Result.isFailure(sent)) {
    const error = sent.failure
    if (isOfJob(error)) return yield* Effect.fail(error)
    const own = (index: number) =>
      error._tag === "FilesFailed" ? new FilesFailed({ ...error, files: ofJob(error.files, index) }) : error
    return jobs.map((_, index): JobResult => Result.fail(own(index)))
  }
  const status = sent.success
  const totals = yield* Effect.forEach(sums ?? [], ({ total }) => total)
  const known = delivered.map((file, index) => ({ ...file, md5hash: totals[index]?.md5hash }))
  const found = PackedStatus.filesOf(status, known)
  const shareOf = Effect.fnUntraced(function* ([{ job }, proof]: [Waiting<J>, Jobs.Proof], index: number) {
    const uploads = ofJob(found, index)
    const missing = job.files[uploads.indexOf(undefined)]
    if (missing !== undefined) return yield* PackedStatus.notListed(status, missing.filename)
    const own = uploads.filter((file) => file !== undefined)
    const share = PackedStatus.share(status, own)
    yield* proof.check(share, ofJob(delivered, index))
    return share
  })
  return yield* Effect.forEach(Arr.zip(jobs, proofs), (each, index) => Effect.result(shareOf(each, index)))
})

/** Whether a job can share an Assembly. In a JavaScript program, a job may be any value; its checks refuse it later. */
const canShare = (job: Jobs.Options<unknown>): boolean =>
  job?.params?.assemblyId === undefined && job?.wait !== false && job?.restart !== true

/** The jobs that wait for each other, which have the same `key`, and what was seen of the earlier packs of such jobs. */
interface Queue<J> {
  readonly key: object
  waiting: ReadonlyArray<Waiting<J>>
  seen: Packing.Seen
}

/**
 * The packs that follow the end of a pack. `Failed`: because of one of its jobs. `Away`: any pack would have failed, for
 * example because the service is away, so its jobs have failed.
 */
const after = {
  Completed: Packing.completed,
  Failed: Packing.failed,
  Away: <J>({ other }: Packing.Pack<J>) => Packing.next([], other)
}

/**
 * Makes the function that runs a job in a pack, and returns its outcome. Jobs that cannot share an Assembly, and jobs
 * whose pack has no other job, run with `alone`. Packs end with the scope.
 */
export const make = Effect.fnUntraced(function* <J extends Jobs.Options<R>, R>(options: {
  readonly service: AssemblyJob.Service
  readonly packing: Packing.Options
  readonly assemblies: number
  readonly alone: (job: J) => Effect.Effect<Jobs.Outcome<J>, never, R>
}) {
  const { alone, assemblies, service } = options
  const maxima = Packing.limitsOf(options.packing)
  const scope = yield* Effect.scope
  const places = yield* Semaphore.make(assemblies)
  const queues = MutableHashMap.empty<object, Queue<J>>()

  const end = Effect.fnUntraced(function* ({ earlier, job, outcome, store }: Waiting<J>, result: JobResult) {
    const told = { job, earlier }
    if (Result.isFailure(result)) {
      return yield* Deferred.succeed(outcome, { ...told, _tag: "Failed", error: result.failure })
    }
    const status = result.success
    const entry = { assemblyId: status.assembly_id, uploads: PackedStatus.idsOf(status) }
    // If the record cannot be written, the next run finds the Assembly of the pack, and that it has completed.
    yield* Effect.ignore(store.record({ ...entry, _tag: "Completed" }))
    return yield* Deferred.succeed(outcome, { ...told, _tag: "Completed", status })
  })

  /** Runs a job that is alone in its pack. */
  const single = Effect.fnUntraced(function* ({ earlier, job, leave, outcome }: Waiting<J>) {
    yield* leave
    const own = yield* alone(job)
    yield* Deferred.succeed(outcome, { ...own, earlier: [...earlier, ...own.earlier] })
    if (own._tag === "Died") return "Failed"
    if (own._tag === "Failed") return isOfJob(own.error) ? "Failed" : "Away"
    return "Completed"
  })

  /** Runs several jobs in one Assembly. */
  const shared = Effect.fnUntraced(function* (jobs: Arr.NonEmptyReadonlyArray<Waiting<J>>) {
    let created: Assembly.AssemblyId | undefined
    const exit = yield* Effect.exit(
      together(service, jobs, (event) => {
        if (event._tag === "AssemblyCreated") created = event.status.assembly_id
        if (event._tag === "Resent") for (const { earlier } of jobs) earlier.push(event.assemblyId)
      })
    )
    if (Exit.isSuccess(exit)) {
      yield* Effect.forEach(Arr.zip(jobs, exit.value), ([job, result]) => end(job, result), many)
      return exit.value.some(Result.isSuccess) ? "Completed" : "Away"
    }
    // A defect may come from a job.
    if (created !== undefined) for (const { earlier } of jobs) earlier.push(created)
    yield* Effect.forEach(jobs, ({ store }) => Effect.ignore(store.forget), many)
    return "Failed"
  })

  const run = (queue: Queue<J>, pack: Packing.Pack<Waiting<J>>): Effect.Effect<void, never, R> =>
    Effect.gen(function* () {
      const { jobs } = pack
      const how = yield* places.withPermit(jobs.length === 1 ? single(Arr.headNonEmpty(jobs)) : shared(jobs))
      const count = jobs.reduce((sum, { files }) => sum + files, 0)
      if (how !== "Away") queue.seen = Packing.remember(queue.seen, pack, count, how === "Failed")
      if (queue.waiting.length === 0 && queue.seen.failed === 0) MutableHashMap.remove(queues, queue.key)
      yield* Effect.forEach(after[how](pack), (one) => Effect.forkIn(run(queue, one), scope), { discard: true })
    })

  /** Runs the packs of a queue that are ready at the time `now`. */
  const take = (queue: Queue<J>, limits: Packing.Limits, now: number): Effect.Effect<void, never, R> =>
    Effect.gen(function* () {
      const [first, rest] = Arr.splitAt(queue.waiting, Packing.ready(queue.waiting, limits, queue.seen, now))
      if (!Arr.isReadonlyArrayNonEmpty(first)) return
      queue.waiting = rest
      yield* Effect.forkIn(run(queue, Packing.make(first)), scope)
      yield* take(queue, limits, now)
    })

  const queueOf = (job: J): Queue<J> => {
    // Two jobs have the same queue if their params and options are structurally equal.
    const { data: _, files: __, ...key } = job as J & { readonly data?: unknown }
    return Option.getOrElse(MutableHashMap.get(queues, key), () => {
      const queue: Queue<J> = { key, waiting: [], seen: Packing.unseen }
      MutableHashMap.set(queues, key, queue)
      return queue
    })
  }

  return (job: J): Effect.Effect<Jobs.Outcome<J>, never, R> => {
    if (!canShare(job)) return alone(job)
    const inPack = Effect.fnUntraced(function* (held: Scope.Closeable) {
      const leave = Scope.close(held, Exit.void)
      const prepared = yield* Effect.exit(
        Effect.flatMap(service.prepare<R>(job, true), (opened) =>
          Effect.map(opened.done, (done) => (done === undefined ? opened : undefined))
        )
      )
      // The job alone has the error, or shows that it has completed before.
      if (Exit.isFailure(prepared) || prepared.value === undefined) return yield* alone(job)
      const { join, sources } = prepared.value
      const joined = yield* Effect.result(Scope.provide(join, held))
      if (Result.isFailure(joined)) return { _tag: "Failed", job, earlier: [], error: joined.failure } as const
      const store = joined.success
      // The job alone shows that it has completed before.
      if (store === undefined) return yield* Effect.andThen(leave, alone(job))
      const files = job.files.length
      const bytes = Number(sources.reduce((sum, { size = 0n }) => sum + size, 0n))
      const at = yield* Clock.currentTimeMillis
      const outcome = yield* Deferred.make<Jobs.Outcome<J>>()
      const queue = queueOf(job)
      queue.waiting = [...queue.waiting, { job, sources, store, leave, earlier: [], outcome, files, bytes, at }]
      const limits = job.transport === "form" ? { ...maxima, bytes: Math.min(maxima.bytes, Jobs.largestForm) } : maxima
      yield* take(queue, limits, at)
      yield* Effect.timeoutOption(Deferred.await(outcome), limits.within)
      // The wall clock may say that less time has passed: a timer may be a millisecond early, and the clock set back.
      yield* take(queue, limits, Math.max(at + limits.within, yield* Clock.currentTimeMillis))
      return yield* Deferred.await(outcome)
    })
    return Effect.acquireUseRelease(Scope.make(), inPack, (held) => Scope.close(held, Exit.void))
  }
})
