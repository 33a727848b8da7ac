/**
 * What a recorder writes of an upload, and what it must not overwrite.
 */
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import { UploadUntrusted } from "@assembly-effect/tus/TusError"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as JournalRecorder from "../src/internal/JournalRecorder.ts"

const key = "k"

/** A recorder whose lease is checked by `check`, and what the journal holds after what it was told. */
const recorded = Effect.fnUntraced(function* (check: UploadJournal.Lease["check"]) {
  const journal = yield* UploadJournal.UploadJournal
  const target = yield* UploadTarget.make({
    tusUrl: "https://a.example.com/resumable/files/",
    assemblySslUrl: "https://a.example.com/assemblies/1"
  })
  const recorder = JournalRecorder.make({
    journal,
    lease: { check, lost: Effect.never },
    key,
    common: { target, metadata: { filename: "a", fieldname: "b" }, size: 10n, identity: "sha256 00" },
    earlier: undefined
  })
  const url = yield* Effect.fromResult(UploadTarget.resolve(target, "/resumable/files/1"))
  return {
    recorder,
    url,
    tag: Effect.map(
      journal.get(key),
      Option.map(({ _tag }) => _tag)
    )
  }
})

describe("a recorder of a journal", () => {
  it.effect("writes nothing when its lease is lost: the entry is another's", () =>
    Effect.gen(function* () {
      const lost = new UploadJournal.LeaseLost({ key, problem: "another holder took it" })
      const { recorder, tag, url } = yield* recorded(Effect.fail(lost))
      for (const told of [recorder.creating("m"), recorder.created("m", url), recorder.completed(url, 10n)]) {
        assert.strictEqual(yield* Effect.flip(told), lost)
      }
      assert.deepStrictEqual(yield* tag, Option.none())
    }).pipe(Effect.provide(UploadJournal.layerMemory()))
  )

  it.effect("keeps that an upload is not to be trusted, whatever a part of it tells later", () =>
    Effect.gen(function* () {
      const { recorder, tag, url } = yield* recorded(Effect.void)
      yield* recorder.created("m", url)
      yield* recorder.untrusted(new UploadUntrusted({ problem: "it stands at 17", mayBeWhole: false }))
      yield* recorder.parts([{ _tag: "Planned", start: 0n, end: 10n }])
      yield* recorder.concatenating("n", [url])
      yield* recorder.completed(url, 10n)
      assert.deepStrictEqual(yield* tag, Option.some("Untrusted" as const))
    }).pipe(Effect.provide(UploadJournal.layerMemory()))
  )
})
