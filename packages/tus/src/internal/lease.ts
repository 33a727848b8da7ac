/**
 * The leases of uploads and jobs, so that only one process or fiber runs an upload or a job. Each change of a lease is a
 * compare-and-set, so that a holder detects when another holder has taken its lease.
 */
import * as Unique from "@assembly-effect/auth/unstable/Unique"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Key, Lease, Leases, Locks } from "./journal.ts"
import { type JournalFailed, LeaseLost, UploadLeased } from "./journalError.ts"

/** The text of a lease. `until` is the time of its expiry, in milliseconds since 1970. */
const LeaseText = Json.fromString(Schema.Struct({ owner: Schema.String, until: Schema.Finite }))
const decodeLease = Schema.decodeUnknownOption(LeaseText)
const encodeLease = Schema.encodeSync(LeaseText)

const readLease = (text: string | undefined) => Option.getOrUndefined(decodeLease(text))

/** The time when a lease expires, in milliseconds since 1970. Returns 0 if there is no valid lease. */
export const until = (text: string | undefined): number => readLease(text)?.until ?? 0

/** The maximum wait for the store when a lease is released, in milliseconds. */
const longestRelease = 1000

type Acquire = (key: Key) => Effect.Effect<Lease, JournalFailed | UploadLeased, Scope.Scope>

/** The loss of a lease, which `lose` causes once, with its reason. */
const losing = (key: Key) => {
  const loss = Deferred.makeUnsafe<never, LeaseLost>()
  const lost = Deferred.await(loss)
  return {
    lost,
    lose: (description: string) => Effect.andThen(Deferred.fail(loss, new LeaseLost({ key, description })), lost),
    check: Effect.suspend(() => (Deferred.isDoneUnsafe(loss) ? lost : Effect.void))
  }
}

/**
 * Acquires the lease of a key, so that only one process or fiber runs an upload or a job, and renews it after a third of
 * `millis`. Each change of a lease is a compare-and-set, so that a holder detects when another holder has taken its lease.
 */
export const make = (leases: Leases, millis: number): Acquire =>
  Effect.fnUntraced(function* (key) {
    const owner = yield* Unique.text
    const scope = yield* Effect.scope
    let end = 0

    /** Replaces the stored text by a lease until `newEnd`. Returns false if another holder has changed the text. */
    const write = (existing: string | undefined, newEnd: number) =>
      Effect.map(leases.swap(key, existing, encodeLease({ owner, until: newEnd })), (isWritten) => {
        if (isWritten) end = newEnd
        return isWritten
      })

    /** Changes the end of the lease. A write that failed may have changed the store, so the stored text decides. */
    const extend = (newEnd: number) =>
      Effect.flatMap(leases.get(key), (text) =>
        readLease(text)?.owner === owner ? write(text, newEnd) : Effect.succeed(false)
      )

    // The finalizer is added before the claim, because an interrupted claim may still have written the lease.
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(Clock.currentTimeMillis, extend).pipe(
        Effect.interruptible,
        Effect.timeoutOption(Math.min(millis, longestRelease)),
        Effect.ignore
      )
    )

    const now = yield* Clock.currentTimeMillis
    const existing = yield* leases.get(key)
    if (until(existing) > now) return yield* new UploadLeased({ key, until: until(existing) })
    if (!(yield* write(existing, now + millis))) {
      return yield* new UploadLeased({ key, until: Math.max(now, until(yield* leases.get(key))) })
    }

    const { check: checkLoss, lose, lost } = losing(key)

    // A holder that cannot renew its lease stops its work a tenth of `millis` before the lease expires.
    const left = Effect.map(Clock.currentTimeMillis, (time) => end - millis / 10 - time)

    /** Returns whether the lease was renewed. An expired lease is renewed too, if nobody else has taken it. */
    const renew = Effect.gen(function* () {
      const time = yield* left
      // The change runs to its end in the scope of the lease, even if its result comes too late.
      const changing = yield* Effect.forkIn(extend((yield* Clock.currentTimeMillis) + millis), scope)
      const isOurs = yield* Effect.timeoutOrElse(Fiber.join(changing), {
        duration: time > 0 ? time : millis / 3,
        orElse: () => lose("the lease expired before the store responded to the renewal")
      })
      return isOurs ? true : yield* lose("another holder took the lease, or the lease was removed")
    }).pipe(
      Effect.catchTag("JournalFailed", ({ description }) =>
        Effect.flatMap(left, (time) =>
          time > 0 ? Effect.succeed(false) : lose(`the lease expired after its renewal failed: ${description}`)
        )
      )
    )

    // Only one change runs at a time, because a concurrent change would not find the text that it expects.
    const renewing = Semaphore.makeUnsafe(1)
    const check = Effect.gen(function* () {
      yield* checkLoss
      if ((yield* left) <= 0) yield* renew
    }).pipe(renewing.withPermits(1))

    // If the claim was slow, the lease may have expired before the store responded.
    yield* Effect.mapError(check, () => new UploadLeased({ key, until: end }))

    let pause = millis / 3
    const keep = Effect.gen(function* () {
      yield* Effect.sleep(pause)
      const isRenewed = yield* renewing.withPermits(1)(renew)
      pause = Math.max(1, Math.min(isRenewed ? millis / 3 : millis / 10, yield* left))
    })
    yield* Effect.forkScoped(Effect.ignore(Effect.forever(keep)))

    return { lost, check }
  })

/**
 * Takes the lock of a key. If another holder has the lock, fails with `UploadLeased`, whose `until` is `millis`
 * milliseconds from now.
 */
export const onLocks = (locks: Locks, millis: number): Acquire =>
  Effect.fnUntraced(function* (key) {
    const held = yield* locks.lock(key)
    if (held === undefined) return yield* new UploadLeased({ key, until: (yield* Clock.currentTimeMillis) + millis })
    const { check, lose, lost } = losing(key)
    yield* Effect.forkScoped(Effect.ignore(Effect.flatMap(held.lost, lose)))
    return { lost, check }
  })
