/**
 * The form of a state in the journal, which later versions read as well.
 */
import type * as UploadState from "../src/internal/uploadState.ts"
import { UploadTarget } from "@assembly-effect/tus"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Predicate, Record, Redacted, Result, Schema } from "effect"
import * as JournalEntry from "../src/internal/journalEntry.ts"

const target = Effect.runSync(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" })
)
const [one, two] = ["1", "2"].map((name) =>
  Result.getOrThrow(UploadTarget.resolve(target, `/resumable/files/${name}`))
) as [UploadTarget.UploadUrl, UploadTarget.UploadUrl]

const about = { target, metadata: { filename: "a", fieldname: "b", flag: null }, size: 10n, identity: "sha256 00" }

const written = {
  target: {
    tusUrl: "https://a.example.com/",
    assemblySslUrl: "https://a.example.com/assemblies/1",
    origins: target.origins.entries
  },
  metadata: about.metadata,
  size: "10",
  identity: "sha256 00",
  writtenAt: 7
}

/** Each state. */
const states: ReadonlyArray<UploadState.UploadState> = [
  { _tag: "Creating", marker: "m" },
  { _tag: "Created", marker: "m", url: one },
  {
    _tag: "Parts",
    parts: [
      { start: 0n, end: 3n, piece: { _tag: "Planned" } },
      { start: 3n, end: 6n, piece: { _tag: "Creating", marker: "p1" } },
      { start: 6n, end: 10n, piece: { _tag: "Created", marker: "p2", url: two } }
    ]
  },
  { _tag: "Concatenating", marker: "f", parts: [one, two], length: 10n },
  { _tag: "Completed", url: two, length: 10n },
  { _tag: "Untrusted", urls: [two, one], description: "upload-offset is 17", mayBeWhole: true }
]

/** What the files of journals say of a state: numbers and URLs are texts. */
const formOf = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value)
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  if (Array.isArray(value)) return value.map(formOf)
  return Predicate.isObject(value) ? Record.map(value as Record<string, unknown>, formOf) : value
}

const encoded = (state: UploadState.UploadState) => {
  const entry = JournalEntry.fromState(state, about, 7)
  return entry === undefined ? assert.fail("no entry") : Schema.encodeEffect(JournalEntry.uploads)(entry)
}

describe("the form in a journal", () => {
  for (const state of states) {
    const form = formOf(state)
    it.effect(`of an upload that is ${state._tag} stays as it is, and is read again`, function* () {
      assert.deepStrictEqual(JSON.parse(yield* encoded(state)), { ...written, state: form })
      const entry = yield* Schema.decodeEffect(JournalEntry.uploads)(JSON.stringify({ ...written, state: form }))
      assert.deepStrictEqual(JournalEntry.toState(entry, target), Result.succeed(state))
    })
  }

  it.effect("leaves out what a later process has to ask the server for", function* () {
    const begun = { sent: 10n, offset: 10n }
    assert.strictEqual(
      yield* encoded({ _tag: "Created", marker: "m", url: one, begun }),
      yield* encoded({ _tag: "Created", marker: "m", url: one })
    )
    const final = { _tag: "Concatenating", marker: "f", parts: [one, two], length: 10n } as const
    assert.strictEqual(yield* encoded({ ...final, url: two }), yield* encoded(final))
  })
})
