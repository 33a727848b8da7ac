/**
 * What the database has of the Assembly and the uploads of one attempt. The entry of the Assembly is in the row of the
 * job, and the entries of the uploads are in a table of their own. All entries are sealed.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { isNotFound } from "@assembly-effect/api/unstable/ErrorDetails"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import { Data, Effect, Schedule } from "effect"
import type { InvalidSecret, StoreFailed } from "../DurableError.ts"
import type * as DurableJob from "../DurableJob.ts"
import type { Jobs } from "./jobs.ts"
import { isPack, type Row } from "./row.ts"
import type { Secrets } from "./secrets.ts"

/** The attempt belongs to another runner now, or it shall be canceled. */
export class Superseded extends Data.TaggedError("Superseded") {
  override readonly message = "another runner has the job"
}

/** `UploadJournal` stores the entry of an Assembly under a key with this prefix. */
const isOfAssembly = (key: string): boolean => key.startsWith("job")

const decode = (entry: string) => Effect.orDie(Hosting.decodeAssembly(entry))

/** The entry of the Assembly of an attempt, or undefined if no Assembly was announced. */
export const assembly = Effect.fnUntraced(function* (secrets: Secrets, row: Row) {
  return row.assembly === undefined ? undefined : yield* decode(yield* secrets.open(row, row.assembly))
})

/** The id of the Assembly of an attempt, or undefined if no Assembly was announced or its entry cannot be read. */
export const readableId = (secrets: Secrets, row: Row): Effect.Effect<Assembly.AssemblyId | undefined> =>
  assembly(secrets, row).pipe(
    Effect.map((entry) => entry?.assemblyId),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * Cancels an Assembly, and returns whether the Assembly had completed before. If the service has no such Assembly, the
 * request is repeated twice, because the request that creates the Assembly may still arrive. If the Assembly is then
 * still missing, nothing has to be canceled.
 */
const cancelAssembly = (id: Assembly.AssemblyId) =>
  Assemblies.cancel(id).pipe(
    Effect.map((status) => Assembly.state(status) === "Completed"),
    Effect.retry({ while: isNotFound, schedule: Schedule.exponential("200 millis"), times: 2 }),
    Effect.catchIf(isNotFound, () => Effect.succeed(false))
  )

/** The errors of a cancellation. After such an error, the Assembly may still run. */
type CancelError = InvalidSecret | StoreFailed | Effect.Error<ReturnType<typeof Assemblies.cancel>>

/**
 * Cancels the Assembly of an attempt, and returns whether the Assembly had completed before. Succeeds only if no
 * Assembly was announced, or if the service has confirmed that the Assembly does not run. The request is repeated up to
 * four times.
 */
export const cancel = (secrets: Secrets, row: Row): Effect.Effect<boolean, CancelError, AssemblyClient> =>
  Effect.flatMap(assembly(secrets, row), (entry) =>
    entry === undefined
      ? Effect.succeed(false)
      : Effect.retry(cancelAssembly(entry.assemblyId), { schedule: Schedule.exponential("200 millis"), times: 4 })
  )

/**
 * Makes the journal of an attempt for its uploads. No lease is needed, because the runner has claimed the attempt: each
 * write names the runner, and fails if the attempt belongs to another one.
 *
 * - `waits`: records that the attempt waits for the budget of the account.
 * - `problem`: why the last access failed. The error of the upload does not have the key and the path of its database.
 * - `uploads`: the ids of the completed uploads of a pack, in the order of its files.
 */
export const make = Effect.fnUntraced(function* (jobs: Jobs, secrets: Secrets, row: Row) {
  let sealedAssembly = row.assembly
  let problem: StoreFailed | InvalidSecret | Superseded | undefined
  let isWaiting = row.waiting !== undefined

  const explain = (failure?: DurableJob.Failure) =>
    Effect.suspend(() => {
      isWaiting = failure !== undefined
      return Effect.ignore(jobs.explain(row, failure))
    })
  /** An attempt no longer waits when its uploads begin, because the service has answered by then. */
  const answered = Effect.suspend(() => (isWaiting ? explain() : Effect.void))

  const failing =
    (action: UploadJournal.JournalFailed["action"]) =>
    <A>(access: Effect.Effect<A, NonNullable<typeof problem>>) =>
      Effect.mapError(access, (error) => {
        problem = error
        return new UploadJournal.JournalFailed({ action, description: error.message })
      })

  /** A write that changed nothing means that the attempt belongs to another runner, or shall be canceled. */
  const owned = Effect.flatMap((isOwn: boolean) => (isOwn ? Effect.void : new Superseded()))

  const open = (sealed: string | undefined) => (sealed === undefined ? Effect.undefined : secrets.open(row, sealed))

  const ofAssembly = {
    get: () => Effect.suspend(() => open(sealedAssembly)),
    set: (_: string, text: string) =>
      Effect.gen(function* () {
        const sealed = yield* secrets.seal(row, text)
        const lookups = yield* secrets.lookups((yield* decode(text)).assemblyId)
        const lookup = lookups[secrets.fingerprints.indexOf(row.secret ?? "")] ?? ""
        yield* owned(jobs.setAssembly(row, sealed, lookup))
        sealedAssembly = sealed
      }),
    // The entry is kept: with the id, the next attempt can make sure that the Assembly has ended.
    remove: () => Effect.void
  }
  const ofUpload = {
    get: (key: string) => Effect.flatMap(jobs.getUpload(row, key), open),
    set: (key: string, text: string) =>
      Effect.flatMap(secrets.seal(row, text), (sealed) => owned(jobs.setUpload(row, key, sealed))),
    remove: (key: string) => jobs.removeUpload(row, key)
  }
  const texts = new Map<string, string>()
  /** A pack is sent again as a whole, so the entries of its uploads are not stored. */
  const inPack = {
    get: (key: string) => Effect.sync(() => texts.get(key)),
    set: (key: string, text: string) => Effect.sync(() => void texts.set(key, text)),
    remove: (key: string) => Effect.sync(() => void texts.delete(key))
  }
  const ofFile = isPack(row) ? inPack : ofUpload
  const of = (key: string) => (isOfAssembly(key) ? ofAssembly : ofFile)

  const service = yield* UploadJournal.make(
    {
      get: (key) => Effect.andThen(isOfAssembly(key) ? Effect.void : answered, of(key).get(key)).pipe(failing("read")),
      set: (key, text) => of(key).set(key, text).pipe(failing("write")),
      remove: (key) => of(key).remove(key).pipe(failing("remove")),
      // Nothing expires, so nothing is listed.
      keys: Effect.succeed([]),
      leases: { lock: () => Effect.succeed({ lost: Effect.never }) }
    },
    // An attempt may wait for years.
    { expiry: "36500 days", completedExpiry: "Infinity" }
  )
  const waits: Budget.Listener["waits"] = ({ reason }) => explain({ reason: "RateLimited", message: reason })
  const uploads = Effect.forEach(texts.values(), Hosting.decodeUpload).pipe(
    Effect.orDie,
    Effect.map((entries) =>
      entries.toSorted((a, b) => (a.file ?? 0) - (b.file ?? 0)).flatMap(({ id }) => (id === undefined ? [] : [id]))
    )
  )
  return { service, waits, problem: () => problem, uploads: Effect.suspend(() => uploads) }
})

export type Journal = Effect.Success<ReturnType<typeof make>>
