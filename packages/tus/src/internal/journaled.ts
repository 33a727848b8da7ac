/**
 * Uploads that a journal stores. Each upload is created once, and continued after a crash.
 */
import type * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { Entry, JournaledUploads, Lease, UploadJournal } from "./journal.ts"
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

/** An upload of the journal whose lease this process holds, with its source and its options. */
interface Held {
  readonly journal: UploadJournal["Service"]
  readonly lease: Lease
  readonly key: string
  readonly source: Replayable
  readonly options: SharedOptions & { readonly restart?: boolean | undefined }
  readonly emit: Emit
}

/** The state of an upload in the journal, after {@link verify} has checked its entry. */
interface Known {
  readonly about: JournalEntry.About
  readonly state: UploadState.UploadState
}

const differs = (field: TusError.UploadMismatch["field"], expected: string, found: string) =>
  Effect.fail(new TusError.UploadMismatch({ field, expected, found }))

/** Fails if the source (`given`) differs from the original source of the upload. */
const verifySource = (original: JournalEntry.About, given: JournalEntry.About) => {
  if (original.size !== given.size) return differs("size", `${original.size}`, `${given.size}`)
  if (original.identity !== given.identity)
    return differs("fingerprint", original.identity ?? "none", given.identity ?? "none")
  return Effect.void
}

const keyFrom = ({ file, identity, metadata, size, target }: JournalEntry.About) => {
  const { fieldname, filename } = named(metadata)
  return keyOf(target, { identity: identity ?? undefined, size, filename, fieldname, file })
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
    if ((yield* keyFrom(entry)) !== key) {
      return yield* new JournalTorn({ key, description: "the content does not match the key" })
    }
    const target = yield* Effect.fromResult(JournalTarget.within(entry.target, origins))
    const state = yield* Effect.fromResult(JournalEntry.toState(entry, target))
    return { about: { ...entry, target }, state }
  })

/** The metadata of an entry. Every entry has both keys, `filename` and `fieldname`. */
const named = (metadata: Entry["metadata"]): Metadata => ({
  ...metadata,
  filename: metadata["filename"] ?? "",
  fieldname: metadata["fieldname"] ?? ""
})

/** Runs an upload. The upload keeps the metadata of its creation. */
const run = ({ emit, options, source, ...held }: Held, about: JournalEntry.About, initial: UploadState.UploadState) => {
  const store = JournalStore.make({ ...held, about, initial })
  const all = { ...options, metadata: named(about.metadata) }
  return Effect.flatMap(Context.make(about.target, source, all, emit, store), Engine.run)
}

/** Removes an upload, which a new upload replaces. */
const discard = ({ emit, journal, key, lease, options }: Held, { about, state }: Known) =>
  Effect.gen(function* () {
    yield* Removal.remove({ ...about, policy: yield* Context.toPolicy(options) }, state)
    yield* lease.check
    yield* journal.forget(key)
    emit(UploadEvent.Restarted({ reason: `restart was requested; the upload in the journal was ${state._tag}` }))
  })

/**
 * Continues the upload in the journal (`known`), if the journal has it and `restart` is not true. If the upload has
 * ended, returns its result or fails with its error. Otherwise starts a new upload of the source (`given`).
 */
const proceed = (held: Held, given: JournalEntry.About, known: Known | undefined) =>
  Hold.during(
    held.lease,
    Effect.gen(function* () {
      if (known !== undefined) {
        const { about, state } = known
        yield* verifySource(about, given)
        if (held.options.restart !== true) {
          return yield* state._tag === "Completed" || state._tag === "Untrusted"
            ? Engine.ended({ emit: held.emit, target: about.target }, state)
            : run(held, about, state)
        }
        yield* discard(held, known)
      }
      return yield* run(held, given, UploadState.inParts(given.size, held.options.parallel ?? 1))
    })
  )

/**
 * Continues the upload of the same bytes for the same Assembly, if the journal has this upload and `restart` is not
 * true. Otherwise starts a new upload.
 */
export const start: JournaledUploads["start"] = (journal, target, source, options, emit) =>
  Effect.gen(function* () {
    const { file, metadata } = options
    const identity = yield* identify(source)
    const given = { target, metadata, size: source.size, identity, ...(file === undefined ? undefined : { file }) }
    const key = yield* keyFrom(given)
    const lease = yield* Hold.hold(journal, key, emit)
    const found = Option.getOrUndefined(yield* journal.get(key))
    const known = found === undefined ? undefined : yield* verify(found, key, target.origins)
    return yield* proceed({ journal, lease, key, source, options, emit }, given, known)
  })

/** Continues an upload of the journal. If `restart` is true, starts a new upload instead. */
const resume: JournaledUploads["resume"] = (journal, { key, origins }, source, options, emit) =>
  Effect.gen(function* () {
    const lease = yield* Hold.hold(journal, key, emit)
    const found = yield* journal.get(key)
    if (Option.isNone(found)) return yield* new NoSuchUpload({ key })
    const known = yield* verify(found.value, key, yield* JournalTarget.deployment(found.value.target, origins))
    const given = { ...known.about, size: source.size, identity: yield* identify(source) }
    return yield* proceed({ journal, lease, key, source, options, emit }, given, known)
  })

export const engine: JournaledUploads = { start, resume }
