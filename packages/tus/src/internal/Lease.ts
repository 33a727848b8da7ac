/**
 * Who is at work on an upload: one process at a time, which renews its lease while it lives.
 */
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { JournalFailed, Store, UploadLeased } from "../UploadJournal.ts"

const Lease = Schema.fromJsonString(Schema.Struct({ owner: Schema.String, until: Schema.Finite }))
const decodeLease = Schema.decodeOption(Lease)
const encodeLease = Schema.encodeSync(Lease)

const prefix = "lease-"
const leaseKey = (key: string) => prefix + key

/** Whether a key of a store is that of a lease. */
export const isKey = (key: string): boolean => key.startsWith(prefix)

/** Takes a lease that is free or ran out, until the scope ends. */
export const make = (
  store: Store,
  options: { readonly millis: number; readonly leased: (key: string, until: number) => UploadLeased }
): ((key: string) => Effect.Effect<void, JournalFailed | UploadLeased, Scope.Scope>) => {
  const { leased, millis } = options

  const claim = (key: string, owner: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return yield* store.claim(leaseKey(key), encodeLease({ owner, until: now + millis }), (existing) =>
        Option.match(decodeLease(existing), {
          // A torn lease protects nobody.
          onNone: () => true,
          onSome: (lease) => lease.owner === owner || lease.until <= now
        })
      )
    })

  const readLease = (key: string) =>
    Effect.map(store.get(leaseKey(key)), (text) => Option.flatMap(Option.fromUndefinedOr(text), decodeLease))

  const leasedUntil = (key: string) =>
    Effect.map(readLease(key), Option.match({ onNone: () => 0, onSome: ({ until }) => until }))

  /** Only one's own: a lease that ran out may be another's by now. */
  const release = (key: string, owner: string) =>
    Effect.flatMap(readLease(key), (lease) =>
      Option.exists(lease, (held) => held.owner === owner) ? store.remove(leaseKey(key)) : Effect.void
    )

  return (key) =>
    Effect.gen(function* () {
      const owner = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4()).pipe(
        Effect.provide(SecureRandom.layerWebCrypto)
      )
      const isHeld = yield* Effect.acquireRelease(claim(key, owner), (held) =>
        held ? Effect.ignore(release(key, owner)) : Effect.void
      )
      if (!isHeld) return yield* leased(key, yield* leasedUntil(key))
      yield* claim(key, owner).pipe(
        Effect.ignore,
        Effect.repeat(Schedule.spaced(Duration.millis(millis / 3))),
        Effect.delay(Duration.millis(millis / 3)),
        Effect.forkScoped
      )
    })
}
