/**
 * The service `UploadJournal`, and the types that its modules share.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type * as Brand from "effect/Brand"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { UploadError } from "../TusError.ts"
import type { UploadResult } from "../UploadEvent.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import type * as AssemblyEntryAtRest from "./assemblyEntry.ts"
import type { Emit } from "./events.ts"
import type * as JournalEntry from "./journalEntry.ts"
import type { JournalFailed, JournalTorn, LeaseLost, NoSuchUpload, UploadLeased } from "./journalError.ts"
import type { SharedOptions, UploadOptions } from "./options.ts"
import type { Replayable } from "./source.ts"

/**
 * The entry of one upload. The upload URLs in an entry are plain text; `UploadTarget.urlAtRest` checks a URL and
 * converts it to an `UploadUrl`.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry = JournalEntry.Entry

/**
 * The entry of an Assembly whose files are uploaded by `AssemblyUpload`.
 *
 * @since 0.1.0
 * @category models
 */
export type AssemblyEntry = AssemblyEntryAtRest.AssemblyEntry

/**
 * A valid key: 1 to 64 characters of a-z and 0-9.
 *
 * @since 0.1.0
 * @category models
 */
export type Key = string & Brand.Brand<"JournalKey">

/**
 * A lease of an upload or a job. While one process or fiber holds the lease, no other one runs the upload or the job.
 * The lease is held until its scope closes or the lease is lost.
 *
 * @since 0.1.0
 * @category models
 */
export interface Lease {
  /** Fails when the lease is lost, and never ends otherwise. */
  readonly lost: Effect.Effect<never, LeaseLost>
  /** Fails unless the lease is held now. An expired or almost expired lease is renewed, if nobody has taken it. */
  readonly check: Effect.Effect<void, LeaseLost>
}

/**
 * The leases of a store, as texts. `swap` is a compare-and-set: if the stored text is `expected` (undefined for no
 * text), `swap` replaces it with `text`. `swap` returns whether the text was replaced. The comparison and the
 * replacement are atomic if the store permits it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Leases {
  readonly get: (key: Key) => Effect.Effect<string | undefined, JournalFailed>
  readonly swap: (key: Key, expected: string | undefined, text: string) => Effect.Effect<boolean, JournalFailed>
  readonly remove: (key: Key) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
}

/**
 * The locks of a platform that releases a lock when its holder ends, such as Web Locks. A store with such locks needs
 * no leases. `lock` holds the lock of a key until the scope in its context closes, or returns undefined if another
 * holder has the lock. `lost` completes with the reason when the lock is lost, and never otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export interface Locks {
  readonly lock: (
    key: Key
  ) => Effect.Effect<{ readonly lost: Effect.Effect<string> } | undefined, JournalFailed, Scope.Scope>
}

/**
 * A store of entries as texts, with the leases or locks of their keys. `make` makes a journal on a store.
 *
 * @since 0.1.0
 * @category models
 */
export interface Store {
  readonly get: (key: Key) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: Key, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: Key) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  readonly leases: Leases | Locks
}

/**
 * The entries of one kind: uploads, or Assemblies. `get` and `list` omit expired entries, and `list` also omits
 * unreadable entries. `forget` removes an entry even if it is unreadable.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entries<A> {
  readonly get: (key: string) => Effect.Effect<Option.Option<A>, JournalFailed | JournalTorn | InvalidRequest>
  readonly put: (key: string, entry: A) => Effect.Effect<void, JournalFailed | InvalidRequest>
  readonly forget: (key: string) => Effect.Effect<void, JournalFailed | InvalidRequest>
  readonly list: Effect.Effect<ReadonlyArray<{ readonly key: string; readonly entry: A }>, JournalFailed>
}

/**
 * `file` is the index of the file in its job, which distinguishes two files with the same bytes and names.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunOptions extends UploadOptions {
  readonly restart?: boolean | undefined
  readonly file?: number | undefined
}

/**
 * The upload with this key in the journal. `origins` are further permitted origins of its URLs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Kept {
  readonly key: string
  readonly origins?: ReadonlyArray<string> | undefined
}

/**
 * Starts and continues the uploads of a journal.
 *
 * @since 0.1.0
 * @category models
 */
export interface JournaledUploads {
  readonly start: (
    journal: UploadJournal["Service"],
    target: UploadTarget,
    source: Replayable,
    options: RunOptions,
    emit: Emit
  ) => Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient | Scope.Scope>
  readonly resume: (
    journal: UploadJournal["Service"],
    kept: Kept,
    source: Replayable,
    options: SharedOptions & { readonly restart?: boolean | undefined },
    emit: Emit
  ) => Effect.Effect<UploadResult, UploadError | NoSuchUpload, HttpClient.HttpClient | Scope.Scope>
}

/**
 * The journal: the entries of uploads, and the entries of Assemblies whose files are uploaded as one job. `lease`
 * acquires the lease of an upload or a job, and holds this lease until the scope in the context closes.
 *
 * An invalid key fails with `InvalidRequest` before the store is used. A valid key has 1 to 64 characters of a-z and
 * 0-9. `list` skips names in the store that are not valid keys.
 *
 * @since 0.1.0
 * @category services
 */
export class UploadJournal extends Context.Service<
  UploadJournal,
  Entries<Entry> & {
    /** Runs the uploads of `Upload.layerJournaled`. So a bundle without a journal does not contain this code. */
    readonly engine: JournaledUploads
    readonly assemblies: Entries<AssemblyEntry>
    readonly lease: (key: string) => Effect.Effect<Lease, JournalFailed | UploadLeased | InvalidRequest, Scope.Scope>
  }
>()("@assembly-effect/tus/UploadJournal") {}
