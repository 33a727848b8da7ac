/**
 * An upload that a journal knows: begun once, and gone on with after a crash.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as TusError from "../TusError.ts"
import * as UploadSource from "../UploadSource.ts"
import * as UploadJournal from "../UploadJournal.ts"
import * as UploadTarget from "../UploadTarget.ts"
import * as Concatenation from "./Concatenation.ts"
import * as Creation from "./Creation.ts"
import * as Parallel from "./Parallel.ts"
import * as Parts from "./Parts.ts"
import type { Part, Recorder } from "./Recorder.ts"
import * as Session from "./Session.ts"
import * as Single from "./Single.ts"

/** What a journaled upload can fail with. */
export type JournaledError = Session.UploadError | UploadJournal.JournalError

/** What identifies the bytes of a source; where nothing else does, their SHA-256. */
const identify = (source: UploadSource.Replayable): Effect.Effect<string, UploadSource.SourceFailed> =>
  Effect.flatMap(source.identity, (identity) =>
    identity === undefined
      ? Effect.map(UploadSource.identifiedByContent(source).identity, String)
      : Effect.succeed(identity)
  )

interface Book {
  readonly journal: UploadJournal.UploadJournal["Service"]
  readonly key: string
  readonly source: UploadSource.Replayable
  readonly identity: string
}

type PartAtRest = Extract<UploadJournal.Entry, { _tag: "Parts" }>["parts"][number]

/** Writes each step of an upload into the journal before it is taken. */
const recorder = (
  { identity, journal, key, source }: Book,
  target: UploadTarget.UploadTarget,
  metadata: Session.Options["metadata"]
): Recorder<UploadJournal.JournalFailed> => {
  const put = (entry: (writtenAt: number) => UploadJournal.Entry) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => journal.put(key, entry(now)))
  const common = { target, metadata, size: source.size, identity }
  return {
    creating: (marker) => put((writtenAt) => ({ ...common, writtenAt, _tag: "Creating", marker })),
    created: (marker, url) =>
      put((writtenAt) => ({ ...common, writtenAt, _tag: "Created", marker, url: Redacted.value(url) })),
    parts: (parts) =>
      put((writtenAt) => ({
        ...common,
        writtenAt,
        _tag: "Parts",
        marker: "",
        parts: parts.map((part): PartAtRest => ({
          start: part.start,
          end: part.end,
          marker: part._tag === "Planned" ? null : part.marker,
          url: part._tag === "Created" ? Redacted.value(part.url) : null
        }))
      })),
    concatenating: (marker, urls) =>
      put((writtenAt) => ({
        ...common,
        writtenAt,
        _tag: "Concatenating",
        marker,
        urls: urls.map((url) => Redacted.value(url))
      })),
    untrusted: () => Effect.void,
    completed: () => Effect.void
  }
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

/** A URL of an entry, through the checks again. */
const reopen = (target: UploadTarget.UploadTarget, text: string) =>
  Effect.fromResult(UploadTarget.resolve(target, text))

const reopenPart = (
  target: UploadTarget.UploadTarget,
  { end, marker, start, url }: PartAtRest
): Effect.Effect<Part, UploadTarget.UnsafeLocation> => {
  if (marker === null) return Effect.succeed({ _tag: "Planned", start, end })
  return url === null
    ? Effect.succeed({ _tag: "Creating", marker, start, end })
    : Effect.map(reopen(target, url), (found) => ({ _tag: "Created", marker, url: found, start, end }))
}

/** What the next run of an upload does, by the entry of the last one. */
const proceed = (
  session: Session.Session<UploadJournal.JournalFailed>,
  book: Book,
  entry: Option.Option<UploadJournal.Entry>,
  parallel: number
): Effect.Effect<void, JournaledError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { source } = book
    if (Option.isNone(entry)) {
      const parts = parallel > 1 ? Parts.plan(source, parallel) : []
      return parts.length > 1
        ? yield* Parallel.run(session, source, parts, { concurrency: parallel, keep: true })
        : yield* Single.start(session, source)
    }
    const earlier = entry.value
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
const isOver = (error: JournaledError, entry: Option.Option<UploadJournal.Entry>): boolean =>
  error._tag === "UploadGone" || (Creation.isRefusal(error) && Option.exists(entry, ({ _tag }) => _tag === "Creating"))

const run = (
  book: Book,
  target: UploadTarget.UploadTarget,
  options: Session.Options & { readonly parallel?: number | undefined },
  emit: Session.Session<never>["emit"]
) =>
  Effect.gen(function* () {
    const { journal, key } = book
    const entry = yield* journal.get(key)
    if (Option.isSome(entry)) yield* verifySource(entry.value, book)
    const session = yield* Session.make(target, options, emit, recorder(book, target, options.metadata))
    yield* proceed(session, book, entry, options.parallel ?? 1).pipe(
      Effect.tapError((error) =>
        Effect.flatMap(
          Effect.orElseSucceed(journal.get(key), () => Option.none<UploadJournal.Entry>()),
          (now) => (isOver(error, now) ? Effect.ignore(journal.forget(key)) : Effect.void)
        )
      )
    )
    yield* journal.forget(key)
  })

/** Holds an upload. A lease of a process that died runs out, so that one is waited for; a living one renews it. */
const hold = (journal: UploadJournal.UploadJournal["Service"], key: string) =>
  journal.lease(key).pipe(
    Effect.catchTag("UploadLeased", ({ until }) =>
      Effect.gen(function* () {
        yield* Effect.sleep(Math.max(0, until - (yield* Clock.currentTimeMillis)) + 1)
        return yield* journal.lease(key)
      })
    )
  )

/** Begins an upload, or goes on with the one that the journal knows of the same bytes for the same Assembly. */
export const start = (
  target: UploadTarget.UploadTarget,
  source: UploadSource.Replayable,
  options: Session.Options & { readonly parallel?: number | undefined },
  emit: Session.Session<never>["emit"]
): Effect.Effect<void, JournaledError, HttpClient.HttpClient | Scope.Scope | UploadJournal.UploadJournal> =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    const identity = yield* identify(source)
    const { fieldname, filename } = options.metadata
    const key = yield* UploadJournal.keyOf(target, { identity, size: source.size, filename, fieldname })
    yield* hold(journal, key)
    yield* run({ journal, key, source, identity }, target, options, emit)
  })

/** Goes on with an upload of the journal, by its key. */
export const resume = (
  key: string,
  source: UploadSource.Replayable,
  options: Omit<Session.Options, "metadata"> & { readonly parallel?: number | undefined },
  emit: Session.Session<never>["emit"]
): Effect.Effect<
  void,
  JournaledError | UploadJournal.NoSuchUpload,
  HttpClient.HttpClient | Scope.Scope | UploadJournal.UploadJournal
> =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    yield* hold(journal, key)
    const entry = yield* journal.get(key)
    if (Option.isNone(entry)) return yield* new UploadJournal.NoSuchUpload({ key })
    const { metadata, target } = entry.value
    const identity = yield* identify(source)
    yield* run({ journal, key, source, identity }, target, { ...options, metadata: named(metadata) }, emit)
  })

/** The metadata of an entry; the two keys were there when it was written. */
const named = (metadata: UploadJournal.Entry["metadata"]): Session.Options["metadata"] => ({
  ...metadata,
  filename: metadata["filename"] ?? "",
  fieldname: metadata["fieldname"] ?? ""
})
