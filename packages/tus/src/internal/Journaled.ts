/**
 * An upload that a journal knows: begun once, and gone on with after a crash.
 */
import type * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TusError from "../TusError.ts"
import type { ResumableUploadError } from "../UploadError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import * as UploadSource from "../UploadSource.ts"
import * as UploadJournal from "../UploadJournal.ts"
import * as UploadTarget from "../UploadTarget.ts"
import * as Concatenation from "./Concatenation.ts"
import * as Creation from "./Creation.ts"
import type { Emit } from "./Events.ts"
import * as Hold from "./Hold.ts"
import * as JournalRecorder from "./JournalRecorder.ts"
import * as Parallel from "./Parallel.ts"
import * as Parts from "./Parts.ts"
import type { Part } from "./Recorder.ts"
import * as Restart from "./Restart.ts"
import * as Session from "./Session.ts"
import * as Single from "./Single.ts"

/**
 * - `restart`: whether an upload that the journal knows is given up, and another one begun.
 */
interface Restartable {
  readonly parallel?: number | undefined
  readonly restart?: boolean | undefined
}

/** What identifies the bytes of a source; where nothing else does, their SHA-256. */
export const identify = (source: UploadSource.Replayable): Effect.Effect<string, UploadSource.SourceFailed> =>
  Effect.flatMap(source.identity, (identity) =>
    identity === undefined
      ? Effect.map(UploadSource.identifiedByContent(source).identity, String)
      : Effect.succeed(identity)
  )

interface Book {
  readonly journal: UploadJournal.UploadJournal["Service"]
  readonly lease: UploadJournal.Lease
  readonly key: string
  readonly source: UploadSource.Replayable
  readonly identity: string
  readonly file?: number | undefined
}

/** The source at hand is the one that was begun, or a typed error says what differs. */
const verifySource = (entry: UploadJournal.Entry, book: Book): Effect.Effect<void, TusError.UploadMismatch> => {
  if (entry.size !== book.source.size) {
    const found = `${book.source.size}`
    return Effect.fail(new TusError.UploadMismatch({ field: "size", expected: `${entry.size}`, found }))
  }
  if (entry.identity !== book.identity) {
    const expected = entry.identity ?? "none"
    return Effect.fail(new TusError.UploadMismatch({ field: "fingerprint", expected, found: book.identity }))
  }
  return Effect.void
}

/**
 * An entry of which nothing can lead elsewhere, whoever wrote it: its key says for which Assembly and which bytes it is,
 * and the deployment where its uploads may be.
 */
const verify = (
  entry: UploadJournal.Entry,
  key: string,
  origins: ServiceOrigins.ServiceOrigins
): Effect.Effect<
  UploadJournal.Entry,
  UploadJournal.JournalTorn | UploadTarget.InvalidTarget | UploadTarget.UnsafeLocation
> =>
  Effect.gen(function* () {
    const { fieldname, filename } = named(entry.metadata)
    const identity = entry.identity ?? undefined
    const own = yield* UploadJournal.keyOf(entry.target, { ...entry, identity, filename, fieldname })
    if (own !== key) {
      return yield* new UploadJournal.JournalTorn({ key, problem: "it is that of another upload, or was edited" })
    }
    const target = yield* Effect.fromResult(UploadTarget.within(entry.target, origins))
    yield* Effect.forEach(JournalRecorder.urlsOf(entry), (url) => reopen(target, url), { discard: true })
    return { ...entry, target }
  })

/** A URL of an entry, through the checks again. */
const reopen = (target: UploadTarget.UploadTarget, text: string) =>
  Effect.fromResult(UploadTarget.resolve(target, text))

const reopenPart = (
  target: UploadTarget.UploadTarget,
  { end, marker, start, url }: JournalRecorder.PartAtRest
): Effect.Effect<Part, UploadTarget.UnsafeLocation> => {
  if (marker === null) return Effect.succeed({ _tag: "Planned", start, end })
  return url === null
    ? Effect.succeed({ _tag: "Creating", marker, start, end })
    : Effect.map(reopen(target, url), (found) => ({ _tag: "Created", marker, url: found, start, end }))
}

const begin = (
  session: Session.Session<JournalRecorder.Recording>,
  source: UploadSource.Replayable,
  parallel: number
): Effect.Effect<void, ResumableUploadError, HttpClient.HttpClient | Scope.Scope> => {
  const parts = parallel > 1 ? Parts.plan(source, parallel) : []
  return parts.length > 1
    ? Parallel.run(session, source, parts, { concurrency: parallel, keep: true })
    : Single.start(session, source)
}

/** An entry of an upload that is neither complete nor given up. */
type Unfinished = Exclude<UploadJournal.Entry, { readonly _tag: "Completed" | "Untrusted" }>

/** What the next run of an upload does, by the entry of the last one. */
const proceed = (
  session: Session.Session<JournalRecorder.Recording>,
  source: UploadSource.Replayable,
  earlier: Unfinished,
  parallel: number
): Effect.Effect<void, ResumableUploadError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    switch (earlier._tag) {
      case "Creating":
        return yield* Single.resume(session, source, { marker: earlier.marker, url: undefined })
      case "Created":
        return yield* Single.resume(session, source, {
          marker: earlier.marker,
          url: yield* reopen(session.target, earlier.url)
        })
      case "Parts":
        return yield* Parallel.run(
          session,
          source,
          yield* Effect.forEach(earlier.parts, (part) => reopenPart(session.target, part)),
          { concurrency: Math.max(1, parallel), keep: true }
        )
      case "Concatenating":
        return yield* Concatenation.recover(session, earlier.marker, source.size)
    }
  })

/** Whether a failure says for sure that nothing is left to go on with: it is gone, or was never made. */
const isOver = (error: ResumableUploadError, entry: Option.Option<UploadJournal.Entry>): boolean =>
  error._tag === "UploadGone" || (Creation.isRefusal(error) && Option.exists(entry, ({ _tag }) => _tag === "Creating"))

/** Forgets the upload when its failure leaves nothing to go on with. */
const forgetIfOver =
  ({ journal, key, lease }: Book) =>
  (error: ResumableUploadError) =>
    Effect.gen(function* () {
      const now = yield* Effect.orElseSucceed(journal.get(key), () => Option.none<UploadJournal.Entry>())
      if (!isOver(error, now)) return
      yield* lease.check
      yield* journal.forget(key)
    }).pipe(Effect.ignore)

const toRecorder = (
  { file, identity, journal, key, lease, source }: Book,
  target: UploadTarget.UploadTarget,
  metadata: Session.Options["metadata"],
  earlier: UploadJournal.Entry | undefined
) =>
  JournalRecorder.make({
    journal,
    lease,
    key,
    common: { target, metadata, size: source.size, identity, ...(file === undefined ? undefined : { file }) },
    earlier
  })

type RunOptions = Session.Options & Restartable

/** `file` is its index among the files of a job, where two may have the same bytes and name. */
interface StartOptions extends RunOptions {
  readonly file?: number | undefined
}

/** A new upload. `earlier` is the one that is given up for it. */
const startAnew = (
  book: Book,
  target: UploadTarget.UploadTarget,
  options: RunOptions,
  emit: Emit,
  earlier: UploadJournal.Entry | undefined
) =>
  Effect.gen(function* () {
    const { journal, key, lease, source } = book
    const recorder = toRecorder(book, target, options.metadata, undefined)
    const session = yield* Session.make(target, options, emit, recorder)
    if (earlier !== undefined) {
      yield* Restart.removeFromServer(earlier, session.policy)
      yield* lease.check
      yield* journal.forget(key)
      emit(UploadEvent.Restarted({ reason: `by order; the upload of the journal was ${earlier._tag}` }))
    }
    yield* Effect.tapError(begin(session, source, options.parallel ?? 1), forgetIfOver(book))
  })

/** Answers with what the journal knows, or goes on from there. */
const goOn = (book: Book, earlier: UploadJournal.Entry, options: RunOptions, emit: Emit) =>
  Effect.gen(function* () {
    const { source } = book
    // What the creation carried counts, whatever the caller says now.
    const { target } = earlier
    const metadata = named(earlier.metadata)
    yield* verifySource(earlier, book)
    switch (earlier._tag) {
      case "Untrusted": {
        const { mayBeWhole, problem } = earlier
        return yield* new TusError.UploadUntrusted({ problem, mayBeWhole })
      }
      case "Completed":
        return emit(UploadEvent.Completed({ url: yield* reopen(target, earlier.url), length: earlier.size }))
      default: {
        const recorder = toRecorder(book, target, metadata, earlier)
        const session = yield* Session.make(target, { ...options, metadata }, emit, recorder)
        yield* Effect.tapError(proceed(session, source, earlier, options.parallel ?? 1), forgetIfOver(book))
      }
    }
  })

/** Begins an upload, or goes on with the one that the journal knows of the same bytes for the same Assembly. */
export const start = (
  target: UploadTarget.UploadTarget,
  source: UploadSource.Replayable,
  options: StartOptions,
  emit: Emit
): Effect.Effect<void, ResumableUploadError, HttpClient.HttpClient | Scope.Scope | UploadJournal.UploadJournal> =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    const identity = yield* identify(source)
    const { fieldname, filename } = options.metadata
    const key = yield* UploadJournal.keyOf(target, {
      identity,
      size: source.size,
      filename,
      fieldname,
      file: options.file
    })
    const lease = yield* Hold.hold(journal, key, emit)
    const book = { journal, lease, key, source, identity, file: options.file }
    yield* Hold.during(
      lease,
      Effect.gen(function* () {
        const found = Option.getOrUndefined(yield* journal.get(key))
        const entry = found === undefined ? undefined : yield* verify(found, key, target.origins)
        return entry === undefined || options.restart === true
          ? yield* startAnew(book, target, options, emit, entry)
          : yield* goOn(book, entry, options, emit)
      })
    )
  })

/**
 * - `origins`: further origins that upload URLs may have.
 */
export interface Resumption extends Omit<Session.Options, "metadata">, Restartable {
  readonly origins?: ReadonlyArray<string> | undefined
}

/** Goes on with an upload of the journal, by its key. */
export const resume = (
  key: string,
  source: UploadSource.Replayable,
  { origins, ...options }: Resumption,
  emit: Emit
): Effect.Effect<
  void,
  ResumableUploadError | UploadJournal.NoSuchUpload,
  HttpClient.HttpClient | Scope.Scope | UploadJournal.UploadJournal
> =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    const lease = yield* Hold.hold(journal, key, emit)
    const found = yield* journal.get(key)
    if (Option.isNone(found)) return yield* new UploadJournal.NoSuchUpload({ key })
    const entry = yield* verify(found.value, key, yield* UploadTarget.deployment(found.value.target, origins))
    const identity = yield* identify(source)
    const book = { journal, lease, key, source, identity, file: entry.file }
    const all = { ...options, metadata: named(entry.metadata) }
    yield* Hold.during(
      lease,
      options.restart === true
        ? // The key names these bytes: others would be another upload.
          Effect.andThen(verifySource(entry, book), startAnew(book, entry.target, all, emit, entry))
        : goOn(book, entry, all, emit)
    )
  })

/** The metadata of an entry; the two keys were there when it was written. */
const named = (metadata: UploadJournal.Entry["metadata"]): Session.Options["metadata"] => ({
  ...metadata,
  filename: metadata["filename"] ?? "",
  fieldname: metadata["fieldname"] ?? ""
})
