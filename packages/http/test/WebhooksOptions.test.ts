/** What the options of `Webhooks` change, what they are by default, and what the log of an application tells. */
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { application, notification, path, storeFailed, storeOf, text, urlEncoded } from "./receiving.ts"
import { chunk, headOf, logged, open, secondsUntil, statusIn, until } from "./support.ts"

const MiB = 1024 * 1024

describe("Webhooks, its limits", () => {
  it.effect("takes 16 fields by default, and no more", function* () {
    const { post } = yield* application()
    assert.strictEqual((yield* post(notification(text, 14))).status, 200)
    assert.strictEqual((yield* post(notification(text, 15))).status, 413)
    const few = yield* application({ maxFields: 3 })
    assert.strictEqual((yield* few.post(notification(text, 1))).status, 200)
    assert.strictEqual((yield* few.post(notification(text, 2))).status, 413)
  })

  it.effect("takes a notification of 12 MiB in either form, but none that announces more than 16 MiB", function* () {
    const { port, post } = yield* application()
    const large = JSON.stringify({ ...JSON.parse(text), fields: { note: "x".repeat(12 * MiB) } })
    const form = new FormData()
    for (const [name, value] of notification(large)) form.set(name, value)
    assert.deepStrictEqual((yield* post(form)).body, { outcome: "Handled" })
    assert.deepStrictEqual((yield* post(notification(large))).body, { outcome: "Repeated" })
    const raw = yield* open(port)
    yield* raw.write(headOf(path, { "content-type": urlEncoded, "content-length": String(16 * MiB + 1) }))
    yield* until(raw.isClosed)
    assert.strictEqual(statusIn(raw.received()), 413)
  })

  it.effect("takes a body of exactly maxBytes, and not one byte more, announced or not", function* () {
    const body = String(notification(text, 1))
    for (const [maxBytes, expected] of [
      [body.length, 200],
      [body.length - 1, 413]
    ] as const) {
      const { port } = yield* application({ maxBytes })
      for (const [headers, sent] of [
        [{ "content-length": String(body.length) }, body],
        [{ "transfer-encoding": "chunked" }, `${chunk(body)}0\r\n\r\n`]
      ] as const) {
        const raw = yield* open(port)
        yield* raw.write(headOf(path, { "content-type": urlEncoded, connection: "close", ...headers }) + sent)
        yield* until(raw.isClosed)
        assert.strictEqual(statusIn(raw.received()), expected)
      }
    }
  })

  it.effect("holds at most 64 MiB of all bodies together by default", function* () {
    const { bytesRead, port } = yield* application()
    const raws = yield* Effect.forEach(Array.from({ length: 5 }), () => open(port))
    const piece = chunk("x".repeat(15 * MiB))
    for (const raw of raws) {
      yield* raw.write(headOf(path, { "content-type": urlEncoded, "transfer-encoding": "chunked" }))
      yield* Effect.forkChild(raw.write(piece))
    }
    const refused = () => raws.filter((raw) => statusIn(raw.received()) === 503).length
    yield* until(() => refused() > 0 || bytesRead() >= 5 * piece.length)
    assert.strictEqual(refused(), 1)
  })

  it.effect("waits 30 s for a body and 5 minutes for its handler by default", function* () {
    const slow = notification().toString().slice(0, -1)
    for (const [options, body, expected, least, most] of [
      [{}, slow, 408, 29, 35],
      [{ receiveTimeout: "5 seconds" }, slow, 408, 4, 10],
      [{}, notification().toString(), 500, 299, 310],
      [{ handleTimeout: "5 seconds" }, notification().toString(), 500, 4, 15]
    ] as const) {
      const served = yield* application({ ...options, handle: () => Effect.never })
      const raw = yield* open(served.port)
      const length = String(slow.length + 1)
      yield* raw.write(headOf(path, { "content-type": urlEncoded, "content-length": length }) + body)
      yield* until(() => served.bytesRead() > 0 && served.handled.length === (expected === 500 ? 1 : 0))
      const seconds = yield* secondsUntil(() => statusIn(raw.received()) === expected, served)
      assert.isAtLeast(seconds, least)
      assert.isAtMost(seconds, most)
    }
  })
})

describe("Webhooks, its handler", () => {
  it.effect("tells the failures of the store to the log, and is not stopped by its defects", () => {
    const { count, provide } = logged()
    return Effect.gen(function* () {
      const failed = yield* application(
        {},
        storeOf(() => storeFailed("no disk"))
      )
      assert.strictEqual((yield* failed.post()).status, 503)
      assert.strictEqual(count("no disk"), 1)

      let claims = 0
      const store = storeOf(() =>
        Effect.suspend(() => (++claims === 1 ? Effect.die("a defect") : Effect.succeed({ _tag: "Done" } as const)))
      )
      const { post } = yield* application({}, store)
      const { body, status } = yield* post()
      const problem = "The notification could not be handled."
      assert.deepStrictEqual([status, body], [500, { _tag: "ApplicationFailed", description: problem }])
      assert.strictEqual(count("a defect"), 1)
      assert.strictEqual((yield* post()).status, 200)
    }).pipe(provide)
  })

  it.effect("has the path that the application chose", function* () {
    const { post } = yield* application({ path: "/hooks/assembly" })
    assert.strictEqual((yield* post()).status, 200)
  })
})
