/**
 * What is written of an upload into the journal, and what must not be overwritten.
 */
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as UploadState from "../src/internal/uploadState.ts"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as JournalStore from "../src/internal/journalStore.ts"

const key = "k"

const creating = UploadState.whole({ _tag: "Creating", marker: "m" })
const createdAt = (url: UploadTarget.UploadUrl) => UploadState.whole({ _tag: "Created", marker: "m", url })

/** A store whose lease is checked by `check`, and what the journal holds after its updates. */
const kept = Effect.fnUntraced(function* (check: UploadJournal.Lease["check"]) {
  const journal = yield* UploadJournal.UploadJournal
  const target = yield* UploadTarget.make({
    tusUrl: "https://a.example.com/resumable/files/",
    assemblySslUrl: "https://a.example.com/assemblies/1"
  })
  const { update } = JournalStore.make({
    journal,
    lease: { check, lost: Effect.never },
    key,
    about: { target, metadata: { filename: "a", fieldname: "b" }, size: 10n, identity: "sha256 00" },
    initial: UploadState.planned
  })
  const url = yield* Effect.fromResult(UploadTarget.resolve(target, "/resumable/files/1"))
  return {
    update,
    url,
    tag: Effect.map(
      journal.get(key),
      Option.map(({ _tag }) => _tag)
    )
  }
})

describe("a store in a journal", () => {
  it.effect("writes nothing when its lease is lost: the entry is another's", () =>
    Effect.gen(function* () {
      const lost = new UploadJournal.LeaseLost({ key, description: "another holder took it" })
      const { tag, update, url } = yield* kept(Effect.fail(lost))
      for (const change of [
        creating,
        createdAt(url),
        UploadState.completed(url, 10n),
        UploadState.replaced(UploadState.planned)
      ]) {
        assert.strictEqual(yield* Effect.flip(update(change)), lost)
      }
      assert.deepStrictEqual(yield* tag, Option.none())
    }).pipe(Effect.provide(UploadJournal.layerMemory()))
  )

  it.effect("forgets an upload that was refused, or is gone", () =>
    Effect.gen(function* () {
      const { tag, update, url } = yield* kept(Effect.void)
      for (const change of [UploadState.whole({ _tag: "Planned" }), UploadState.replaced(UploadState.planned)]) {
        yield* update(createdAt(url))
        assert.deepStrictEqual(yield* tag, Option.some("Created" as const))
        yield* update(change)
        assert.deepStrictEqual(yield* tag, Option.none())
      }
    }).pipe(Effect.provide(UploadJournal.layerMemory()))
  )
})
