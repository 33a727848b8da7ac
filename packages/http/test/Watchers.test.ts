/** What a route knows of its uploads, and for how long. */
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Watchers from "../src/internal/watchers.ts"

const limits = { arriving: 10, uploads: 10, watchers: 10 }

type Watched = Effect.Success<ReturnType<typeof Watchers.make<string>>>

/** Runs an upload with these events. The last one is the last. */
const upload = (uploads: Watched, id: string, ...events: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { end, permit, tell } = yield* uploads.start(id)
      yield* permit
      for (const event of events.slice(0, -1)) yield* tell(event)
      yield* end(events.at(-1) ?? "end")
    })
  )

/** The events that a watcher gets. */
const seenBy = (uploads: Watched, id: string, seen = 0) =>
  uploads.watch(id, seen).pipe(
    Effect.flatMap(Stream.runCollect),
    Effect.map((events) => events.map(({ event, number }) => `${number} ${event}`)),
    Effect.scoped
  )

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onSuccess: () => "started", onFailure: ({ _tag }) => _tag })

describe("the uploads of a route", () => {
  it.effect("tell each event once, in order, also to a page that saw some of them", function* () {
    const uploads = yield* Watchers.make<string>(limits)
    yield* upload(uploads, "a", "one", "two", "three")
    assert.deepStrictEqual(yield* seenBy(uploads, "a"), ["1 one", "2 two", "3 three"])
    assert.deepStrictEqual(yield* seenBy(uploads, "a", 1), ["2 two", "3 three"])
    const found = [2, 3, 4].map((seen) => uploads.hasSeen("a", seen))
    assert.deepStrictEqual(found, [false, true, true])
    assert.isFalse(uploads.hasSeen("b", 0))
  })

  it.effect("keep the newest 64 events for a page that is late", function* () {
    const uploads = yield* Watchers.make<string>(limits)
    yield* upload(uploads, "a", ...Array.from({ length: 100 }, (_, index) => `${index + 1}`))
    const seen = yield* seenBy(uploads, "a")
    const expected = Array.from({ length: 64 }, (_, index) => `${index + 37} ${index + 37}`)
    assert.deepStrictEqual(seen, expected)
  })

  it.effect("are known for a minute after their end", function* () {
    const uploads = yield* Watchers.make<string>(limits)
    yield* upload(uploads, "a", "end")
    yield* TestClock.adjust("59 seconds")
    assert.deepStrictEqual(yield* seenBy(uploads, "a"), ["1 end"])
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(uploads.known(), 0)
  })

  it.effect("that ended free their ids at once, and are known until another upload has the id", function* () {
    const uploads = yield* Watchers.make<string>({ ...limits, arriving: 1 })
    for (const event of ["refused", "refused again"]) {
      yield* Effect.scoped(Effect.flatMap(uploads.start("a"), ({ end }) => end(event)))
      assert.deepStrictEqual(yield* seenBy(uploads, "a"), [`1 ${event}`])
      assert.isTrue(uploads.hasSeen("a", 1))
    }
    yield* upload(uploads, "a", "one", "two")
    assert.deepStrictEqual(yield* seenBy(uploads, "a"), ["1 one", "2 two"])
    assert.strictEqual(uploads.known(), 1)
  })

  it.effect("are not known because a page watched them that has gone", function* () {
    const uploads = yield* Watchers.make<string>({ arriving: 2, uploads: 1, watchers: 10 })
    for (const id of ["a", "b", "c"]) yield* Effect.scoped(Effect.asVoid(uploads.watch(id, 0)))
    assert.strictEqual(uploads.known(), 0)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { permit } = yield* uploads.start("runs")
        yield* permit
        for (const id of ["a", "b", "c"]) assert.strictEqual(yield* tagOf(upload(uploads, id)), "Busy")
        assert.strictEqual(uploads.known(), 4)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(uploads.known(), 1)
        yield* uploads.start("arrives")
        yield* uploads.start("arrives too")
        for (const id of ["a", "b", "c"]) assert.strictEqual(yield* tagOf(uploads.start(id)), "Busy")
        assert.strictEqual(uploads.known(), 3)
      })
    )
  })

  it.effect("stay known to a page that watches when another page goes", function* () {
    const uploads = yield* Watchers.make<string>(limits)
    const other = yield* Scope.make()
    yield* Scope.provide(Effect.asVoid(uploads.watch("a", 0)), other)
    const stays = yield* Effect.forkChild(seenBy(uploads, "a"), { startImmediately: true })
    yield* Scope.close(other, Exit.void)
    yield* upload(uploads, "a", "one", "two")
    assert.deepStrictEqual(yield* Fiber.join(stays), ["1 one", "2 two"])
  })

  it.effect("stay known while they run and nobody watches", function* () {
    const uploads = yield* Watchers.make<string>(limits)
    const scope = yield* Scope.make()
    const { end } = yield* Scope.provide(uploads.start("a"), scope)
    yield* Effect.scoped(Effect.asVoid(uploads.watch("a", 0)))
    assert.strictEqual(yield* tagOf(upload(uploads, "a")), "UploadExists")
    yield* end("end")
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* seenBy(uploads, "a"), ["1 end"])
  })

  it.effect("stay known when there was no room for them and a page watches", function* () {
    const uploads = yield* Watchers.make<string>({ arriving: 1, uploads: 1, watchers: 10 })
    const watcher = yield* Effect.forkChild(seenBy(uploads, "a"), { startImmediately: true })
    yield* Effect.scoped(
      Effect.andThen(
        uploads.start("arrives"),
        Effect.map(tagOf(upload(uploads, "a")), (tag) => assert.strictEqual(tag, "Busy"))
      )
    )
    yield* upload(uploads, "a", "end")
    assert.deepStrictEqual(yield* Fiber.join(watcher), ["1 end"])
  })
})
