/**
 * The state of an upload: how it is kept while several parts change it at once, in a journal, and when its caller is
 * interrupted; and its form in the journal, which later versions read as well.
 */
import { UploadUntrusted } from "@assembly-effect/tus/TusError"
import { Deferred, Effect, Fiber, Predicate, Record, Redacted, Result, Schema } from "effect"
import * as JournalEntry from "../src/internal/journalEntry.ts"
import * as Journaled from "../src/internal/journaled.ts"
import * as UploadState from "../src/internal/uploadState.ts"
import { assert, describe, it, Scene, test } from "./utils/index.ts"

const target = Scene.unused
const [one, two] = [Scene.unusedUrl("1"), Scene.unusedUrl("2")]

const about = { target, metadata: { filename: "a", fieldname: "b", flag: null }, size: 10n, identity: "sha256 00" }

const kept = {
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
      assert.deepStrictEqual(JSON.parse(yield* encoded(state)), { ...kept, state: form })
      const entry = yield* Schema.decodeEffect(JournalEntry.uploads)(JSON.stringify({ ...kept, state: form }))
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

const size = 3n * 1024n * 1024n
const creating = (index: number) => UploadState.part(index)({ _tag: "Creating", marker: `m${index}` })

/** The markers that a state knows. */
const markers = (state: UploadState.UploadState) =>
  state._tag === "Parts" ? state.parts.map(({ piece }) => ("marker" in piece ? piece.marker : "")) : []

describe("a store that writes", () => {
  it.effect("writes one state after the other, each with the changes before it", function* () {
    const gate = yield* Deferred.make<void>()
    const written: Array<ReadonlyArray<string>> = []
    let begun = 0
    const store = UploadState.written(UploadState.inParts(size, 3), Journaled.settle, (state) =>
      Effect.andThen(
        begun++ === 0 ? Deferred.await(gate) : Effect.void,
        Effect.sync(() => void written.push(markers(state)))
      )
    )
    const updates = yield* Effect.forEach([0, 1, 2], (index) => Effect.forkChild(store.update(creating(index))))
    yield* Effect.yieldNow
    assert.deepStrictEqual(written, [])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.joinAll(updates)
    assert.deepStrictEqual(written, [
      ["m0", "", ""],
      ["m0", "m1", ""],
      ["m0", "m1", "m2"]
    ])
  })

  it.effect("writes again what could not be written, and not what is written", function* () {
    let failures = 1
    let writes = 0
    const store = UploadState.written(UploadState.planned, Journaled.settle, () =>
      Effect.suspend(() => {
        writes++
        return failures-- > 0 ? Effect.fail("no space") : Effect.void
      })
    )
    const change = UploadState.whole({ _tag: "Creating", marker: "m" })
    assert.strictEqual(yield* Effect.flip(store.update(change)), "no space")
    for (const _ of [1, 2]) yield* store.update((state) => state)
    assert.strictEqual(writes, 2)
  })

  it.effect("a change that fails to be written, and back to the state before: writes both states", function* () {
    const tags: Array<string> = []
    const store = UploadState.written(UploadState.planned, Journaled.settle, ({ _tag }) =>
      Effect.suspend(() => (tags.push(_tag) === 1 ? Effect.fail("no space") : Effect.void))
    )
    yield* Effect.flip(store.update(UploadState.whole({ _tag: "Creating", marker: "m" })))
    yield* store.update(UploadState.replaced(UploadState.planned))
    assert.deepStrictEqual(tags, ["Creating", "Planned"])
  })

  it.effect("an interruption while the request is recorded sends nothing, and records this", function* () {
    const recorded: Array<string> = []
    const writing = yield* Deferred.make<void>()
    const note = (what: string) => Effect.sync(() => void recorded.push(what))
    const fiber = yield* Effect.forkChild(
      Journaled.settle({
        sending: Effect.andThen(Deferred.succeed(writing, undefined), Effect.never),
        answered: note("answered"),
        refused: note("refused")
      })
    )
    yield* Deferred.await(writing)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(recorded, ["refused"])
  })
})

test("a state that is untrusted stays untrusted after every later change", () => {
  const wrong = UploadState.untrusted(new UploadUntrusted({ description: "upload-offset is 17", mayBeWhole: true }))
  const untrusted = wrong(creating(0)(UploadState.inParts(size, 3)))
  for (const change of [
    UploadState.whole({ _tag: "Planned" }),
    UploadState.part(0)({ _tag: "Planned" }),
    UploadState.concatenating("f", [], 3n),
    UploadState.concatenated(one),
    UploadState.replaced(UploadState.inParts(size, 3)),
    UploadState.completed(one, 3n),
    UploadState.replaced(UploadState.planned)
  ]) {
    assert.strictEqual(change(untrusted), untrusted)
  }
})
