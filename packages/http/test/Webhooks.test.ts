import { type HandledNotifications, Webhooks } from "@assembly-effect/http"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { application, notification, path, storeFailed, storeOf, text, webhook } from "./receiving.ts"
import { logged, passTime, send, serve, until } from "./support.ts"

const multipart = (signed = text): FormData => {
  const body = new FormData()
  for (const [name, value] of notification(signed)) body.set(name, value)
  return body
}

/** A claim of a notification, whose effects do nothing unless they are given. */
const claimed = (given: Partial<Extract<HandledNotifications.Claim, { readonly _tag: "Claimed" }>> = {}) =>
  Effect.succeed({ _tag: "Claimed", renew: Effect.void, done: Effect.void, release: Effect.void, ...given } as const)

describe("Webhooks", () => {
  it.effect.each([
    ["multipart", multipart],
    ["urlencoded", notification]
  ] as const)("hands a %s notification to the handler once, then answers 200", function* ([, form]) {
    const { handled, post } = yield* application()
    const { body, headers, status } = yield* post(form(text))
    assert.deepStrictEqual({ body, status }, { body: { outcome: "Handled" }, status: 200 })
    assert.strictEqual(headers.get("cache-control"), "no-store")
    const key = createHash("sha256").update(text).digest("hex")
    assert.deepStrictEqual(handled, [{ status: JSON.parse(text), key }])
    for (const repeated of [multipart(), notification()]) {
      const again = yield* post(repeated)
      assert.deepStrictEqual([again.body, again.status], [{ outcome: "Repeated" }, 200])
    }
    yield* post(form(text.replace("a".repeat(32), "b".repeat(32))))
    assert.strictEqual(handled.length, 2)
  })

  it.effect("answers 500 if the handler failed, which only the log tells, and hands the repetition to it again", () => {
    const { count, provide } = logged()
    return Effect.gen(function* () {
      const runs: Array<Effect.Effect<void, string>> = [Effect.fail("a secret"), Effect.die("a secret"), Effect.void]
      const { handled, post } = yield* application({ handle: () => Effect.suspend(() => runs.shift() ?? Effect.void) })
      const expected = { _tag: "ApplicationFailed", description: "The notification could not be handled." }
      for (const seen of [1, 2]) {
        const { body, status } = yield* post()
        assert.deepStrictEqual({ body, status }, { body: expected, status: 500 })
        assert.strictEqual(count("a secret"), seen)
      }
      assert.strictEqual((yield* post()).status, 200)
      assert.strictEqual(handled.length, 3)
    }).pipe(provide)
  })

  it.effect("interrupts a handler that hangs, and answers 500", function* () {
    const runs: Array<Effect.Effect<void>> = [Effect.never]
    const { handled, post } = yield* application({ handle: () => Effect.suspend(() => runs.shift() ?? Effect.void) })
    const answer = yield* Effect.forkChild(post())
    yield* until(() => handled.length === 1)
    assert.strictEqual((yield* passTime(Fiber.join(answer))).status, 500)
    assert.strictEqual((yield* post()).status, 200)
    assert.strictEqual(handled.length, 2)
  })

  it.effect("runs the handler once for notifications that come at the same time", function* () {
    const may = yield* Deferred.make<void>()
    const { handled, post, sockets } = yield* application({ handle: () => Deferred.await(may) })
    const eight = Array.from({ length: 8 }, () => post())
    const all = yield* Effect.forkChild(Effect.all(eight, { concurrency: 8 }))
    yield* until(() => sockets.size === 8 && handled.length > 0)
    yield* Deferred.succeed(may, undefined)
    for (const { body, status } of yield* Fiber.join(all)) {
      assert.strictEqual(status, 200)
      assert.oneOf((body as Webhooks.Received).outcome, ["Handled", "Repeated"])
    }
    assert.strictEqual(handled.length, 1)
  })

  it.effect("goes on when the service gives up, and answers the repetition with its end", function* () {
    const steps: Array<string> = []
    const may = yield* Deferred.make<void>()
    const note = (step: string) => Effect.sync(() => steps.push(step))
    // The handler has a scope of its own.
    const handle = () =>
      Effect.andThen(
        Effect.acquireRelease(note("opened"), () => note("closed")),
        Effect.tap(Deferred.await(may), () => note("used"))
      )
    const { handled, post, sockets } = yield* application({ handle })
    const first = yield* Effect.forkChild(post())
    yield* until(() => steps.length > 0)
    yield* Fiber.interrupt(first)
    yield* until(() => sockets.size === 0)
    const second = yield* Effect.forkChild(post())
    yield* until(() => sockets.size === 1)
    yield* Deferred.succeed(may, undefined)
    assert.strictEqual((yield* Fiber.join(second)).status, 200)
    assert.strictEqual(handled.length, 1)
    assert.deepStrictEqual(steps, ["opened", "used", "closed"])
  })

  it.effect("claims a notification for a short time, and renews the claim while the handler runs", function* () {
    const may = yield* Deferred.make<void>()
    const leases: Array<Duration.Duration> = []
    let renewals = 0
    const renew = Effect.suspend(() => (++renewals % 2 === 0 ? Effect.void : storeFailed("busy")))
    const store = storeOf((_, lease) =>
      Effect.suspend(() => {
        leases.push(lease)
        return claimed({ renew })
      })
    )
    const { handled, post } = yield* application({ handle: () => Deferred.await(may) }, store)
    const answer = yield* Effect.forkChild(post())
    yield* until(() => handled.length === 1)
    for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
    const [lease = Duration.infinity] = leases
    assert.isAtMost(Duration.toSeconds(lease), 30)
    assert.isAtLeast(renewals, 3 * (60 / Duration.toSeconds(lease)))
    yield* Deferred.succeed(may, undefined)
    assert.strictEqual((yield* Fiber.join(answer)).status, 200)
    const after = renewals
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(renewals, after)
  })

  it.effect.each([
    ["its claim fails", storeFailed("no disk"), 503, 0],
    ["another process has the claim", Effect.succeed({ _tag: "Busy" } as const), 503, 0],
    ["its claim hangs", Effect.never, 503, 0],
    ["it fails after the handler", claimed({ done: storeFailed("no disk"), renew: storeFailed("no disk") }), 200, 1],
    ["it hangs after the handler", claimed({ done: Effect.never, renew: Effect.never }), 200, 1]
  ] as const)("with a store of which %s", function* ([, claim, expected, runs]) {
    let isAsked = false
    const store = storeOf(() =>
      Effect.suspend((): Effect.Effect<HandledNotifications.Claim, HandledNotifications.StoreFailed> => {
        isAsked = true
        return claim
      })
    )
    const { handled, post } = yield* application({}, store)
    const answer = yield* Effect.forkChild(post())
    yield* until(() => isAsked)
    const { headers, status } = yield* passTime(Fiber.join(answer))
    assert.deepStrictEqual([status, headers.get("retry-after")], [expected, expected === 503 ? "1" : null])
    assert.strictEqual(handled.length, runs)
  })

  it.effect("interrupts its handlers when the application ends, answers 503, and remembers nothing", function* () {
    const scope = yield* Scope.make()
    const seen: Array<string> = []
    const note = (what: string) => Effect.sync(() => void seen.push(what))
    const store = storeOf(() => claimed({ done: Effect.die("it was not handled"), release: note("released") }))
    const handle = () =>
      Effect.andThen(
        note("begun"),
        Effect.onInterrupt(Effect.never, () => note("interrupted"))
      )
    const receive = yield* Webhooks.make({ handle }).pipe(
      Effect.provide(Layer.merge(store, webhook)),
      Scope.provide(scope)
    )
    const { origin } = yield* serve(HttpRouter.use((router) => router.add("POST", path, receive)))
    const answer = yield* Effect.forkChild(send(`${origin}${path}`, { body: notification() }))
    yield* until(() => seen.length > 0)
    yield* Scope.close(scope, Exit.void)
    const { body, status } = yield* Fiber.join(answer)
    assert.deepStrictEqual([status, body], [503, { _tag: "Busy", description: "The server is stopping." }])
    assert.deepStrictEqual(seen, ["begun", "interrupted", "released"])
  })
})
