/**
 * The journal of the uploads of one attempt. The entry of the Assembly is in the row of the job, and the entries of the
 * uploads are in a table of their own. All entries are sealed.
 */
import type * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { type InvalidSecret, StoreFailed } from "../DurableError.ts"
import type { Claim, Claims } from "./claims.ts"
import type { Row } from "./row.ts"
import type { Secrets } from "./secrets.ts"

/** An attempt may wait for years. */
const forever = { expiry: "36500 days", completedExpiry: "Infinity" } as const

/** `UploadJournal` stores the entry of an Assembly under a key with this prefix. */
const isOfAssembly = (key: string): boolean => key.startsWith("job")

/** The id in an entry of an Assembly. */
const idOf = (entry: string) => Effect.map(Effect.orDie(Hosting.decodeAssembly(entry)), ({ assemblyId }) => assemblyId)

/** The id of the Assembly of an attempt, or None if no Assembly was announced. */
export const assemblyId = (
  secrets: Secrets,
  row: Row
): Effect.Effect<Option.Option<Assembly.AssemblyId>, InvalidSecret | StoreFailed> =>
  row.assembly === undefined ? Effect.succeedNone : Effect.asSome(Effect.flatMap(secrets.open(row, row.assembly), idOf))

/**
 * A journal, and what went wrong with its database.
 *
 * - `problem`: the last failure of the database. The error of the upload does not have its key and its path.
 * - `isLost`: whether another runner has taken the attempt over, or it shall be canceled.
 */
export interface Journal {
  readonly service: UploadJournal.UploadJournal["Service"]
  readonly waits: Budget.Listener["waits"]
  readonly problem: () => StoreFailed | InvalidSecret | undefined
  readonly isLost: () => boolean
}

/**
 * Makes the journal of an attempt. No lease is needed, because the runner has claimed the attempt: each write names the
 * runner, and fails if the attempt belongs to another one.
 */
export const make = (
  claims: Claims,
  secrets: Secrets,
  row: Row,
  claim: Claim
): Effect.Effect<Journal, InvalidRequest> =>
  Effect.gen(function* () {
    let assembly = row.assembly
    let problem: StoreFailed | InvalidSecret | undefined
    let isLost = false
    let isWaiting = row.waiting !== undefined
    /** An attempt no longer waits when its uploads begin, because the service has answered by then. */
    const answered = Effect.suspend(() => {
      if (!isWaiting) return Effect.void
      isWaiting = false
      return Effect.ignore(claims.explain(claim, undefined))
    })

    /** An attempt waits for the budget of the account. */
    const waits: Budget.Listener["waits"] = ({ reason }) =>
      Effect.suspend(() => {
        isWaiting = true
        return Effect.ignore(claims.explain(claim, { reason: "RateLimited", message: reason }))
      })

    const failing =
      (action: UploadJournal.JournalFailed["action"]) =>
      <A>(access: Effect.Effect<A, StoreFailed | InvalidSecret>) =>
        Effect.mapError(access, (error) => {
          problem = error
          return new UploadJournal.JournalFailed({ action, description: error.message })
        })

    /** A write that changed nothing means that the attempt belongs to another runner, or shall be canceled. */
    const owned = Effect.flatMap((isOwn: boolean) => {
      if (isOwn) return Effect.void
      isLost = true
      return new StoreFailed({ operation: "announce", description: "another runner has the job" })
    })

    const setAssembly = (text: string) =>
      Effect.gen(function* () {
        const sealed = yield* secrets.seal(row, text)
        const lookups = yield* secrets.lookups(yield* idOf(text))
        const lookup = lookups[secrets.fingerprints.indexOf(row.secret ?? "")] ?? ""
        yield* owned(claims.setAssembly(claim, sealed, lookup))
        assembly = sealed
      })

    const service = yield* UploadJournal.make(
      {
        get: (key) =>
          (isOfAssembly(key)
            ? Effect.sync(() => assembly)
            : Effect.andThen(answered, claims.getUpload(claim, key))
          ).pipe(
            Effect.flatMap((sealed) => (sealed === undefined ? Effect.undefined : secrets.open(row, sealed))),
            failing("read")
          ),
        set: (key, text) =>
          (isOfAssembly(key)
            ? setAssembly(text)
            : Effect.flatMap(secrets.seal(row, text), (sealed) => owned(claims.setUpload(claim, key, sealed)))
          ).pipe(failing("write")),
        // The entry of an Assembly is kept: with the id, the next attempt can make sure that the Assembly has ended.
        remove: (key) => (isOfAssembly(key) ? Effect.void : claims.removeUpload(claim, key).pipe(failing("remove"))),
        // Nothing expires, so nothing is listed.
        keys: Effect.succeed([]),
        leases: { lock: () => Effect.succeed({ lost: Effect.never }) }
      },
      forever
    )
    return { service, waits, problem: () => problem, isLost: () => isLost }
  })
