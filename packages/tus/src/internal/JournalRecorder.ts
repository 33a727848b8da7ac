/**
 * Writes each step of an upload into the journal before it is taken.
 */
import type { InvalidRequest } from "@assembly-effect/api/ApiError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { JournalFailed, LeaseLost } from "./JournalError.ts"
import type * as UploadJournal from "../UploadJournal.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import type { Part, Recorder } from "./Recorder.ts"

type Entry = UploadJournal.Entry
type Of<Tag extends Entry["_tag"]> = Extract<Entry, { readonly _tag: Tag }>
export type PartAtRest = Of<"Parts">["parts"][number]

const toRest = (part: Part): PartAtRest => ({
  start: part.start,
  end: part.end,
  marker: part._tag === "Planned" ? null : part.marker,
  url: part._tag === "Created" ? Redacted.value(part.url) : null
})

/** The upload URLs that an entry knows. */
export const urlsOf = (entry: Entry): ReadonlyArray<string> => {
  switch (entry._tag) {
    case "Creating":
      return []
    case "Created":
    case "Completed":
      return [entry.url]
    case "Parts":
      return entry.parts.flatMap(({ url }) => (url === null ? [] : [url]))
    case "Concatenating":
    case "Untrusted":
      return entry.urls
  }
}

/** What a recorder can fail with. */
export type Recording = JournalFailed | LeaseLost | InvalidRequest

/** A recorder for the upload of one key, as long as its lease is held. `earlier` is what the last run left. */
export const make = (options: {
  readonly journal: UploadJournal.UploadJournal["Service"]
  readonly lease: UploadJournal.Lease
  readonly key: string
  readonly common: Pick<Entry, "size" | "identity" | "metadata" | "file"> & { readonly target: UploadTarget }
  readonly earlier: Entry | undefined
}): Recorder<Recording> => {
  const { common, earlier, journal, key, lease } = options
  let last = earlier

  const put = (toEntry: (writtenAt: number) => Entry) =>
    Effect.suspend(() => {
      // One part may still be at work while the bytes of another are not to be trusted.
      if (last?._tag === "Untrusted") return Effect.void
      return Effect.gen(function* () {
        // An entry of a lost lease is another's by now.
        yield* lease.check
        const entry = toEntry(yield* Clock.currentTimeMillis)
        yield* journal.put(key, entry)
        last = entry
      })
    })

  return {
    creating: (marker) => put((writtenAt) => ({ ...common, writtenAt, _tag: "Creating", marker })),
    created: (marker, url) =>
      put((writtenAt) => ({ ...common, writtenAt, _tag: "Created", marker, url: Redacted.value(url) })),
    parts: (parts) =>
      put((writtenAt) => ({ ...common, writtenAt, _tag: "Parts", marker: "", parts: parts.map(toRest) })),
    concatenating: (marker, urls) =>
      put((writtenAt) => ({
        ...common,
        writtenAt,
        _tag: "Concatenating",
        marker,
        urls: urls.map((url) => Redacted.value(url))
      })),
    untrusted: ({ mayBeWhole, problem }, final) =>
      put((writtenAt) => ({
        ...common,
        writtenAt,
        _tag: "Untrusted",
        marker: last?.marker ?? "",
        urls: [...(final === undefined ? [] : [Redacted.value(final)]), ...(last === undefined ? [] : urlsOf(last))],
        problem,
        mayBeWhole
      })),
    completed: (url) =>
      put((writtenAt) => ({
        ...common,
        writtenAt,
        _tag: "Completed",
        marker: last?.marker ?? "",
        url: Redacted.value(url)
      }))
  }
}
