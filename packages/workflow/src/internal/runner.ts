/**
 * A runner claims the jobs that are due while it has free places, and works on them. It reads the table at an interval,
 * and at once after a change by this process.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { Clock, Duration, Effect, Fiber, FiberMap, type FileSystem, Latch, Option, Result, Semaphore } from "effect"
import type { HttpClient } from "effect/http"
import type { State } from "../DurableJob.ts"
import type * as Row from "./row.ts"
import * as Secrets from "./secrets.ts"
import * as Verdict from "./verdict.ts"
import * as Work from "./work.ts"

/** How often the table is read, to find the changes of other processes. */
export const interval = "500 millis"

/** How many looks and cancellations that were read from the table run at the same time, at least. */
const othersAtOnce = 16

/** How long a runner that ends waits for the database, at most. */
const farewell = "2 seconds"

/** Wakes the runner: it reads the queue, or with true everything. */
export type Wake = (all: boolean) => void

/** What the work on jobs needs. */
export type Services = AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem

/**
 * - `uploads`: how many jobs, and how many files, are sent at the same time. The runner has as many further places for
 *   jobs that another runner has left, so that such a job does not wait for the uploads of this runner.
 * - `expiry`: after which time without an answer of the database other runners take over, or undefined if this process
 *   has locked the database.
 */
interface Options extends Work.Options {
  readonly uploads: number
  readonly expiry: Duration.Duration | undefined
}

/**
 * The free places of one kind of work.
 *
 * - `files`: the files that are sent at the same time.
 * - `isFull`: whether the last read may have left jobs that are due.
 */
interface Places {
  free: number
  readonly files: Semaphore.Semaphore
  isFull: boolean
}

/**
 * Adds this runner to the table, and prolongs its row until the scope closes: while this row exists, no other runner
 * takes the jobs of this runner over. The runner has lost its jobs if its row was removed, or if the database has not
 * confirmed the row for the time `expiry`, for example because the process was frozen. Then `lost` stops the work on the
 * jobs, and the runner joins again with another id. Returns this id, which is empty while the runner has lost its row.
 */
const membership = Effect.fnUntraced(function* ({ jobs, outage, ...options }: Options, lost: () => void) {
  const { expiry = Duration.days(36_500) } = options
  const scope = yield* Effect.scope
  let id: string = ""
  let confirmedAt = 0
  const join = Effect.gen(function* () {
    const next = yield* Assemblies.newId
    // The time of a confirmation is that of the request, not of the response.
    const at = yield* Clock.currentTimeMillis
    yield* jobs.join(next, expiry)
    id = next
    confirmedAt = at
  })
  const prolong = Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    // The request may hang, so the wait must not have to interrupt it.
    const asking = yield* Effect.forkIn(outage.retrying(jobs.prolong(id, expiry)), scope)
    const left = confirmedAt + Duration.toMillis(expiry) - at
    const answer = yield* Effect.timeoutOption(Fiber.join(asking), Duration.millis(Math.max(0, left)))
    if (Option.contains(answer, true)) {
      confirmedAt = at
      return
    }
    const before = id
    id = ""
    lost()
    yield* outage.retrying(Effect.andThen(jobs.leave(before), join))
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => jobs.leave(id)).pipe(Effect.timeoutOption(farewell), Effect.ignore)
  )
  if (options.expiry === undefined) yield* jobs.clear
  yield* join
  yield* Effect.forkScoped(Effect.forever(Effect.delay(prolong, Duration.times(expiry, 1 / 3))))
  return () => id
})

/** Starts a runner, which ends with the scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { jobs, outage, packs, uploads } = options
  const changed = yield* Latch.make(true)
  const placesOf = (free: number): Places => ({ free, files: Semaphore.makeUnsafe(uploads), isFull: false })
  const upload = placesOf(uploads)
  /** If all places are taken, a job that another runner has left has one of these. */
  const further = placesOf(uploads)
  /** Looks and cancellations. */
  const others: Places = { ...upload, free: Math.max(othersAtOnce, 2 * uploads) }
  let arePacksFirst = false
  /** Whether the next read includes everything, and not only the queue. */
  let readsAll = true

  const wake: Wake = (all) => {
    readsAll ||= all
    changed.openUnsafe()
  }

  const runnerId = yield* membership(options, () => {
    // The work may wait for the database, so nobody waits for its end.
    for (const [, fiber] of [...running, ...canceling]) fiber.interruptUnsafe()
  })
  // The work stops before the runner leaves.
  const running = yield* FiberMap.make<string>()
  const canceling = yield* FiberMap.make<string>()
  const keysOf = (fibers: Iterable<[string, unknown]>) => Array.from(fibers, ([key]) => key)
  const work = Work.make(options)

  /** Takes a place, and returns the function that gives it back. */
  const take = (places: Places) => {
    places.free--
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      places.free++
      if (places.isFull) wake(places === others)
    }
  }

  /** What is done with a job. An upload gives its place back before the first look at the Assembly. */
  const workOn = (row: Row.Row, { files }: Places, giveBack: () => void) => {
    if (row.state === "Canceling") return work.cancel(row)
    if (row.state === "Processing") return work.look(row)
    return Effect.gen(function* () {
      const stored = yield* work.upload(row, files)
      giveBack()
      if (stored !== undefined) yield* work.look(stored)
    })
  }

  /** Begins the work on a job, after the earlier work of this runner on the same job has stopped. */
  const begin = Effect.fnUntraced(function* (row: Row.Row, places: Places) {
    const earlier = [running, canceling].flatMap((fibers) => Option.toArray(FiberMap.getUnsafe(fibers, row.key)))
    const giveBack = take(places)
    const whole = Effect.andThen(Fiber.interruptAll(earlier), work.guarded(row, workOn(row, places, giveBack)))
    const fiber = yield* FiberMap.run(row.state === "Canceling" ? canceling : running, row.key, whole)
    fiber.addObserver(giveBack)
  })

  const beginAll = Effect.fnUntraced(function* (rows: ReturnType<typeof Row.fromAll>, runner: string, places: Places) {
    for (const [key, row] of rows) {
      yield* Result.isFailure(row) ? work.damaged({ key, runner }, row.failure) : begin(row.success, places)
    }
  })

  /** Claims jobs for the free places, and begins the work on them. */
  const fill = Effect.fnUntraced(function* (places: Places, claim: typeof packs.form) {
    const limit = places.free
    const runner = runnerId()
    if (limit <= 0 || runner === "") return
    const rows = yield* claim(runner, limit)
    places.isFull = rows.length === limit
    yield* beginAll(rows, runner, places)
  })

  const claim = (places: Places, states: readonly [State, ...ReadonlyArray<State>], isLeft = false) =>
    fill(places, (runner, limit) => jobs.claim(runner, limit, states, isLeft))

  const attend = Effect.gen(function* () {
    const runner = runnerId()
    const ending = keysOf(canceling)
    const rows = yield* jobs.unattended(runner, [...keysOf(running), ...ending], ending)
    yield* beginAll(rows, runner, others)
  })

  const unknown = Verdict.failureOf(Secrets.unknown)
  const loop = Effect.gen(function* () {
    const isTime = Option.isNone(yield* Effect.timeoutOption(changed.await, interval))
    const all = isTime || readsAll
    changed.closeUnsafe()
    readsAll = false
    if (all) yield* attend
    if (isTime) yield* jobs.release
    // Neither jobs nor packs take all places.
    arePacksFirst = !arePacksFirst
    const both = [claim(upload, ["Queued", "Uploading"]), fill(upload, packs.form)]
    yield* Effect.all(arePacksFirst ? both.toReversed() : both, { discard: true })
    if (!all) return
    yield* claim(further, ["Uploading"], true)
    yield* claim(others, ["Processing", "Canceling"])
    if (isTime) yield* jobs.explainUnknown(unknown)
  }).pipe(
    Effect.catchCause((cause) => outage.reportCause("read the jobs", cause)),
    Effect.forever
  )

  yield* jobs.release
  yield* Effect.forkScoped(loop)
  return wake
})
