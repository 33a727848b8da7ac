import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as HandledNotifications from "@assembly-effect/http/HandledNotifications"
import * as Webhooks from "@assembly-effect/http/Webhooks"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { createHash } from "node:crypto"
import { credentials, passTime, send, serve, signatureOf, until } from "./support.ts"

const webhook = Webhook.layer().pipe(Layer.provide(Credentials.layer(credentials)))

const textOf = (id: string) => JSON.stringify({ ok: "ASSEMBLY_COMPLETED", assembly_id: id.repeat(32) })

const multipart = (text: string, signature = signatureOf(text)): RequestInit => {
  const body = new FormData()
  body.set("transloadit", text)
  body.set("signature", signature)
  return { body }
}

const urlEncoded = (text: string, signature = signatureOf(text)): RequestInit => ({
  body: new URLSearchParams({ transloadit: text, signature })
})

/** An application that notes what it handles. `handle` runs after that. */
const application = Effect.fnUntraced(function* <E = never>(
  handle: (run: number) => Effect.Effect<void, E> = () => Effect.void,
  options: Partial<Webhooks.Options<never, never>> = {},
  store = HandledNotifications.layerMemory()
) {
  const handled: Array<Webhooks.Notification> = []
  const routes = Webhooks.layer({
    ...options,
    handle: (notification) => Effect.suspend(() => handle(handled.push(notification)))
  })
  const { origin, ...rest } = yield* serve(routes.pipe(Layer.provide([store, webhook])))
  return { ...rest, handled, url: `${origin}/assembly-notifications` }
})

describe("Webhooks", () => {
  it.effect.each([
    ["multipart", multipart],
    ["urlencoded", urlEncoded]
  ] as const)("hands a %s notification to the handler, then answers 200", ([, form]) =>
    Effect.gen(function* () {
      const { handled, url } = yield* application()
      const text = textOf("a")
      const { body, headers, status } = yield* send(url, form(text))
      assert.deepStrictEqual({ body, status }, { body: { outcome: "Handled" }, status: 200 })
      assert.strictEqual(headers.get("cache-control"), "no-store")
      assert.deepStrictEqual(handled, [
        { status: JSON.parse(text), key: createHash("sha256").update(text).digest("hex") }
      ])
    })
  )

  it.effect("does not handle a repetition again, whatever its form", () =>
    Effect.gen(function* () {
      const { handled, url } = yield* application()
      yield* send(url, multipart(textOf("a")))
      for (const form of [multipart, urlEncoded]) {
        const { body, status } = yield* send(url, form(textOf("a")))
        assert.deepStrictEqual({ body, status }, { body: { outcome: "Repeated" }, status: 200 })
      }
      yield* send(url, multipart(textOf("b")))
      assert.strictEqual(handled.length, 2)
    })
  )

  it.effect("answers 500 if the handler failed, and hands the repetition to it again", () =>
    Effect.gen(function* () {
      const failures: ReadonlyArray<Effect.Effect<void, string>> = [Effect.fail("a secret"), Effect.die("a secret")]
      const { handled, url } = yield* application((run) => failures[run - 1] ?? Effect.void)
      const expected = { _tag: "ApplicationFailed", description: "The notification could not be handled." }
      for (const _ of failures) {
        const { body, status } = yield* send(url, multipart(textOf("a")))
        assert.deepStrictEqual({ body, status }, { body: expected, status: 500 })
      }
      assert.strictEqual((yield* send(url, multipart(textOf("a")))).status, 200)
      assert.strictEqual(handled.length, 3)
    })
  )

  it.effect("interrupts a handler that hangs, and answers 500", () =>
    Effect.gen(function* () {
      const { handled, url } = yield* application((run) => (run === 1 ? Effect.never : Effect.void))
      const answer = yield* Effect.forkChild(send(url, multipart(textOf("a"))))
      yield* until(() => handled.length === 1)
      assert.strictEqual((yield* passTime(Fiber.join(answer))).status, 500)
      assert.strictEqual((yield* send(url, multipart(textOf("a")))).status, 200)
      assert.strictEqual(handled.length, 2)
    })
  )

  it.effect("runs the handler once for notifications that come at the same time", () =>
    Effect.gen(function* () {
      const may = yield* Deferred.make<void>()
      const { handled, sockets, url } = yield* application(() => Deferred.await(may))
      const all = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 8 }), () => send(url, multipart(textOf("a"))), { concurrency: 8 })
      )
      yield* until(() => sockets.size === 8 && handled.length > 0)
      yield* Deferred.succeed(may, undefined)
      for (const { body, status } of yield* Fiber.join(all)) {
        assert.strictEqual(status, 200)
        assert.oneOf((body as Webhooks.Received).outcome, ["Handled", "Repeated"])
      }
      assert.strictEqual(handled.length, 1)
    })
  )

  it.effect("goes on with a slow handler when the service gives up, and answers the repetition with its end", () =>
    Effect.gen(function* () {
      const may = yield* Deferred.make<void>()
      const { handled, sockets, url } = yield* application(() => Deferred.await(may))
      const first = yield* Effect.forkChild(send(url, multipart(textOf("a"))))
      yield* until(() => handled.length === 1)
      yield* Fiber.interrupt(first)
      yield* until(() => sockets.size === 0)
      const second = yield* Effect.forkChild(send(url, multipart(textOf("a"))))
      yield* until(() => sockets.size === 1)
      yield* Deferred.succeed(may, undefined)
      assert.strictEqual((yield* Fiber.join(second)).status, 200)
      assert.strictEqual(handled.length, 1)
    })
  )

  it.effect("answers 503 if the store fails or another process handles the notification, and does not handle it", () =>
    Effect.gen(function* () {
      const failing = Effect.fail(new HandledNotifications.StoreFailed({ description: "no disk" }))
      for (const claim of [failing, Effect.succeed({ _tag: "Busy" } as const)]) {
        const store = Layer.succeed(HandledNotifications.HandledNotifications, { claim: () => claim })
        const { handled, url } = yield* application(undefined, {}, store)
        const { headers, status } = yield* send(url, multipart(textOf("a")))
        assert.deepStrictEqual([status, headers.get("retry-after")], [503, "1"])
        assert.strictEqual(handled.length, 0)
      }
    })
  )

  it.effect("claims a notification for a short time, and renews the claim while the handler runs", () =>
    Effect.gen(function* () {
      const may = yield* Deferred.make<void>()
      const leases: Array<Duration.Duration> = []
      let renewals = 0
      const renew = Effect.suspend(() =>
        ++renewals % 2 === 0 ? Effect.void : Effect.fail(new HandledNotifications.StoreFailed({ description: "busy" }))
      )
      const store = Layer.succeed(HandledNotifications.HandledNotifications, {
        claim: (_, lease) =>
          Effect.sync(() => {
            leases.push(lease)
            return { _tag: "Claimed", renew, done: Effect.void, release: Effect.void } as const
          })
      })
      const { handled, url } = yield* application(() => Deferred.await(may), {}, store)
      const answer = yield* Effect.forkChild(send(url, multipart(textOf("a"))))
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
  )

  it.effect("answers 503 if the store does not answer, and 200 if it does not answer after the handler", () =>
    Effect.gen(function* () {
      const claim = Effect.succeed({
        _tag: "Claimed",
        renew: Effect.never,
        done: Effect.never,
        release: Effect.never
      } as const)
      for (const [hanging, expected] of [
        [Effect.never, 503],
        [claim, 200]
      ] as const) {
        let isAsked = false
        const claiming = () =>
          Effect.suspend(() => {
            isAsked = true
            return hanging
          })
        const store = Layer.succeed(HandledNotifications.HandledNotifications, { claim: claiming })
        const { url } = yield* application(undefined, {}, store)
        const answer = yield* Effect.forkChild(send(url, multipart(textOf("a"))))
        yield* until(() => isAsked)
        assert.strictEqual((yield* passTime(Fiber.join(answer))).status, expected)
      }
    })
  )

  it.effect("answers 200 if the handler succeeded and the store failed after it", () =>
    Effect.gen(function* () {
      const failing = Effect.fail(new HandledNotifications.StoreFailed({ description: "no disk" }))
      const claim = Effect.succeed({ _tag: "Claimed", renew: failing, done: failing, release: failing } as const)
      const store = Layer.succeed(HandledNotifications.HandledNotifications, { claim: () => claim })
      const { url } = yield* application(undefined, {}, store)
      assert.strictEqual((yield* send(url, multipart(textOf("a")))).status, 200)
    })
  )

  it.effect("interrupts its handlers when the application ends, and remembers nothing of them", () =>
    Effect.gen(function* () {
      let isInterrupted = false
      let isReleased = false
      const claim = Effect.succeed({
        _tag: "Claimed",
        renew: Effect.void,
        done: Effect.die("it was not handled"),
        release: Effect.sync(() => {
          isReleased = true
        })
      } as const)
      const store = Layer.succeed(HandledNotifications.HandledNotifications, { claim: () => claim })
      const hang = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => {
          isInterrupted = true
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { handled, url } = yield* application(() => hang, {}, store)
          yield* Effect.forkScoped(send(url, multipart(textOf("a"))))
          yield* until(() => handled.length === 1)
        })
      )
      assert.deepStrictEqual({ isInterrupted, isReleased }, { isInterrupted: true, isReleased: true })
    })
  )

  it.effect("refuses an option that breaks a rule when it is built", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(application(undefined, { maxBytes: 0, handleTimeout: "-1 seconds" }))
      assert.include(String(exit), "maxBytes: Expected a whole number of at least 1")
      assert.include(String(exit), "handleTimeout: Expected a finite duration above zero")
    })
  )
})
