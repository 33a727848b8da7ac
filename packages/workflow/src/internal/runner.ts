/**
 * A runner claims the jobs that are due while it has free places, and works on them. It reads the table at an interval,
 * and at once after a change by this process.
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { StoreFailed } from "../DurableError.ts"
import * as Failure from "./failure.ts"
import * as Membership from "./membership.ts"
import type { Row } from "./row.ts"
import * as Secrets from "./secrets.ts"
import * as Work from "./work.ts"

/** How often the table is read, to find the changes of other processes. */
export const interval = "500 millis"

/** How many looks and cancellations that were read from the table run at the same time, at least. */
const othersAtOnce = 16

/**
 * What takes a place: an upload; the upload of a job that another runner has left, if all places are taken; a look or a
 * cancellation.
 */
type Kind = "upload" | "further" | "other"

type Services = AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem

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

/** A row that was read, or the error of a damaged row. */
type Read = readonly [key: string, row: Result.Result<Row, StoreFailed>]

/** Starts a runner, which ends with the scope. */
export const make = Effect.fnUntraced(function* ({ expiry, uploads, ...options }: Options) {
  const { claims, outage, packs } = options
  const scope = yield* Effect.scope
  const changed = yield* Latch.make(true)
  /** The work of this runner on each job, and the jobs that it cancels. */
  const running = new Map<string, Fiber.Fiber<void>>()
  const canceling = new Set<string>()
  const free: Record<Kind, number> = { upload: uploads, further: uploads, other: Math.max(othersAtOnce, 2 * uploads) }
  const files = { upload: Semaphore.makeUnsafe(uploads), further: Semaphore.makeUnsafe(uploads) }
  /** Whether the last read may have left jobs that are due. */
  const isFull: Record<Kind, boolean> = { upload: false, further: false, other: false }
  let arePacksFirst = false
  /** Whether the next read includes everything, and not only the queue. */
  let readsAll = true

  const wake = (all: boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      readsAll ||= all
      return Effect.asVoid(changed.open)
    })

  const membership = yield* Membership.make(
    claims,
    outage,
    expiry,
    // The work may wait for the database, so nobody waits for its end.
    Effect.sync(() => running.forEach((fiber) => fiber.interruptUnsafe()))
  )
  const work = Work.make(options)

  /** Takes a place, and returns the effect that gives it back. */
  const take = (kind: Kind): Effect.Effect<void> => {
    free[kind]--
    let isTaken = true
    return Effect.suspend(() => {
      if (!isTaken) return Effect.void
      isTaken = false
      free[kind]++
      return isFull[kind] ? wake(kind === "other") : Effect.void
    })
  }

  /** What is done with a job. An upload gives its place back before the first look at the Assembly. */
  const workOn = (row: Row, runner: string, kind: Kind, giveBack: Effect.Effect<void>) => {
    if (row.state === "Canceling") return work.cancel(row, runner)
    if (row.state === "Processing") return work.look(row, runner)
    return Effect.gen(function* () {
      const stored = yield* work.upload(row, runner, kind === "further" ? files.further : files.upload)
      yield* giveBack
      if (Option.isSome(stored)) yield* work.look(stored.value, runner)
    })
  }

  /** Begins the work on a job, after the earlier work of this runner on the same job has stopped. */
  const begin = (row: Row, runner: string, kind: Kind): Effect.Effect<void, never, Services> =>
    Effect.gen(function* () {
      const earlier = running.get(row.key)
      const giveBack = take(kind)
      const whole = Effect.andThen(
        earlier === undefined ? Effect.void : Fiber.interrupt(earlier),
        work.guarded(row, runner, workOn(row, runner, kind, giveBack))
      )
      const fiber: Fiber.Fiber<void> = yield* Effect.forkIn(
        Effect.ensuring(
          whole,
          Effect.suspend(() => {
            // The next work on the same job may have begun.
            if (running.get(row.key) !== fiber) return giveBack
            running.delete(row.key)
            canceling.delete(row.key)
            return giveBack
          })
        ),
        scope
      )
      running.set(row.key, fiber)
      if (row.state === "Canceling") canceling.add(row.key)
    })

  const beginAll = (rows: ReadonlyArray<Read>, runner: string, kind: Kind) =>
    Effect.forEach(
      rows,
      ([key, row]) =>
        Result.match(row, {
          onFailure: (error) => work.damaged({ key, runner }, error),
          onSuccess: (claimed) => begin(claimed, runner, kind)
        }),
      { discard: true }
    )

  const claim = (kind: Kind, how: Omit<Parameters<typeof claims.claim>[0], "runner" | "limit">) =>
    Effect.suspend(() => {
      const limit = free[kind]
      const runner = membership()
      if (limit <= 0 || runner === "") return Effect.void
      return Effect.flatMap(claims.claim({ ...how, runner, limit }), (rows) => {
        isFull[kind] = rows.length === limit
        return beginAll(rows, runner, kind)
      })
    })

  /** Claims the packs that are ready, while there are free places. */
  const claimPacks: Effect.Effect<void, StoreFailed, Services> = Effect.suspend(() => {
    const runner = membership()
    isFull.upload = free.upload <= 0
    if (isFull.upload || runner === "") return Effect.void
    return Effect.flatMap(packs.form(runner), ({ isMore, rows }) =>
      isMore ? Effect.andThen(beginAll(rows, runner, "upload"), claimPacks) : Effect.void
    )
  })

  const attend = Effect.suspend(() => {
    const runner = membership()
    return Effect.flatMap(claims.unattended(runner, [...running.keys()], [...canceling]), (rows) =>
      beginAll(rows, runner, "other")
    )
  })

  const unknown = Failure.of(Secrets.unknown)
  const loop = Effect.gen(function* () {
    const isTime = Option.isNone(yield* Effect.timeoutOption(changed.await, interval))
    const all = isTime || readsAll
    changed.closeUnsafe()
    readsAll = false
    if (all) yield* attend
    if (isTime) yield* claims.release
    const claimJobs = claim("upload", { states: ["Queued", "Uploading"] })
    // Neither jobs nor packs take all places.
    arePacksFirst = !arePacksFirst
    if (arePacksFirst) yield* claimPacks
    yield* claimJobs
    if (!arePacksFirst) yield* claimPacks
    if (!all) return
    yield* claim("further", { states: ["Uploading"], isLeft: true })
    yield* claim("other", { states: ["Processing", "Canceling"] })
    if (isTime) yield* claims.explainUnknown(unknown)
  }).pipe(
    Effect.catchCause((cause) => outage.reportCause("read the jobs", cause)),
    Effect.forever
  )

  if (expiry === undefined) yield* claims.release
  yield* Effect.forkScoped(loop)
  return { wake }
})
