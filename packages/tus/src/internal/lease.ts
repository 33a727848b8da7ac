/**
 * Leases: one holder at a time works on an upload, and renews its lease meanwhile. Every change of a lease is a
 * compare-and-set, so that a holder detects when another holder has taken its lease.
 */
import * as Json from "@assembly-effect/schema/Json"
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

/** The time when a lease expires, in milliseconds since 1970. Returns 0 for a text that is not a valid lease. */
export const until = (text: string): number =>
  Option.match(decode(text), { onNone: () => 0, onSome: (lease) => lease.until })

/** The lease of one owner, as a text in the store, and the changes of this lease. */
const makeOwn = (leases: Leases, key: Key) =>
  Effect.gen(function* () {
    const owner = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4()).pipe(
      Effect.provide(SecureRandom.layerWebCrypto)
    )
    /**
     * The texts of this owner that the store may contain, newest first. A write that failed may still have changed the
     * store.
     */
    let ours: ReadonlyArray<string> = []
    let end = 0

    /**
     * If the stored text is one of `candidates`, replaces it. The candidate `undefined` means that no text is stored.
     * Returns whether the new text was written.
     */
    const replace = (candidates: ReadonlyArray<string | undefined>, newEnd: number) =>
      Effect.gen(function* () {
        const text = encode({ owner, until: newEnd })
        ours = [text, ...ours]
        for (const expected of candidates) {
          if (!(yield* leases.swap(key, expected, text))) continue
          ours = [text]
          end = newEnd
          return true
        }
        return false
      })

    return {
      until: () => end,
      claim: (existing: string | undefined, newEnd: number) =>
        Effect.tap(replace([existing], newEnd), (isTaken) =>
          Effect.sync(() => {
            if (!isTaken) ours = []
          })
        ),
      extend: (newEnd: number) => Effect.suspend(() => replace(ours, newEnd)),
      /** Changes the lease so that it expires now. */
      release: Effect.suspend(() =>
        ours.length === 0 ? Effect.succeed(false) : Effect.flatMap(Clock.currentTimeMillis, (now) => replace(ours, now))
      )
    }
  })

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
      const own = yield* makeOwn(leases, key)
      const scope = yield* Effect.scope
      // The finalizer is added before the claim, because an interrupted claim may still have written the lease.
      yield* Effect.addFinalizer(() =>
        own.release.pipe(Effect.interruptible, Effect.timeoutOption(Math.min(millis, longestRelease)), Effect.ignore)
      )

      const now = yield* Clock.currentTimeMillis
      const existing = yield* leases.get(key)
      if (existing !== undefined && until(existing) > now) {
        return yield* new UploadLeased({ key, until: until(existing) })
      }
      if (!(yield* own.claim(existing, now + millis))) {
        const winner = yield* leases.get(key)
        return yield* new UploadLeased({ key, until: winner === undefined ? now : until(winner) })
      }

      const loss = yield* Deferred.make<never, LeaseLost>()
      const lose = (description: string) =>
        Effect.flatMap(Deferred.fail(loss, new LeaseLost({ key, description: description })), () =>
          Deferred.await(loss)
        )

      /** A holder that cannot renew its lease stops its work this number of milliseconds before the lease expires. */
      const margin = millis / 10
      const left = Effect.map(Clock.currentTimeMillis, (time) => own.until() - margin - time)

      /** Returns whether the lease was renewed. An expired lease is renewed too, if nobody else has taken it. */
      const renew = Effect.gen(function* () {
        const time = yield* left
        const start = yield* Clock.currentTimeMillis
        // The change runs to its end in the scope of the lease, even if its result comes too late.
        const changing = yield* Effect.forkIn(own.extend(start + millis), scope)
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
      yield* Effect.mapError(check, () => new UploadLeased({ key, until: own.until() }))

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
