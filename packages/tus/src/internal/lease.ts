/**
 * Leases: one holder at a time works on an upload, and renews its lease meanwhile. Every change of a lease is a
 * compare-and-set, so that a holder detects when another holder has taken its lease.
 */
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type JournalFailed, LeaseLost, UploadLeased } from "./journalError.ts"
import type { Key, Lease, Leases, Locks } from "./journal.ts"

const AtRest = Json.fromString(
  Schema.Struct({
    owner: Schema.String,
    /** The time of the expiry, in milliseconds since 1970. */
    until: Schema.Finite
  })
)
const decode = Schema.decodeOption(AtRest)
const encode = Schema.encodeSync(AtRest)

const read = (text: string | undefined) => (text === undefined ? undefined : Option.getOrUndefined(decode(text)))

/** The time when a lease expires, in milliseconds since 1970. Returns 0 if there is no valid lease. */
export const until = (text: string | undefined): number => read(text)?.until ?? 0

/** The maximum wait for the store when a lease is released, in milliseconds. */
const longestRelease = 1000

/** Acquires the lease of a key. */
export const make =
  (
    leases: Leases,
    { millis }: { readonly millis: number }
  ): ((key: Key) => Effect.Effect<Lease, JournalFailed | UploadLeased, Scope.Scope>) =>
  (key) =>
    Effect.gen(function* () {
      const owner = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4()).pipe(
        Effect.provide(SecureRandom.layerWebCrypto)
      )
      const scope = yield* Effect.scope
      let end = 0

      /** Replaces the stored text by a lease until `newEnd`. Returns false if another holder has changed the text. */
      const write = (existing: string | undefined, newEnd: number) =>
        Effect.map(leases.swap(key, existing, encode({ owner, until: newEnd })), (isWritten) => {
          if (isWritten) end = newEnd
          return isWritten
        })

      /** Changes the end of the lease. A write that failed may have changed the store, so the stored text decides. */
      const extend = (newEnd: number) =>
        Effect.flatMap(leases.get(key), (text) =>
          read(text)?.owner === owner ? write(text, newEnd) : Effect.succeed(false)
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

      const loss = yield* Deferred.make<never, LeaseLost>()
      const lose = (description: string) =>
        Effect.flatMap(Deferred.fail(loss, new LeaseLost({ key, description: description })), () =>
          Deferred.await(loss)
        )

      /** A holder that cannot renew its lease stops its work this number of milliseconds before the lease expires. */
      const margin = millis / 10
      const left = Effect.map(Clock.currentTimeMillis, (time) => end - margin - time)

      /** Returns whether the lease was renewed. An expired lease is renewed too, if nobody else has taken it. */
      const renew = Effect.gen(function* () {
        const time = yield* left
        const start = yield* Clock.currentTimeMillis
        // The change runs to its end in the scope of the lease, even if its result comes too late.
        const changing = yield* Effect.forkIn(extend(start + millis), scope)
        const isOurs = yield* Fiber.join(changing).pipe(
          Effect.timeoutOrElse({
            duration: Duration.millis(time > 0 ? time : millis / 3),
            orElse: () => lose("the lease expired before the store responded to the renewal")
          })
        )
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
        if (yield* Deferred.isDone(loss)) return yield* Deferred.await(loss)
        if ((yield* left) <= 0) yield* renew
      }).pipe(renewing.withPermits(1))

      // If the claim was slow, the lease may have expired before the store responded.
      yield* Effect.mapError(check, () => new UploadLeased({ key, until: end }))

      let pause = millis / 3
      const keep = Effect.gen(function* () {
        yield* Effect.sleep(Duration.millis(pause))
        const isRenewed = yield* renewing.withPermits(1)(renew)
        pause = Math.max(1, Math.min(isRenewed ? millis / 3 : millis / 10, yield* left))
      })
      yield* Effect.forkScoped(Effect.ignore(Effect.forever(keep)))

      return { lost: Deferred.await(loss), check }
    })

/**
 * Takes the lock of a key. If another holder has the lock, fails with `UploadLeased`, whose `until` is `millis`
 * milliseconds from now.
 */
export const onLocks =
  (
    locks: Locks,
    { millis }: { readonly millis: number }
  ): ((key: Key) => Effect.Effect<Lease, JournalFailed | UploadLeased, Scope.Scope>) =>
  (key) =>
    Effect.gen(function* () {
      const held = yield* locks.lock(key)
      if (held === undefined) {
        return yield* new UploadLeased({ key, until: (yield* Clock.currentTimeMillis) + millis })
      }
      const loss = yield* Deferred.make<never, LeaseLost>()
      yield* Effect.forkScoped(
        Effect.flatMap(held.lost, (description) =>
          Deferred.fail(loss, new LeaseLost({ key, description: description }))
        )
      )
      const lost = Deferred.await(loss)
      return { lost, check: Effect.suspend(() => (Deferred.isDoneUnsafe(loss) ? lost : Effect.void)) }
    })
