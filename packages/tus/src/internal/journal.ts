/**
 * The service `UploadJournal`, and the types that its modules share.
 */
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type * as Brand from "effect/Brand"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { UploadError } from "../TusError.ts"
import type { UploadResult } from "../UploadEvent.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import type * as JournalEntry from "./journalEntry.ts"
import type { JournalFailed, JournalTorn, LeaseLost, NoSuchUpload, UploadLeased } from "./journalError.ts"
import type { Given, ResumeOptions } from "./options.ts"

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
export type AssemblyEntry = JournalEntry.AssemblyEntry

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
 * A store of entries as texts, with the leases or locks of their keys. `get`, `remove` and `keys` are those of the
 * entries. `make` makes a journal on a store.
 *
 * @since 0.1.0
 * @category models
 */
export interface Store extends Pick<Leases, "get" | "remove" | "keys"> {
  readonly set: (key: Key, text: string) => Effect.Effect<void, JournalFailed>
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
 * Starts and continues the uploads of a journal. It is a function of the journal, so that a bundle without a journal does
 * not contain its code. `origins` are further permitted origins of the URLs of an upload.
 *
 * @since 0.1.0
 * @category models
 */
export type Engine = (journal: UploadJournal["Service"]) => {
  readonly run: (given: Given) => Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient>
  readonly resume: (
    kept: { readonly key: string; readonly origins?: ReadonlyArray<string> | undefined },
    given: Omit<Given<ResumeOptions>, "target">
  ) => Effect.Effect<UploadResult, UploadError | NoSuchUpload, HttpClient.HttpClient>
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
    readonly engine: Engine
    readonly assemblies: Entries<AssemblyEntry>
    readonly lease: (key: string) => Effect.Effect<Lease, JournalFailed | UploadLeased | InvalidRequest, Scope.Scope>
  }
>()("@assembly-effect/tus/UploadJournal") {}

/**
 * A store uses a key as a file name or as part of its own keys, so one rule applies to every store. The rule excludes
 * separators and dots. The rule also excludes upper-case letters, because some file systems ignore case. If a store
 * keeps its leases beside its entries, the name of a lease contains a dot or a hyphen, so a key never looks like the
 * name of a lease.
 */
const rule = "Expected 1 to 64 characters of a-z and 0-9"

/** Whether a text is a valid key. A store may contain other names. */
export const isKey = (text: string): text is Key => /^[a-z0-9]{1,64}$/.test(text)

/** Validates the key of a caller. */
export const validKey = (text: string): Effect.Effect<Key, InvalidRequest> =>
  isKey(text)
    ? Effect.succeed(text)
    : Effect.fail(new InvalidRequest({ operation: "UploadJournal", issues: [{ path: ["key"], message: rule }] }))

/**
 * The SHA-256 of JSON values, in hexadecimal, such as the values that identify an upload or a job.
 *
 * @since 0.1.0
 * @category hashing
 */
export const digestOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Digests.sha256(JSON.stringify(parts))

/**
 * The key of an upload: a digest of the URL of the Assembly, the identity and size of the bytes, the `filename`, the
 * `fieldname` and `file`. `file` is the index of the file in a job. Because of this index, two files with the same
 * bytes and names have different keys.
 *
 * @since 0.1.0
 * @category constructors
 */
export const keyOf = (
  target: UploadTarget,
  upload: {
    readonly identity: string | undefined
    readonly size: bigint
    readonly filename: string
    readonly fieldname: string
    readonly file?: number | undefined
  }
): Effect.Effect<string> =>
  digestOf([
    Redacted.value(target.assemblySslUrl),
    upload.identity ?? null,
    String(upload.size),
    upload.filename,
    upload.fieldname,
    ...(upload.file === undefined ? [] : [upload.file])
  ])

/**
 * The prefix of the keys of jobs. The key of an upload never has this prefix, because that key is a hexadecimal digest.
 */
const assemblyPrefix = "job"
export const isAssemblyKey = (key: string): boolean => key.startsWith(assemblyPrefix)

/**
 * The key of a job: `job` and a shortened digest of `parts`. `parts` identify the service, the params of the job and
 * its files.
 *
 * @since 0.1.0
 * @category constructors
 */
export const assemblyKeyOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Effect.map(digestOf(parts), (digest) => (assemblyPrefix + digest).slice(0, 64))
