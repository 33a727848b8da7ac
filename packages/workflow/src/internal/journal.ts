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
import * as Option from "effect/Option"
import { type InvalidSecret, StoreFailed } from "../DurableError.ts"
import type { Claim, Claims } from "./claims.ts"
import { isPack, type Row } from "./row.ts"
import type { Secrets } from "./secrets.ts"

/** An attempt may wait for years. */
const forever = { expiry: "36500 days", completedExpiry: "Infinity" } as const

/** `UploadJournal` stores the entry of an Assembly under a key with this prefix. */
const isOfAssembly = (key: string): boolean => key.startsWith("job")

const decode = (entry: string) => Effect.orDie(Hosting.decodeAssembly(entry))

/** The entry of the Assembly of an attempt, or None if no Assembly was announced. */
export const assembly = (secrets: Secrets, row: Row) =>
  row.assembly === undefined
    ? Effect.succeedNone
    : Effect.asSome(Effect.flatMap(secrets.open(row, row.assembly), decode))

/** The id of the Assembly of an attempt, or None if no Assembly was announced. */
export const assemblyId = (
  secrets: Secrets,
  row: Row
): Effect.Effect<Option.Option<Assembly.AssemblyId>, InvalidSecret | StoreFailed> =>
  Effect.map(
    assembly(secrets, row),
    Option.map((entry) => entry.assemblyId)
  )

/** The id of the Assembly of an attempt, or undefined if no Assembly was announced or its entry cannot be read. */
export const readableId = (secrets: Secrets, row: Row): Effect.Effect<Assembly.AssemblyId | undefined> =>
  assemblyId(secrets, row).pipe(
    Effect.map(Option.getOrUndefined),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * A journal, and what went wrong with its database.
 *
 * - `problem`: the last failure of the database. The error of the upload does not have its key and its path.
 * - `isLost`: whether another runner has taken the attempt over, or it shall be canceled.
 * - `uploads`: the ids of the completed uploads of a pack, in the order of its files.
 */
export interface Journal {
  readonly service: UploadJournal.UploadJournal["Service"]
  readonly waits: Budget.Listener["waits"]
  readonly problem: () => StoreFailed | InvalidSecret | undefined
  readonly isLost: () => boolean
  readonly uploads: Effect.Effect<ReadonlyArray<string>>
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
    let sealedAssembly = row.assembly
    let problem: StoreFailed | InvalidSecret | undefined
    let isLost = false
    // A pack is sent again as a whole, so the entries of its uploads are not stored.
    const ofPack = isPack(row) ? new Map<string, string>() : undefined
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

    const getUpload = (key: string) =>
      ofPack === undefined
        ? Effect.flatMap(Effect.andThen(answered, claims.getUpload(claim, key)), (sealed) =>
            sealed === undefined ? Effect.undefined : secrets.open(row, sealed)
          )
        : Effect.as(answered, ofPack.get(key))

    const setUpload = (key: string, text: string) =>
      ofPack === undefined
        ? Effect.flatMap(secrets.seal(row, text), (sealed) => owned(claims.setUpload(claim, key, sealed)))
        : Effect.sync(() => void ofPack.set(key, text))

    const setAssembly = (text: string) =>
      Effect.gen(function* () {
        const sealed = yield* secrets.seal(row, text)
        const lookups = yield* secrets.lookups((yield* decode(text)).assemblyId)
        const lookup = lookups[secrets.fingerprints.indexOf(row.secret ?? "")] ?? ""
        yield* owned(claims.setAssembly(claim, sealed, lookup))
        sealedAssembly = sealed
      })

    const service = yield* UploadJournal.make(
      {
        get: (key) =>
          (isOfAssembly(key)
            ? Effect.suspend(() =>
                sealedAssembly === undefined ? Effect.undefined : secrets.open(row, sealedAssembly)
              )
            : getUpload(key)
          ).pipe(failing("read")),
        set: (key, text) => (isOfAssembly(key) ? setAssembly(text) : setUpload(key, text)).pipe(failing("write")),
        // The entry of an Assembly is kept: with the id, the next attempt can make sure that the Assembly has ended.
        remove: (key) => (isOfAssembly(key) ? Effect.void : claims.removeUpload(claim, key).pipe(failing("remove"))),
        // Nothing expires, so nothing is listed.
        keys: Effect.succeed([]),
        leases: { lock: () => Effect.succeed({ lost: Effect.never }) }
      },
      forever
    )
    const uploads = Effect.suspend(() => Effect.forEach(ofPack?.values() ?? [], Hosting.decodeUpload)).pipe(
      Effect.orDie,
      Effect.map((entries) =>
        entries.toSorted((a, b) => (a.file ?? 0) - (b.file ?? 0)).flatMap(({ id }) => (id === undefined ? [] : [id]))
      )
    )
    return { service, waits, problem: () => problem, isLost: () => isLost, uploads }
  })
