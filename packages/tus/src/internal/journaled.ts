/**
 * Uploads that a journal stores. Each upload is created once, and continued after a crash.
 */
import type * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TusError from "../TusError.ts"
import type { UploadError } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadResult } from "../UploadEvent.ts"
import type { Entry, JournaledUploads, Kept, Lease, RunOptions, UploadJournal } from "./journal.ts"
import type * as UploadTarget from "../UploadTarget.ts"
import * as Context from "./context.ts"
import * as Engine from "./engine.ts"
import type { Emit } from "./events.ts"
import * as Hold from "./hold.ts"
import * as JournalEntry from "./journalEntry.ts"
import * as JournalStore from "./journalStore.ts"
import * as JournalTarget from "./journalTarget.ts"
import { JournalTorn, NoSuchUpload } from "./journalError.ts"
import { keyOf } from "./journalKey.ts"
import * as Removal from "./removal.ts"
import type { Metadata, SharedOptions } from "./options.ts"
import * as Pieces from "./pieces.ts"
import type { Replayable } from "./source.ts"
import type { SourceFailed } from "./sourceFailed.ts"
import * as UploadState from "./uploadState.ts"

/** Identifies the bytes of a source: by its `identity`, or by a digest of the bytes if it has none. */
export const identify = (source: Replayable): Effect.Effect<string, SourceFailed> =>
  Effect.flatMap(source.identity, (identity) =>
    identity === undefined ? Pieces.identityOf(source) : Effect.succeed(identity)
  )

/** An upload of the journal whose lease this process holds, and its source. */
interface Held {
  readonly journal: UploadJournal["Service"]
  readonly lease: Lease
  readonly key: string
  readonly source: Replayable
  readonly identity: string
  readonly file?: number | undefined
}

/** The state of an upload in the journal, after {@link verify} has checked its entry. */
interface Known {
  readonly about: JournalEntry.About
  readonly state: UploadState.UploadState
}

/** Fails if the source differs from the original source of the upload. */
const verifySource = ({ about }: Known, { identity, source }: Held): Effect.Effect<void, TusError.UploadMismatch> => {
  if (about.size !== source.size) {
    const found = `${source.size}`
    return Effect.fail(new TusError.UploadMismatch({ field: "size", expected: `${about.size}`, found }))
  }
  if (about.identity !== identity) {
    const expected = about.identity ?? "none"
    return Effect.fail(new TusError.UploadMismatch({ field: "fingerprint", expected, found: identity }))
  }
  return Effect.void
}

/**
 * Checks an entry, because another program may have written it. The key of the entry must equal the key that
 * `UploadJournal.keyOf` computes from the entry, and the URLs of the entry must have permitted origins (`origins`).
 */
const verify = (
  entry: Entry,
  key: string,
  origins: ServiceOrigins.ServiceOrigins
): Effect.Effect<Known, JournalTorn | UploadTarget.InvalidTarget | UploadTarget.UnsafeLocation> =>
  Effect.gen(function* () {
    const { fieldname, filename } = named(entry.metadata)
    const identity = entry.identity ?? undefined
    const own = yield* keyOf(entry.target, { ...entry, identity, filename, fieldname })
    if (own !== key) {
      return yield* new JournalTorn({ key, description: "the content does not match the key" })
    }
    const target = yield* Effect.fromResult(JournalTarget.within(entry.target, origins))
    const state = yield* Effect.fromResult(JournalEntry.toState(entry, target))
    return { about: { ...entry, target }, state }
  })

const run = (
  { file, identity, journal, key, lease, source }: Held,
  target: UploadTarget.UploadTarget,
  options: RunOptions,
  emit: Emit,
  initial: UploadState.UploadState
) => {
  const about = {
    target,
    metadata: options.metadata,
    size: source.size,
    identity,
    ...(file === undefined ? undefined : { file })
  }
  const store = JournalStore.make({ journal, lease, key, about, initial })
  return Effect.flatMap(Context.make(target, source, options, emit, store), Engine.run)
}

/** Starts a new upload. `earlier` is the upload that the new upload replaces. */
const startAnew = (
  held: Held,
  target: UploadTarget.UploadTarget,
  options: RunOptions,
  emit: Emit,
  earlier: Known | undefined
) =>
  Effect.gen(function* () {
    const { journal, key, lease, source } = held
    if (earlier !== undefined) {
      const { about, state } = earlier
      yield* Removal.remove({ ...about, policy: yield* Context.toPolicy(options) }, state)
      yield* lease.check
      yield* journal.forget(key)
      emit(UploadEvent.Restarted({ reason: `restart was requested; the upload in the journal was ${state._tag}` }))
    }
    return yield* run(held, target, options, emit, UploadState.inParts(source.size, options.parallel ?? 1))
  })

/** Continues an upload. If the upload has ended, returns its result or fails with its error. */
const goOn = (held: Held, known: Known, options: RunOptions, emit: Emit) =>
  Effect.gen(function* () {
    const { about, state } = known
    yield* verifySource(known, held)
    if (state._tag === "Completed" || state._tag === "Untrusted") {
      return yield* Engine.ended({ emit, target: about.target }, state)
    }
    // The upload keeps the metadata of its creation. New values of the caller are ignored.
    return yield* run(held, about.target, { ...options, metadata: named(about.metadata) }, emit, state)
  })

/**
 * Continues the upload of the same bytes for the same Assembly, if the journal has this upload and `restart` is not
 * true. Otherwise starts a new upload.
 */
export const start = (
  journal: UploadJournal["Service"],
  target: UploadTarget.UploadTarget,
  source: Replayable,
  options: RunOptions,
  emit: Emit
): Effect.Effect<UploadResult, UploadError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const identity = yield* identify(source)
    const { fieldname, filename } = options.metadata
    const { file } = options
    const key = yield* keyOf(target, { identity, size: source.size, filename, fieldname, file })
    const lease = yield* Hold.hold(journal, key, emit)
    const held = { journal, lease, key, source, identity, file }
    return yield* Hold.during(
      lease,
      Effect.gen(function* () {
        const found = Option.getOrUndefined(yield* journal.get(key))
        const known = found === undefined ? undefined : yield* verify(found, key, target.origins)
        return known === undefined || options.restart === true
          ? yield* startAnew(held, target, options, emit, known)
          : yield* goOn(held, known, options, emit)
      })
    )
  })

/** Continues an upload of the journal. If `restart` is true, starts a new upload instead. */
const resume = (
  journal: UploadJournal["Service"],
  { key, origins }: Kept,
  source: Replayable,
  options: SharedOptions & { readonly restart?: boolean | undefined },
  emit: Emit
): Effect.Effect<UploadResult, UploadError | NoSuchUpload, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const lease = yield* Hold.hold(journal, key, emit)
    const found = yield* journal.get(key)
    if (Option.isNone(found)) return yield* new NoSuchUpload({ key })
    const known = yield* verify(found.value, key, yield* JournalTarget.deployment(found.value.target, origins))
    const { file, metadata, target } = known.about
    const identity = yield* identify(source)
    const held = { journal, lease, key, source, identity, file }
    const all = { ...options, metadata: named(metadata) }
    return yield* Hold.during(
      lease,
      options.restart === true
        ? // The key belongs to the original bytes, so a source with different bytes is refused.
          Effect.andThen(verifySource(known, held), startAnew(held, target, all, emit, known))
        : goOn(held, known, all, emit)
    )
  })

/** The metadata of an entry. Every entry has both keys, `filename` and `fieldname`. */
const named = (metadata: Entry["metadata"]): Metadata => ({
  ...metadata,
  filename: metadata["filename"] ?? "",
  fieldname: metadata["fieldname"] ?? ""
})

export const engine: JournaledUploads = { start, resume }
